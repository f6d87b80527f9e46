/*
 * measured: what an invocation's launches of one cell came to, read from the store: of each figure its
 * mean and its spread over the launches that went well.
 */
#ifndef ZM_RUNNER_MEASURED_H
#define ZM_RUNNER_MEASURED_H

#include <stddef.h>
#include <stdint.h>

#include "results/compare.h"
#include "results/pool.h"
#include "results/store.h"
#include "workloads/sample.h"

struct zm_measured_figure {
	const char *metric; /* "{n}" filled in */
	const char *unit;
	enum zm_better better;
	double mean;
	double sd; /* of the launches; NaN for one */
	size_t nr; /* launches that have it */
	double *values;
};

struct zm_measured {
	struct zm_measured_figure *figures;
	size_t nr_figures;
	size_t nr_launches; /* that went well */
	uint64_t last_run;
	struct zm_pool pool;
};

/* cell: its key (cell.h). No launch that went well is no error: nr_launches is 0. */
int zm_measured_read(struct zm_store *store, const char *invocation, const char *cell,
		     struct zm_measured *ret_measured, struct zm_why *why);

/* The same of one side of a comparison: a value per boot, or per run where there is one boot only. */
int zm_measured_take(const struct zm_compare_cell *cell, size_t side,
		     struct zm_measured *ret_measured, struct zm_why *why);
void zm_measured_release(struct zm_measured *measured);

/* The figure of that name, as robots have it: another number of tasks in it is no difference, and the
 * suite's own copy of a monitor's ("netperf.time.user_time") is the monitor's. NULL: none. */
const struct zm_measured_figure *zm_measured_find(const struct zm_measured *measured,
						  const char *metric);

#endif
