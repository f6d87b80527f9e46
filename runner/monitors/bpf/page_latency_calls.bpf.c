/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * page_latency_calls: sections by entry and exit of the functions that they are.
 *
 *     free_pcppages_bulk(zone, count, pcp, pindex)   out of a list; before 5.18 without the last
 *     rmqueue_bulk(zone, order, …)                   into a list, where it is a function of its own
 *     *_queued_spin_lock_slowpath(lock)              within them: the wait for the zone's lock
 *
 * One side per loaded object. Without a wait in it a section's wait is 0: the lock was free. What is not wait
 * is hold, which has the few instructions before the lock is asked for in it.
 */
#include "runner/monitors/bpf/page_latency.bpf.h"
#include "runner/monitors/bpf/mini.h"

#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define PCP_TYPES 3 /* migrate types that have a list of their own */

const volatile __u32 own_side = LATENCY_REFILL;
const volatile int has_pindex = 0;
const volatile int has_wait = 0;

static __always_inline __u64 lock_of(__u64 zone)
{
	return zone + bpf_core_field_offset(struct zone, lock);
}

static __always_inline void enter(__u64 zone, __u32 slot)
{
	struct latency_cpu *cpu = this_cpu();
	struct latency_frame *frame;
	__u64 depth;

	if (!cpu)
		return;
	depth = cpu->depth;
	if (depth >= LATENCY_DEPTH) {
		/* what is below has ended unseen: begin anew */
		cpu->sides[own_side & 1].lost += depth;
		depth = 0;
	}
	frame = &cpu->frames[depth & (LATENCY_DEPTH - 1)];
	frame->lock = lock_of(zone);
	frame->wait_start_ns = 0;
	frame->wait_ns = 0;
	frame->side = own_side;
	frame->slot = slot;
	cpu->depth = depth + 1;
	frame->start_ns = bpf_ktime_get_ns();
}

static __always_inline void leave(__u64 zone)
{
	__u64 now_ns = bpf_ktime_get_ns(), lock = lock_of(zone);
	struct latency_cpu *cpu = this_cpu();

	if (!cpu)
		return;
#pragma unroll
	for (int i = LATENCY_DEPTH - 1; i >= 0; i--) {
		struct latency_frame *frame = &cpu->frames[i];

		if ((__u64)i >= cpu->depth || frame->lock != lock || frame->side != own_side)
			continue;
		cpu->sides[own_side & 1].lost += cpu->depth - 1 - i;
		cpu->depth = i;
		keep(cpu, own_side, frame->slot, now_ns - frame->start_ns, frame->wait_ns,
		     has_wait);
		return;
	}
}

/* The innermost section on this CPU, if it asks for this lock. */
static __always_inline struct latency_frame *frame_of(__u64 lock)
{
	struct latency_cpu *cpu = this_cpu();
	struct latency_frame *frame;

	if (!cpu || cpu->depth == 0 || cpu->depth > LATENCY_DEPTH)
		return 0;
	frame = &cpu->frames[(cpu->depth - 1) & (LATENCY_DEPTH - 1)];
	return frame->lock == lock && frame->side == own_side ? frame : 0;
}

static __always_inline void begin_wait(__u64 lock)
{
	struct latency_frame *frame = frame_of(lock);

	if (frame)
		frame->wait_start_ns = bpf_ktime_get_ns();
}

static __always_inline void end_wait(__u64 lock)
{
	struct latency_frame *frame = frame_of(lock);

	if (frame && frame->wait_start_ns) {
		frame->wait_ns += bpf_ktime_get_ns() - frame->wait_start_ns;
		frame->wait_start_ns = 0;
	}
}

SEC("fentry/free_pcppages_bulk")
int on_drain_entry(__u64 *ctx)
{
	__u32 order = 0;

	if (has_pindex)
		order = (__u32)ctx[3] / PCP_TYPES;
	enter(ctx[0], slot_of(order));
	return 0;
}

SEC("fexit/free_pcppages_bulk")
int on_drain_exit(__u64 *ctx)
{
	leave(ctx[0]);
	return 0;
}

SEC("fentry/rmqueue_bulk")
int on_refill_entry(__u64 *ctx)
{
	enter(ctx[0], slot_of((__u32)ctx[1]));
	return 0;
}

SEC("fexit/rmqueue_bulk")
int on_refill_exit(__u64 *ctx)
{
	leave(ctx[0]);
	return 0;
}

SEC("fentry/native_queued_spin_lock_slowpath")
int on_native_entry(__u64 *ctx)
{
	begin_wait(ctx[0]);
	return 0;
}

SEC("fexit/native_queued_spin_lock_slowpath")
int on_native_exit(__u64 *ctx)
{
	end_wait(ctx[0]);
	return 0;
}

SEC("fentry/__pv_queued_spin_lock_slowpath")
int on_pv_entry(__u64 *ctx)
{
	begin_wait(ctx[0]);
	return 0;
}

SEC("fexit/__pv_queued_spin_lock_slowpath")
int on_pv_exit(__u64 *ctx)
{
	end_wait(ctx[0]);
	return 0;
}
