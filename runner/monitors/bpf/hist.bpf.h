/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hist: the bucket of a value, as in workloads/base/hist.h: each power of two is cut into 64, so that a
 * bucket's middle is off by at most 0.8 %.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_HIST_BPF_H
#define ZM_RUNNER_MONITORS_BPF_HIST_BPF_H

#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#include "runner/monitors/bpf/hist.h"

static __always_inline __u32 power_of(__u64 value)
{
	__u32 power = 0;

	if (value >> 32) {
		power += 32;
		value >>= 32;
	}
	if (value >> 16) {
		power += 16;
		value >>= 16;
	}
	if (value >> 8) {
		power += 8;
		value >>= 8;
	}
	if (value >> 4) {
		power += 4;
		value >>= 4;
	}
	if (value >> 2) {
		power += 2;
		value >>= 2;
	}
	return power + (__u32)(value >> 1);
}

/* What is too large is in the last of nr_buckets. */
static __always_inline __u64 bucket_of(__u64 value, __u64 nr_buckets)
{
	__u64 bucket = value;

	if (value >= 1u << HIST_SUB_BITS) {
		__u32 shift = power_of(value) - HIST_SUB_BITS;

		bucket = ((__u64)shift << HIST_SUB_BITS) + (value >> (shift & 63));
	}
	return bucket < nr_buckets ? bucket : nr_buckets - 1;
}

#endif
