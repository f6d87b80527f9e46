/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * page_latency: what the page_latency_*.bpf.c keep and page_latency.c reads.
 *
 * A section is one stay under a zone's lock: pages into a CPU's list, or out of it. Its length goes into one
 * histogram for all CPUs, its sums into this CPU's own memory.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_PAGE_LATENCY_H
#define ZM_RUNNER_MONITORS_BPF_PAGE_LATENCY_H

#include <linux/types.h>

#include "runner/monitors/bpf/hist.h"

#define LATENCY_BUCKETS   HIST_BUCKETS(36) /* up to 2^36 ns */
#define LATENCY_SLOTS     5                /* orders 0…3, and huge pages */
#define LATENCY_HUGE      (LATENCY_SLOTS - 1)
#define LATENCY_DEPTH     4 /* sections under way at once on a CPU: interrupts nest; a power of two */
#define LATENCY_OWN_EVERY 64 /* hits, of which one has its own time taken; a power of two */

enum latency_side {
	LATENCY_REFILL,
	LATENCY_DRAIN,
	LATENCY_NR_SIDES,
};

enum latency_part {
	LATENCY_SECTION, /* all of it */
	LATENCY_WAIT,    /* for the lock */
	LATENCY_HOLD,    /* the rest */
	LATENCY_NR_PARTS,
};

struct latency_sums {
	__u64 sections[LATENCY_SLOTS];
	__u64 ns[LATENCY_NR_PARTS][LATENCY_SLOTS];
	__u64 blocks;     /* of the runs of events */
	__u64 unmeasured; /* runs of one event: they have a beginning only */
	__u64 own_ns;     /* of the events whose own time was taken */
	__u64 own_timed;
	__u64 lost; /* sections whose end was not seen */
};

/* A section that has begun. */
struct latency_frame {
	__u64 lock;
	__u64 start_ns;
	__u64 wait_start_ns;
	__u64 wait_ns;
	__u32 side;
	__u32 slot;
};

/* A run of events that may go on. */
struct latency_run {
	__u64 first_ns;
	__u64 last_ns;
	__u64 blocks; /* 0: there is none */
	__u32 side;
	__u32 slot;
};

struct latency_cpu {
	struct latency_sums sides[LATENCY_NR_SIDES];
	struct latency_run run;
	struct latency_frame frames[LATENCY_DEPTH];
	__u64 depth;
	/* of the allocation under way on this CPU: 0, or its order + 1, and whose it is */
	__u64 allocation, owner;
	/* the lock that it asks for or holds; 0: none */
	__u64 lock, asked_ns, got_ns;
	__u64 pad[3];
};

struct latency_hists {
	__u64 buckets[LATENCY_NR_PARTS * LATENCY_SLOTS * LATENCY_BUCKETS];
};

#endif
