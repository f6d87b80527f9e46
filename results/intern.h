/*
 * intern: the numbers of what comes again and again: machines, boots, metric names, parameters…
 *
 * Each finds the row or makes it. Call them inside a write transaction; of a store that others write to, too,
 * also before it: what is asked for then is kept, and needs no answer from the server within.
 */
#ifndef ZM_RESULTS_INTERN_H
#define ZM_RESULTS_INTERN_H

#include <stdint.h>

#include "results/db.h"

int zm_intern_boot(struct zm_db *db, const char *machine, const char *boot, const char *kernel,
		   int64_t *ret_id, struct zm_why *why);
int zm_intern_inventory(struct zm_db *db, const char *json, int64_t *ret_id, struct zm_why *why);
int zm_intern_invocation(struct zm_db *db, const char *uuid, uint64_t wall_ns,
			 const char *command_line, const char *label, int64_t *ret_id,
			 struct zm_why *why);
int zm_intern_cell(struct zm_db *db, const char *workload, const char *json, int64_t *ret_id,
		   struct zm_why *why);
int zm_intern_params(struct zm_db *db, const char *json, int64_t *ret_id, struct zm_why *why);
int zm_intern_source(struct zm_db *db, const char *name, int64_t *ret_id, struct zm_why *why);

/* What `kind` of a metric says when it is a figure that was derived, not a series. */
#define ZM_INTERN_FIGURE 15
int zm_intern_metric(struct zm_db *db, const char *name, const char *unit, int kind, int better,
		     int64_t *ret_id, struct zm_why *why);

#endif
