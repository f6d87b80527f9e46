/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * page_latency_runs: sections guessed from the events within them, where nothing better can be had.
 *
 *     mm_page_alloc_zone_locked(page, order, migratetype, percpu_refill)   into a list
 *     mm_page_pcpu_drain(page, order, migratetype)                         out of it
 *
 * Each event is one block of pages, hit with the zone's lock held. Events of one kind that follow each other
 * on a CPU without a gap are a run, and a run is a section, from its first event to its last; its order is
 * the first event's. Each event makes the section longer by what this program takes: of some of them that is
 * measured.
 */
#include "runner/monitors/bpf/page_latency.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define GAP_NS 2000

/* Has mm_page_alloc_zone_locked its fourth argument? */
const volatile int has_refill = 0;

/* The other side may have something better. */
const volatile int wants_refill = 0;
const volatile int wants_drain = 0;

static __always_inline void end_run(struct latency_cpu *cpu)
{
	struct latency_run *run = &cpu->run;
	__u32 side = run->side;

	if (run->blocks == 0)
		return;
	if (side < LATENCY_NR_SIDES) {
		if (run->blocks == 1)
			cpu->sides[side].unmeasured++;
		else
			keep(cpu, side, run->slot, run->last_ns - run->first_ns, 0, 0);
	}
	run->blocks = 0;
}

static __always_inline void hit(__u32 side, __u64 order)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct latency_cpu *cpu = this_cpu();
	struct latency_run *run;
	struct latency_sums *sums;

	if (!cpu)
		return;
	run = &cpu->run;
	sums = &cpu->sides[side];
	if (run->side != side || now_ns - run->last_ns > GAP_NS)
		end_run(cpu);
	if (run->blocks == 0) {
		run->first_ns = now_ns;
		run->side = side;
		run->slot = slot_of(order);
	}
	run->blocks++;
	run->last_ns = now_ns;
	sums->blocks++;
	if ((sums->blocks & (LATENCY_OWN_EVERY - 1)) == 0) {
		sums->own_timed++;
		sums->own_ns += bpf_ktime_get_ns() - now_ns;
	}
}

SEC("tp_btf/mm_page_alloc_zone_locked")
int on_alloc(__u64 *ctx)
{
	__u64 order = (__u32)ctx[1];
	/* without the argument: only single pages had lists then */
	int is_refill = order == 0;

	if (has_refill)
		is_refill = (int)ctx[3];
	if (wants_refill && is_refill)
		hit(LATENCY_REFILL, order);
	return 0;
}

SEC("tp_btf/mm_page_pcpu_drain")
int on_drain(__u64 *ctx)
{
	if (wants_drain)
		hit(LATENCY_DRAIN, (__u32)ctx[1]);
	return 0;
}
