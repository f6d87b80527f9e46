/*
 * attempt: one try at one task of a campaign, on the machine where the scheduler put it.
 *
 *     is its result there? -> a folder of this machine's own -> `zonemark run …` into a store in it
 *       -> ended: the store goes into the campaign's folder, whole, unless another attempt was first
 *       -> killed: the store stays, and the next attempt on this machine goes on with it (--resume)
 *
 * A task that is run twice, or killed midway, leaves one result or none.
 */
#ifndef ZM_RUNNER_FLEET_ATTEMPT_H
#define ZM_RUNNER_FLEET_ATTEMPT_H

#include "runner/fleet/campaign.h"

/* What is known of an attempt from its file. */
struct zm_attempt {
	char job[64]; /* "12.1": job 12, started again once */
	char node[64];
	char began[32], ended[32]; /* ended: "" as long as it has not */
	int status;                /* the exit status; 128 and the number of a signal */
};

/* scratch: the folder for its own; NULL: $TMPDIR or /tmp. Talks on stderr. *ret_status: the exit status of
 * `zonemark run`, 128 and the signal's number when that ended it; 0 too when another attempt was first.
 * -errno with the sentence: it could not be run, or its result could not be put where it belongs. */
int zm_attempt_run(const struct zm_campaign *campaign, size_t array, size_t task,
		   const char *scratch, int *ret_status, struct zm_why *why);

/* The newest attempt. False: there is none. */
bool zm_attempt_read(const struct zm_campaign *campaign, size_t array, size_t task,
		     struct zm_attempt *ret_attempt);

#endif
