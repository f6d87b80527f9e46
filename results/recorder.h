/*
 * recorder: one run on its way into the store.
 *
 * Declares series, takes readings into memory, and flushes them: one transaction per flush, so that a
 * crash loses at most what came after the last one. When the run ends the flushed pieces are put
 * together into one compressed row per series.
 *
 * Putting a number allocates nothing and writes nothing as long as fewer than ZM_RECORDER_PENDING
 * readings per series (on the average over all series) are pending; the one that is too many flushes
 * first. What fails then is kept and is the next flush's error. Putting a histogram may allocate.
 *
 * One thread at a time. A forked child does not touch it.
 */
#ifndef ZM_RESULTS_RECORDER_H
#define ZM_RESULTS_RECORDER_H

#include <stdint.h>

#include "workloads/base/hist.h"
#include "workloads/base/why.h"
#include "workloads/sample.h"

#define ZM_RECORDER_PENDING 64

struct zm_recorder;

/* What a new series is. Copied. */
struct zm_series_desc {
	const char *source; /* the monitor's or the workload's name */
	const char *metric; /* full name: "proc-vmstat.pgfault" */
	const char *unit;
	enum zm_kind kind;
	enum zm_better better;
	enum zm_scope scope;
	uint32_t scope_id;
	bool is_float;
};

/* A recorder without a run: it takes all that a recorder takes and keeps nothing. For asking a monitor
 * whether it could be opened here. Ended by zm_recorder_end (results/store.h). */
int zm_recorder_begin_nowhere(struct zm_recorder **ret_recorder);

/* Declares a series. *ret_series is small and dense. -ENOMEM; -EEXIST: the same metric and scope. */
int zm_recorder_series(struct zm_recorder *recorder, const struct zm_series_desc *desc,
		       uint32_t *ret_series);

void zm_recorder_put_u64(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns,
			 uint64_t value, uint32_t flags);
void zm_recorder_put_f64(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns, double value,
			 uint32_t flags);

/* The histogram as it is now: cumulative, as a count is. For a series of kind ZM_HIST only. */
void zm_recorder_put_hist(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns,
			  const struct zm_hist *hist, uint32_t flags);

/* A metric that a run should have had, and why it has not. Shown instead of the figure. */
int zm_recorder_absent(struct zm_recorder *recorder, const char *source, const char *reason);

#endif
