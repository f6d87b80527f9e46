/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * free_high: drains because of high-order frees, told by what the kernel drains.
 *
 *     free_pcppages_bulk(zone, count, pcp, pindex)
 *
 * pindex says which page's free led to it: order 1…3. A usual overflow leaves a batch or more on the list;
 * free_high takes all of it, or since 6.7 at most 32 batches. Where it takes these 32 of a list that is still
 * longer, a usual overflow may have been as large: only if the list was not above its limit, and the zone not
 * short of pages, can it have been none.
 */
#include "runner/monitors/bpf/mini.h"
#include "runner/monitors/bpf/free_high.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define PCP_TYPES     3 /* migrate types that have a list of their own */
#define MAX_ORDER     3 /* above it only huge pages have a list */
#define SCALE_MAX     5 /* CONFIG_PCP_BATCH_SCALE_MAX */
#define HAS_SCALE     bpf_core_field_exists(((struct per_cpu_pages *)0)->high_min)
#define CAN_BE_LOW    bpf_core_enum_value_exists(enum zone_flags, ZONE_BELOW_HIGH)
#define LOW_BIT(flag) bpf_core_enum_value(enum zone_flags, flag)

enum zone_flags {
	ZONE_BELOW_HIGH,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* a CPU each; set before loading */
	__type(key, __u32);
	__type(value, struct free_high_cpu);
} cpus SEC(".maps");

static __always_inline int is_low(const struct zone *zone)
{
	if (!CAN_BE_LOW)
		return 0;
	return (zone->flags >> (LOW_BIT(ZONE_BELOW_HIGH) & 63)) & 1;
}

SEC("fentry/free_pcppages_bulk")
int on_bulk(__u64 *ctx)
{
	const struct zone *zone = (const void *)ctx[0];
	const struct per_cpu_pages *pcp = (const void *)ctx[2];
	__u32 order = (__u32)ctx[3] / PCP_TYPES, cpu = bpf_get_smp_processor_id();
	__u32 count = (__u32)ctx[1], total, most;
	struct free_high_cpu *own;

	if (order < 1 || order > MAX_ORDER)
		return 0;
	total = pcp->count;
	most = HAS_SCALE ? (__u32)pcp->batch << SCALE_MAX : total;
	own = bpf_map_lookup_elem(&cpus, &cpu);
	if (!own || count != (total < most ? total : most))
		return 0;
	if (count < total && total - most >= (__u32)pcp->batch &&
	    (total >= (__u32)pcp->high || is_low(zone))) {
		own->unsure++;
		return 0;
	}
	own->drains++;
	own->pages += count;
	return 0;
}
