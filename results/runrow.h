/* runrow: a run's own row, with all that it refers to. */
#ifndef ZM_RESULTS_RUNROW_H
#define ZM_RESULTS_RUNROW_H

#include <stdint.h>

#include "results/db.h"
#include "results/store.h"
#include "workloads/base/owner.h"

/* Inside the caller's transaction. owner NULL: nobody is behind it any more. */
int zm_runrow_insert(struct zm_db *db, const struct zm_run_record *record,
		     const struct zm_owner *owner, int64_t *ret_run, struct zm_why *why);

/* Only what it refers to (intern.h). */
int zm_runrow_intern(struct zm_db *db, const struct zm_run_record *record, struct zm_why *why);

#endif
