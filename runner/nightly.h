/*
 * nightly: one night of a lab, from the runs to the files.
 *
 *     runs -> histories -> changes that ask -> their confirmation runs -> histories again -> files -> site
 *
 * What it does can be cut off anywhere: runs that went well are in the store, each file is whole or as it was,
 * and what was not told yet the next night tells.
 */
#ifndef ZM_RUNNER_NIGHTLY_H
#define ZM_RUNNER_NIGHTLY_H

#include <stdbool.h>

#include "results/nightly.h"
#include "results/tonight.h"
#include "runner/invocation.h"

#define ZM_NIGHTLY_LABEL "nightly" /* when nobody says another */

struct zm_nightly_options {
	struct zm_invocation_ask ask; /* of the night; its label is not NULL */
	uint64_t nr_confirming;       /* launches of a confirmation run; 0: none is made */
	double margin;                /* the smallest change that matters, as a share */
	const char
		*folder;  /* for mail.txt, junit.xml, openmetrics.txt, tonight.html, nightly.json */
	const char *site; /* a dashboard's folder; NULL: none */
};

/* What came of it. */
struct zm_nightly_outcome {
	struct zm_nightly nightly;
	struct zm_tonight tonight; /* refers to it */
	int status;                /* of the night's runs, as `zonemark run` ends */
	int signal;                /* that ended it, 0: none; then there is nothing else */
	bool is_told;              /* the files are written */
};

/* Where the files go when nobody says: "nightly" beside the store. -ENOMEM, -ENOBUFS. */
int zm_nightly_folder(const char *db, char **ret_folder, struct zm_why *why);

/* -EBUSY: another nightly is at it. -ENOPKG: nothing of the matrix is here. On failure the outcome is empty, unless
 * only files or the site could not be written: then tonight is there (its invocation is not NULL). */
int zm_nightly_run(const struct zm_nightly_options *options, struct zm_nightly_outcome *ret_outcome,
		   struct zm_why *why);
void zm_nightly_outcome_release(struct zm_nightly_outcome *outcome);

#endif
