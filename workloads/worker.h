/*
 * worker: what a workload may call from its tasks.
 *
 * A task's counters lie in a slot: whole pages that only this task writes and the harness reads from
 * outside. They are first touched by the task itself, so they are on its node. The stop word lies
 * apart, in a page that nobody writes while the tasks run.
 */
#ifndef ZM_WORKLOADS_WORKER_H
#define ZM_WORKLOADS_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/hist.h"
#include "workloads/base/why.h"
#include "workloads/workload.h"

#define ZM_SLOT_COUNTERS 24

/* One page or more. Single writer: plain relaxed stores, no locked instructions. */
struct zm_slot {
	_Alignas(64) _Atomic uint64_t ops;
	_Atomic uint64_t counters[ZM_SLOT_COUNTERS]; /* in the order of workload->counters */
	_Alignas(64) const _Atomic uint32_t *stop;   /* the run's stop word */
	struct zm_hist *hists;                       /* in the order of workload->hists */
	_Atomic uint64_t first_op_ns; /* when the first operation was done; 0 before */
	_Atomic uint32_t state;       /* enum zm_slot_state */
	_Atomic int32_t error;        /* -errno of a failed call */
	int32_t tid;
	struct zm_why why;
};

enum zm_slot_state {
	ZM_SLOT_EMPTY,
	ZM_SLOT_SETUP,
	ZM_SLOT_READY, /* at the gate */
	ZM_SLOT_RUNNING,
	ZM_SLOT_DONE,   /* ended after the stop, torn down */
	ZM_SLOT_FAILED, /* error and why say how */
};

/* Has the harness asked for the end? One load from a shared, unwritten line. */
static inline bool zm_task_is_stopped(const struct zm_task *task)
{
	return atomic_load_explicit(task->slot->stop, memory_order_relaxed) != 0;
}

/* n operations more were done. For round() and run(); a step's return value is added by the harness. */
static inline void zm_task_add(struct zm_task *task, uint64_t n)
{
	_Atomic uint64_t *ops = &task->slot->ops;

	atomic_store_explicit(ops, atomic_load_explicit(ops, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* n more of the workload's counter number `which` (its place in workload->counters). */
static inline void zm_task_count(struct zm_task *task, unsigned int which, uint64_t n)
{
	_Atomic uint64_t *counter = &task->slot->counters[which];

	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* The same of counts that the task keeps by itself: they have come to n. */
static inline void zm_task_ops_are(struct zm_task *task, uint64_t n)
{
	atomic_store_explicit(&task->slot->ops, n, memory_order_relaxed);
}

static inline void zm_task_count_is(struct zm_task *task, unsigned int which, uint64_t n)
{
	atomic_store_explicit(&task->slot->counters[which], n, memory_order_relaxed);
}

/* One value into the workload's histogram number `which`. */
static inline void zm_task_hist(struct zm_task *task, unsigned int which, uint64_t value)
{
	zm_hist_add(&task->slot->hists[which], value, 1);
}

/* For the harness: round after round until the stop, or run; 0 or -errno. */
static inline int zm_task_loop(struct zm_task *task)
{
	const struct zm_workload *workload = task->run->workload;
	int r = 0;

	if (workload->run)
		return workload->run(task);
	while (r == 0 && !zm_task_is_stopped(task))
		r = workload->round(task);
	return r;
}

#endif
