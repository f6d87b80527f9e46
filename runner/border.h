/*
 * border: everything that is read at the beginning and at the end of the measured window, and what
 * lies between two of them.
 *
 * Both are read in the same order, so that the intervals of all sources are alike.
 */
#ifndef ZM_RUNNER_BORDER_H
#define ZM_RUNNER_BORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/disturb.h"
#include "runner/tally.h"
#include "runner/tasktime.h"
#include "workloads/base/hist.h"
#include "workloads/workload.h"

struct zm_border {
	uint64_t t_ns, took_ns; /* when all counters were read, and how long everything took */
	uint64_t *values;       /* as in the tally */
	struct zm_hist *hists;  /* [hist], all tasks merged; NULL without */
	bool has_times;
	struct zm_tasktime times; /* of all tasks */
	bool has_kin;
	uint64_t kin_ns; /* CPU time of what the tasks started, where the workload has that */
	struct zm_disturb_sample disturb;
	bool has_kernel_faults;
	uint64_t kernel_faults;
};

int zm_border_init(struct zm_border *border, const struct zm_tally *tally);
void zm_border_release(struct zm_border *border);

/* Reads all, the tally first; the histograms go to the recorder. used: the tasks' CPUs. */
void zm_border_read(struct zm_border *border, struct zm_tally *tally, struct zm_tasktimes *times,
		    const struct zm_cpuset *used);

/* What the tasks did between two borders. `to` becomes the difference of the two; the window points
 * into it, and into `ret_ops`, which the caller frees. */
int zm_border_window(const struct zm_border *from, struct zm_border *to,
		     const struct zm_tally *tally, struct zm_window *ret_window,
		     uint64_t **ret_ops);

#endif
