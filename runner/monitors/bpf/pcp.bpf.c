/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pcp: counts the page blocks that cross between the zones and the CPUs' page lists.
 *
 *     mm_page_alloc_zone_locked(page, order, migratetype, percpu_refill)   old kernels lack the last
 *     mm_page_pcpu_drain(page, order, migratetype)
 *
 * Both are hit with the zone's lock held, so a hit is one look-up and one addition to this CPU's own
 * memory.
 */
#include "runner/monitors/bpf/mini.h"
#include "runner/monitors/bpf/pcp.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Has mm_page_alloc_zone_locked its fourth argument? Set before loading: where it has not, the verifier
 * never sees the access. */
const volatile int has_refill = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* a CPU each; set before loading */
	__type(key, __u32);
	__type(value, struct pcp_counts);
} counts SEC(".maps");

static __always_inline void count(enum pcp_way way, __u64 order, __u64 type)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct pcp_counts *own = bpf_map_lookup_elem(&counts, &cpu);

	if (own)
		own->blocks[way][order & (PCP_ORDERS - 1)][type & (PCP_TYPES - 1)]++;
}

SEC("tp_btf/mm_page_alloc_zone_locked")
int on_alloc(__u64 *ctx)
{
	int order = (int)ctx[1];
	/* without the argument: only single pages had lists then */
	int is_refill = order == 0;

	if (has_refill)
		is_refill = (int)ctx[3];
	if (is_refill)
		count(PCP_REFILL, order, ctx[2]);
	else
		count(PCP_DIRECT, order, ctx[2]);
	return 0;
}

SEC("tp_btf/mm_page_pcpu_drain")
int on_drain(__u64 *ctx)
{
	count(PCP_DRAIN, ctx[1], ctx[2]);
	return 0;
}
