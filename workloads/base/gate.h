/*
 * gate: one door in shared memory at which all tasks wait, and which opens once for all.
 *
 *     task:    zm_gate_wait()  -> reports ready, sleeps until the door opens
 *     harness: zm_gate_await() -> until all are ready (or the deadline)
 *              zm_gate_open()  -> one FUTEX_WAKE for everybody
 *
 * Works between threads and processes; the memory must be MAP_SHARED and zeroed.
 */
#ifndef ZM_WORKLOADS_BASE_GATE_H
#define ZM_WORKLOADS_BASE_GATE_H

#include <stdint.h>

struct zm_gate {
	uint32_t nr_ready;
	uint32_t is_open;
	uint32_t nr_awaited; /* how many the harness waits for; 0: it does not wait */
	uint64_t opened_ns;  /* when; 0 before */
};

void zm_gate_init(struct zm_gate *gate);
void zm_gate_wait(struct zm_gate *gate);

/* 0 when nr_tasks are ready; -ETIMEDOUT at the monotonic deadline. Signals do not end it. */
int zm_gate_await(struct zm_gate *gate, uint32_t nr_tasks, uint64_t deadline_ns);
void zm_gate_open(struct zm_gate *gate);

#endif
