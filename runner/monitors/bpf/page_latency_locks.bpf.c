/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * page_latency_locks: refills by the zone's lock itself, where rmqueue_bulk is no function of its own.
 *
 *     get_page_from_freelist(gfp_mask, order, …)   an allocation is under way on this CPU
 *       _raw_spin_lock_irqsave(lock)               entry to exit: the wait
 *       _raw_spin_unlock_irqrestore(lock)          from there to here: the hold
 *
 * Within an allocation of an order that has a list, a zone's lock is taken to refill that list. An interrupt's
 * own allocation comes in between and ends the outer one's watch: that section is not kept.
 */
#include "runner/monitors/bpf/page_latency.bpf.h"
#include "runner/monitors/bpf/zone.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The order of huge pages, which have a list too. */
const volatile __u32 huge_order = 9;

SEC("fentry/get_page_from_freelist")
int on_alloc_entry(__u64 *ctx)
{
	__u32 order = (__u32)ctx[1];
	struct latency_cpu *cpu = this_cpu();

	if (cpu && (order < LATENCY_HUGE || order == huge_order)) {
		cpu->lock = 0;
		cpu->owner = bpf_get_current_pid_tgid();
		cpu->allocation = order + 1;
	}
	return 0;
}

SEC("fexit/get_page_from_freelist")
int on_alloc_exit(__u64 *ctx)
{
	struct latency_cpu *cpu = this_cpu();

	(void)ctx;
	if (cpu) {
		cpu->allocation = 0;
		cpu->lock = 0;
	}
	return 0;
}

SEC("fentry/_raw_spin_lock_irqsave")
int on_lock_entry(__u64 *ctx)
{
	struct latency_cpu *cpu = this_cpu();

	/* a task that was moved to another CPU in between has left its order behind */
	if (!cpu || !cpu->allocation || cpu->lock || cpu->owner != bpf_get_current_pid_tgid() ||
	    !is_zone_lock(ctx[0]))
		return 0;
	cpu->lock = ctx[0];
	cpu->got_ns = 0;
	cpu->asked_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/_raw_spin_lock_irqsave")
int on_lock_exit(__u64 *ctx)
{
	struct latency_cpu *cpu = this_cpu();

	if (cpu && cpu->lock && cpu->lock == ctx[0])
		cpu->got_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/_raw_spin_unlock_irqrestore")
int on_unlock(__u64 *ctx)
{
	struct latency_cpu *cpu = this_cpu();
	__u64 now_ns;

	if (!cpu || !cpu->lock || cpu->lock != ctx[0])
		return 0;
	now_ns = bpf_ktime_get_ns();
	cpu->lock = 0;
	if (cpu->allocation && cpu->got_ns)
		keep(cpu, LATENCY_REFILL, slot_of(cpu->allocation - 1), now_ns - cpu->asked_ns,
		     cpu->got_ns - cpu->asked_ns, 1);
	return 0;
}
