/*
 * campaign: the runs of a qualification, into a store of its own.
 *
 *     the profile's runs, as `zonemark run` has them
 *     for each criterion of symmetry: its run once more on each socket or node alone, in turns, as often
 *     as the profile repeats its runs
 */
#ifndef ZM_RUNNER_QUALIFY_CAMPAIGN_H
#define ZM_RUNNER_QUALIFY_CAMPAIGN_H

#include "runner/invocation.h"
#include "runner/qualify/machine.h"
#include "runner/qualify/standard.h"

struct zm_campaign {
	const struct zm_standard *profile;
	const struct zm_qualify_machine *machine;
	const char *file;  /* the profile's, to run from */
	const char *store; /* path */
	const char *label; /* of the profile's runs; may be NULL */
	int argc;          /* the line as typed */
	char *const *argv;
	bool share, overcommit;
	int signal; /* comes out: what ended it early; 0: nothing */
};

/* Are all runs there that the criteria are about? The sentence has file and line. Runs nothing. */
int zm_campaign_check(const struct zm_campaign *campaign, struct zm_why *why);

/* A run that fails is no error: it is in the store. */
int zm_campaign_run(struct zm_campaign *campaign, struct zm_why *why);

/* Which keys of cells the profile's runs have, as they would be on this machine: a new array of strings; NULL
 * and the sentence. */
json_t *zm_campaign_cells(const struct zm_campaign *campaign, struct zm_why *why);

#endif
