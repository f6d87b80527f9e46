/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * free_high_runs: the most that can have been drains because of high-order frees, where functions are closed.
 *
 *     mm_page_pcpu_drain(page, order, migratetype)
 *
 * Drains of a CPU that follow each other without a gap are one; its first block is of the list whose page was
 * freed last. Order 1…3, and not called by one of the functions that drain for another reason: free_high, or a
 * usual overflow that such a page set off.
 */
#include "runner/monitors/bpf/mini.h"
#include "runner/monitors/bpf/free_high.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define GAP_NS    2000
#define MAX_ORDER 3 /* above it only huge pages have a list */

/* The functions that drain for another reason; empty ones are not there. */
const volatile struct free_high_range others[FREE_HIGH_RANGES] = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* a CPU each; set before loading */
	__type(key, __u32);
	__type(value, struct free_high_cpu);
} cpus SEC(".maps");

static __always_inline int is_for_another_reason(void *ctx)
{
	__u64 frames[FREE_HIGH_FRAMES] = {};

	if (bpf_get_stack(ctx, frames, sizeof(frames), 0) <= 0)
		return 0;
#pragma unroll
	for (int i = 0; i < FREE_HIGH_FRAMES; i++)
#pragma unroll
		for (int k = 0; k < FREE_HIGH_RANGES; k++)
			if (frames[i] >= others[k].start && frames[i] < others[k].end)
				return 1;
	return 0;
}

SEC("tp_btf/mm_page_pcpu_drain")
int on_drain(__u64 *ctx)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 order = (__u32)ctx[1], cpu = bpf_get_smp_processor_id();
	struct free_high_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);

	if (!own)
		return 0;
	if (now_ns - own->last_ns > GAP_NS) {
		own->is_one = order >= 1 && order <= MAX_ORDER && !is_for_another_reason(ctx);
		own->drains += own->is_one;
	}
	if (own->is_one)
		own->pages += 1u << (order & 31);
	own->last_ns = bpf_ktime_get_ns();
	return 0;
}
