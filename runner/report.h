/*
 * report: the derived figures of one run, on their way into the store and into the summary.
 *
 * A workload's and a monitor's report() put theirs in with zm_report_add (workload.h); "{n}" in a
 * name becomes nr_task. A figure that is not finite, or that is there already, is refused.
 */
#ifndef ZM_RUNNER_REPORT_H
#define ZM_RUNNER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/store.h"
#include "workloads/base/why.h"
#include "workloads/sample.h"
#include "workloads/workload.h"

struct zm_figure {
	const struct zm_metric *row; /* which one it was; it may be gone by now */
	struct zm_metric metric;     /* its copy, without the name */
	char *name;                  /* with "{n}" filled in */
	double value;
};

struct zm_report {
	struct zm_recorder *recorder; /* NULL: the figures are only kept here */
	const char *source;           /* whose figures come next */
	unsigned int nr_units;        /* for "{n}" */
	struct zm_figure *figures;
	size_t nr_figures;
	struct zm_why why; /* of a report() that failed; empty when it did not say */
};

void zm_report_init(struct zm_report *report, struct zm_recorder *recorder, unsigned int nr_units);
void zm_report_release(struct zm_report *report);

/* The figure that was added under this row; NULL when none was. */
const struct zm_figure *zm_report_find(const struct zm_report *report,
				       const struct zm_metric *metric);

/* The value of the figure with this name ("{n}" filled in); false when there is none. */
bool zm_report_value(const struct zm_report *report, const char *name, double *ret_value);

/* Has every metric that the workload declares for runs of this kind been added? -ENODATA, and the
 * sentence names the first that has not. */
int zm_report_check(const struct zm_report *report, const struct zm_workload *workload,
		    enum zm_task_kind kind, struct zm_why *why);

/* A metric's name with "{n}" filled in; the caller's to free, NULL without memory. */
char *zm_report_name(const char *name, unsigned int nr_units);

#endif
