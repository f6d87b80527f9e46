/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * free_high: what free_high*.bpf.c count and free_high.c reads, one struct per CPU: drains of a list because
 * high-order pages were freed one after the other.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_FREE_HIGH_H
#define ZM_RUNNER_MONITORS_BPF_FREE_HIGH_H

#include <linux/types.h>

#define FREE_HIGH_RANGES 8 /* of addresses: functions that drain for another reason */
#define FREE_HIGH_FRAMES 12

struct free_high_cpu {
	__u64 drains;
	__u64 pages;
	__u64 unsure; /* may have been one, or a list's usual overflow */
	/* of the runs of events */
	__u64 last_ns;
	__u64 is_one; /* the run under way is one */
	__u64 pad[3];
};

struct free_high_range {
	__u64 start, end;
};

#endif
