/*
 * made_up: runs as the store would give them, for tests of what is said of them.
 */
#ifndef ZM_RUNNER_QUALIFY_TESTS_MADE_UP_H
#define ZM_RUNNER_QUALIFY_TESTS_MADE_UP_H

#include <stdlib.h>

#include "runner/qualify/evidence.h"

#define MADE_UP_MOST 64

static struct zm_evidence evidence; /* grows by add_run */

static inline int forget(void **state)
{
	(void)state;
	zm_evidence_release(&evidence);
	return 0;
}

static inline struct zm_evidence_run *add_run(const char *cell, enum zm_status status,
					      const char *reason)
{
	struct zm_evidence_run *run;

	if (!evidence.runs)
		evidence.runs = calloc(MADE_UP_MOST, sizeof(*evidence.runs));
	assert_non_null(evidence.runs);
	assert_true(evidence.nr < MADE_UP_MOST);
	run = &evidence.runs[evidence.nr++];
	run->cell = json_loads(cell, 0, NULL);
	assert_non_null(run->cell);
	run->view = calloc(1, sizeof(*run->view));
	assert_non_null(run->view);
	run->view->results = zm_pool_take(&run->view->pool, 8 * sizeof(*run->view->results));
	assert_non_null(run->view->results);
	run->view->info.workload = json_string_value(json_object_get(run->cell, "workload"));
	run->view->info.machine = "m";
	run->view->info.boot = "b";
	run->view->info.cell = cell;
	run->view->info.status = status;
	run->view->info.reason = reason;
	run->nr_units = 1;
	return run;
}

static inline void add_figure(struct zm_evidence_run *run, const char *metric, double value,
			      bool is_primary)
{
	run->view->results[run->view->nr_results++] = (struct zm_result){
		.metric = metric,
		.unit = is_primary ? "pages/s" : "",
		.value = value,
		.is_primary = is_primary,
		.interval_ns = UINT64_C(1000000000),
	};
}

/* A good run with one primary figure, and as many operations. */
static inline struct zm_evidence_run *add_good(const char *cell, double nr_units, double value)
{
	struct zm_evidence_run *run = add_run(cell, ZM_STATUS_OK, NULL);

	run->nr_units = nr_units;
	add_figure(run, "score", value, true);
	add_figure(run, ZM_FIGURE_OPS, value * nr_units, false);
	return run;
}

#endif
