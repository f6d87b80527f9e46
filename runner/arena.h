/*
 * arena: the memory that the runner, the launcher and the tasks of one run share.
 *
 *     +-----------+---------+---------------------+--------+--------+--------+--
 *     | stop word | control | zm_run | its state  | slot 0 | slot 1 | slot 2 | …
 *     +-----------+---------+---------------------+--------+--------+--------+--
 *
 * One anonymous shared mapping, made before the launcher is forked, so that every pointer into it
 * holds in every process. The stop word has a page of its own: nobody writes there while the tasks
 * run. A slot is whole pages (the counters, then the workload's histograms); the mapping is not
 * populated, so that a slot's pages come from the node of the task that touches them first.
 */
#ifndef ZM_RUNNER_ARENA_H
#define ZM_RUNNER_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/gate.h"
#include "workloads/base/why.h"
#include "workloads/worker.h"
#include "workloads/workload.h"

/* Why a run failed: the first reason given stands. */
struct zm_failure {
	_Atomic uint32_t is_claimed;
	_Atomic uint32_t is_set; /* the rest can be read */
	int32_t task;            /* index, -1: none in particular */
	int32_t error;           /* -errno */
	struct zm_why why;
};

struct zm_control {
	struct zm_gate gate;
	_Atomic uint32_t nr_arrived; /* tasks that came to the gate */
	_Atomic uint32_t nr_ended;   /* tasks that left their last call */
	struct zm_failure failure;
};

struct zm_arena {
	unsigned char *base;
	size_t bytes;
	_Atomic uint32_t *stop;
	struct zm_control *control;
	struct zm_run *run;
	unsigned char *slots;
	size_t slot_bytes;
	size_t hists_offset; /* in a slot */
	unsigned int nr_tasks, nr_counters, nr_hists;
};

/* All zero but run->workload, nr_tasks, page_bytes and state. -ENOMEM: the sentence has the size. */
int zm_arena_init(struct zm_arena *arena, const struct zm_workload *workload, unsigned int nr_tasks,
		  struct zm_why *why);
void zm_arena_release(struct zm_arena *arena);

/* How many bytes it will be, and of those per task. */
size_t zm_arena_bytes(const struct zm_workload *workload, unsigned int nr_tasks,
		      size_t *ret_task_bytes);

struct zm_slot *zm_arena_slot(const struct zm_arena *arena, unsigned int index);

/* Called by the task itself, once: the first touch. */
struct zm_slot *zm_arena_enter(const struct zm_arena *arena, unsigned int index);

void zm_arena_stop(const struct zm_arena *arena);

/* False, and nothing happens, when a reason stands already. */
bool zm_arena_fail(const struct zm_arena *arena, int task, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The reason, or NULL. */
const struct zm_failure *zm_arena_failure(const struct zm_arena *arena);

#endif
