/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * page_latency: the memory of the page_latency_*.bpf.c, which all of them share, and how a length is kept.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_PAGE_LATENCY_BPF_H
#define ZM_RUNNER_MONITORS_BPF_PAGE_LATENCY_BPF_H

#include "runner/monitors/bpf/page_latency.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "runner/monitors/bpf/hist.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* a CPU each; set before loading */
	__type(key, __u32);
	__type(value, struct latency_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LATENCY_NR_SIDES);
	__type(key, __u32);
	__type(value, struct latency_hists);
} hists SEC(".maps");

static __always_inline struct latency_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline void keep_part(struct latency_hists *hist, struct latency_sums *sums,
				      __u32 part, __u32 slot, __u64 ns)
{
	__u64 at = (part * LATENCY_SLOTS + slot) * LATENCY_BUCKETS + bucket_of(ns, LATENCY_BUCKETS);

	if (slot >= LATENCY_SLOTS || at >= LATENCY_NR_PARTS * LATENCY_SLOTS * LATENCY_BUCKETS)
		return;
	sums->ns[part][slot] += ns;
	__sync_fetch_and_add(&hist->buckets[at], 1);
}

/* A whole section; has_parts: its wait is known. */
static __always_inline void keep(struct latency_cpu *cpu, __u32 side, __u32 slot, __u64 ns,
				 __u64 wait_ns, int has_parts)
{
	struct latency_hists *hist = bpf_map_lookup_elem(&hists, &side);
	struct latency_sums *sums;

	if (!hist || side >= LATENCY_NR_SIDES || slot >= LATENCY_SLOTS)
		return;
	sums = &cpu->sides[side];
	sums->sections[slot]++;
	keep_part(hist, sums, LATENCY_SECTION, slot, ns);
	if (!has_parts)
		return;
	if (wait_ns > ns)
		wait_ns = ns;
	keep_part(hist, sums, LATENCY_WAIT, slot, wait_ns);
	keep_part(hist, sums, LATENCY_HOLD, slot, ns - wait_ns);
}

static __always_inline __u32 slot_of(__u64 order)
{
	return order < LATENCY_HUGE ? order : LATENCY_HUGE;
}

#endif
