/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lock_contention: what lock_contention.bpf.c counts and lock_contention.c reads.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_LOCK_CONTENTION_H
#define ZM_RUNNER_MONITORS_BPF_LOCK_CONTENTION_H

#include <linux/types.h>

#include "runner/monitors/bpf/hist.h"

#define LOCK_BUCKETS     HIST_BUCKETS(40) /* up to 2^40 ns */
#define LOCK_DEPTH       4 /* spin locks waited for at once on a CPU: interrupts nest */
#define LOCK_FRAMES      24
#define LOCK_MAX_STACKS  4096
#define LOCK_MAX_TASKS   16384
#define LOCK_STACK_EVERY 8  /* of the zone locks' waits; a power of two */
#define LOCK_OTHER_EVERY 64 /* of the others' of each kind; a power of two */

enum lock_kind {
	LOCK_SPIN,
	LOCK_RWLOCK,
	LOCK_MUTEX,
	LOCK_RWSEM,
	LOCK_RTMUTEX,
	LOCK_PERCPU_RWSEM,
	LOCK_NR_KINDS,
};

#define LOCK_ZONE LOCK_NR_KINDS /* as a kind of its own */

/* Whose waits a call chain is counted for. */
struct lock_caller {
	__u32 stack;
	__u32 kind;
};

struct lock_sums {
	__u64 waits;
	__u64 timed; /* of these, how many are in the time */
	__u64 wait_ns;
};

/* A wait that has begun. */
struct lock_wait {
	__u64 lock;
	__u64 start_ns;
	__u32 kind;
	__u32 is_zone;
	__u32 has_stack;
	__u32 pad;
};

struct lock_cpu {
	struct lock_sums kinds[LOCK_NR_KINDS];
	struct lock_sums zone; /* the zone locks, which are spin locks too */
	__u64 lost;            /* waits whose beginning could not be kept */
	__u64 lost_chains;     /* call chains that could not be kept */
	__u64 depth;
	struct lock_wait waits[LOCK_DEPTH];
	__u64 buckets[LOCK_BUCKETS]; /* of the zone locks' timed waits */
};

#endif
