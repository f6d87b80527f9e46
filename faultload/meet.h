/*
 * meet: all tasks of a run meet, again and again; the last to come does something alone before they go on.
 *
 *     if (zm_meet_wait(&shared->meet, task)) {       the last one
 *             …                                      nobody does anything beside it
 *             zm_meet_open(&shared->meet);
 *     }
 *     if (zm_task_is_stopped(task))                  not all may have come
 *             …
 *
 * It lies in the run's state, so it works between threads and between processes. A zeroed one is ready.
 */
#ifndef ZM_FAULTLOAD_MEET_H
#define ZM_FAULTLOAD_MEET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "workloads/worker.h"

struct zm_meet {
	_Atomic uint32_t nr_arrived;
	_Atomic uint32_t nr_opened; /* what those sleep on who came first */
	_Atomic uint32_t turn;
};

/* True for the last of the run's tasks, at once; false for the others, once it has opened, or at the
 * stop. */
bool zm_meet_wait(struct zm_meet *meet, const struct zm_task *task);
void zm_meet_open(struct zm_meet *meet);

/* One after the other, in the order of their numbers: waits for the task's turn, or the stop. */
void zm_meet_wait_turn(struct zm_meet *meet, const struct zm_task *task);
void zm_meet_pass_turn(struct zm_meet *meet, const struct zm_task *task);

#endif
