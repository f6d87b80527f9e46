/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * perf_sched: what perf_sched.bpf.c sums and perf_sched.c reads: a struct per task that is watched, which
 * the tasks that it makes add to.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_PERF_SCHED_H
#define ZM_RUNNER_MONITORS_BPF_PERF_SCHED_H

#include <linux/types.h>

#define SCHED_MAX_TASKS   16384 /* watched */
#define SCHED_MAX_THREADS 65536 /* with those that they made */

/* A thread under way. */
struct sched_thread {
	__u32 index;    /* of its task */
	__u32 unused;   /* no hole that the verifier minds */
	__u64 ready_ns; /* it could run, and does not yet; 0: it runs or sleeps */
	__u64 sleep_ns; /* it sleeps since; 0: not, or it was not seen to begin */
};

struct sched_sums {
	__u64 delays, delay_ns, delay_max_ns; /* from being able to run to running */
	__u64 waits, wait_ns, wait_max_ns;    /* from going to sleep to being woken */
	__u64 preempted;                      /* how often it had to stop */
	__u64 unused;
};

#endif
