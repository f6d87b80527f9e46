/*
 * tally: what the tasks have counted, read from outside.
 *
 * One read goes over all slots; its moment is the middle of the read. A task's values are its
 * operations and, behind them, the workload's own counters.
 *
 * A task's silence is counted as long as somebody looks: of the time between two reads at most
 * ZM_TALLY_LOOK_NS. A machine that stands still (a virtual one that is stopped or moved, a laptop asleep) has
 * not stalled its tasks.
 */
#ifndef ZM_RUNNER_TALLY_H
#define ZM_RUNNER_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "results/recorder.h"
#include "runner/arena.h"
#include "workloads/base/why.h"

#define ZM_TALLY_LOOK_NS UINT64_C(2000000000)

struct zm_tally {
	const struct zm_arena *arena;
	struct zm_recorder *recorder;
	size_t nr_values;   /* per task: 1 + counters */
	uint64_t *values;   /* [task * nr_values]: of the last read */
	uint64_t *moved_ns; /* [task]: when one of its values was last seen to change */
	uint64_t *heard_ns; /* [task]: the same, by looked_ns */
	uint32_t *series;   /* [task * nr_values] */
	uint32_t *hists;    /* series of the histograms, all tasks merged; NULL without */
	uint64_t t_ns;      /* the last read's moment, 0 before the first */
	uint64_t took_ns;   /* how long it took */
	uint64_t looked_ns; /* for how long somebody has looked */
};

/* Declares the series. */
int zm_tally_init(struct zm_tally *tally, const struct zm_arena *arena,
		  struct zm_recorder *recorder, struct zm_why *why);
void zm_tally_release(struct zm_tally *tally);

void zm_tally_read(struct zm_tally *tally);

/* Hands the last read's values to the recorder. */
void zm_tally_put(const struct zm_tally *tally, uint32_t flags);

/* All tasks' operations, by the last read. */
uint64_t zm_tally_ops(const struct zm_tally *tally);

/* From now on silence counts: called when the gate has opened. */
void zm_tally_start_watch(struct zm_tally *tally, uint64_t now_ns);

/* The task that has been silent longest, by the last read, and for how long somebody has looked meanwhile. */
unsigned int zm_tally_most_silent(const struct zm_tally *tally, uint64_t *ret_silent_ns);

#endif
