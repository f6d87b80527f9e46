/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lock_contention: waits for the kernel's locks, by kind, and the zone locks told from all others.
 *
 *     contention_begin(lock, flags)   a task has to wait           (kernel 5.19)
 *     contention_end(lock, ret)       it has it now
 *
 *     *_queued_spin_lock_slowpath     entry and exit, where the kernel lets fentry attach: they see the
 *                                     first waiter of a native spin lock too, which has no event
 *
 * A spin lock's wait begins and ends on one CPU, and only an interrupt's wait comes in between: a small
 * stack per CPU. Other waits sleep and are kept by task.
 *
 * A lock is a zone's when it lies where a zone has its lock, and that zone is one of its node's zones.
 *
 * Of the zone locks' waits one in LOCK_STACK_EVERY has its call chain taken, which costs more than the
 * wait: after the time was, and such a wait is kept out of the times.
 */
#include "runner/monitors/bpf/mini.h"
#include "runner/monitors/bpf/lock_contention.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define MAX_ZONES 8 /* of a node */

/* The kernel's flags of contention_begin. */
#define FLAG_SPIN   (1u << 0)
#define FLAG_READ   (1u << 1)
#define FLAG_WRITE  (1u << 2)
#define FLAG_RT     (1u << 3)
#define FLAG_PERCPU (1u << 4)
#define FLAG_MUTEX  (1u << 5)

/* Are the spin locks' slow paths attached? Then their events are left to them. */
const volatile int has_slowpath = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* a CPU each; set before loading */
	__type(key, __u32);
	__type(value, struct lock_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOCK_MAX_TASKS);
	__type(key, __u32);
	__type(value, struct lock_wait);
} sleepers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, LOCK_MAX_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, LOCK_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

/* How often each stack was met. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOCK_MAX_STACKS);
	__type(key, __u32);
	__type(value, __u64);
} stack_counts SEC(".maps");

static __always_inline struct lock_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline int is_zone_lock(__u64 lock)
{
	__u64 zone = lock - bpf_core_field_offset(struct zone, lock);
	__u64 size = bpf_core_type_size(struct zone);
	struct pglist_data *node = NULL;
	__u64 first;

	if (bpf_probe_read_kernel(&node, sizeof(node),
				  (void *)(zone + bpf_core_field_offset(struct zone, zone_pgdat))))
		return 0;
	first = (__u64)node + bpf_core_field_offset(struct pglist_data, node_zones);
#pragma unroll
	for (int i = 0; i < MAX_ZONES; i++)
		if (zone == first + i * size)
			return 1;
	return 0;
}

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

static __always_inline void add_to_histogram(struct lock_cpu *cpu, __u64 ns)
{
	__u64 bucket = ns;

	if (ns >= 1u << LOCK_SUB_BITS) {
		__u32 shift = power_of(ns) - LOCK_SUB_BITS;

		bucket = ((__u64)shift << LOCK_SUB_BITS) + (ns >> (shift & 63));
	}
	if (bucket >= LOCK_BUCKETS)
		bucket = LOCK_BUCKETS - 1;
	cpu->buckets[bucket]++;
}

static __always_inline void add_wait(struct lock_sums *sums, const struct lock_wait *wait, __u64 ns)
{
	sums->waits++;
	if (wait->has_stack)
		return;
	sums->timed++;
	sums->wait_ns += ns;
}

static __always_inline void finish(struct lock_cpu *cpu, const struct lock_wait *wait)
{
	__u64 ns = bpf_ktime_get_ns() - wait->start_ns;
	__u32 kind = wait->kind;

	if (kind < LOCK_NR_KINDS)
		add_wait(&cpu->kinds[kind], wait, ns);
	if (!wait->is_zone)
		return;
	add_wait(&cpu->zone, wait, ns);
	if (!wait->has_stack)
		add_to_histogram(cpu, ns);
}

static __always_inline void take_stack(void *ctx)
{
	long id = bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP);
	__u32 key = id;
	__u64 one = 1, *count;

	if (id < 0)
		return;
	count = bpf_map_lookup_elem(&stack_counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&stack_counts, &key, &one, BPF_NOEXIST);
}

static __always_inline void begin_spin(void *ctx, __u64 lock, __u32 kind)
{
	__u64 start_ns = bpf_ktime_get_ns();
	struct lock_cpu *cpu = this_cpu();
	struct lock_wait *wait;
	__u64 depth;

	if (!cpu)
		return;
	depth = cpu->depth;
	if (depth >= LOCK_DEPTH) {
		/* what is below has ended without an event: begin anew */
		cpu->lost += depth;
		cpu->depth = depth = 0;
	}
	wait = &cpu->waits[depth & (LOCK_DEPTH - 1)];
	wait->lock = lock;
	wait->start_ns = start_ns;
	wait->kind = kind;
	wait->has_stack = 0;
	wait->is_zone = kind == LOCK_SPIN && is_zone_lock(lock);
	cpu->depth = depth + 1;
	if (wait->is_zone && (cpu->zone.waits & (LOCK_STACK_EVERY - 1)) == LOCK_STACK_EVERY - 1) {
		wait->has_stack = 1;
		take_stack(ctx);
	}
}

/* Was it a spin lock's wait that ended? */
static __always_inline int end_spin(__u64 lock)
{
	struct lock_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
#pragma unroll
	for (int i = LOCK_DEPTH - 1; i >= 0; i--) {
		if ((__u64)i >= cpu->depth || cpu->waits[i].lock != lock)
			continue;
		cpu->lost += cpu->depth - 1 - i;
		cpu->depth = i;
		finish(cpu, &cpu->waits[i]);
		return 1;
	}
	return 0;
}

static __always_inline void begin_sleep(__u64 lock, __u32 kind)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct lock_wait wait = { .lock = lock, .kind = kind };
	struct lock_cpu *cpu;

	if (tid == 0)
		return;
	wait.start_ns = bpf_ktime_get_ns();
	/* a mutex that is first spun for begins twice: its first time counts */
	if (bpf_map_update_elem(&sleepers, &tid, &wait, BPF_NOEXIST) == -7 /* E2BIG */) {
		cpu = this_cpu();
		if (cpu)
			cpu->lost++;
	}
}

static __always_inline void end_sleep(__u64 lock)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct lock_wait *wait = bpf_map_lookup_elem(&sleepers, &tid);
	struct lock_cpu *cpu;

	if (!wait)
		return;
	cpu = this_cpu();
	if (cpu && wait->lock == lock)
		finish(cpu, wait);
	bpf_map_delete_elem(&sleepers, &tid);
}

static __always_inline __u32 kind_of(__u32 flags)
{
	if (flags & FLAG_PERCPU)
		return LOCK_PERCPU_RWSEM;
	if (flags & FLAG_RT)
		return LOCK_RTMUTEX;
	if (flags & (FLAG_READ | FLAG_WRITE))
		return flags & FLAG_SPIN ? LOCK_RWLOCK : LOCK_RWSEM;
	return (flags & ~FLAG_SPIN) || !flags ? LOCK_MUTEX : LOCK_SPIN;
}

SEC("tp_btf/contention_begin")
int on_begin(__u64 *ctx)
{
	__u32 flags = ctx[1];
	__u32 kind = kind_of(flags);

	if (kind == LOCK_SPIN && has_slowpath)
		return 0;
	if (kind == LOCK_SPIN || kind == LOCK_RWLOCK)
		begin_spin(ctx, ctx[0], kind);
	else
		begin_sleep(ctx[0], kind);
	return 0;
}

SEC("tp_btf/contention_end")
int on_end(__u64 *ctx)
{
	/* a slow path's wait too, when it had to queue: it ends here or at the exit */
	if (!end_spin(ctx[0]))
		end_sleep(ctx[0]);
	return 0;
}

SEC("fentry/native_queued_spin_lock_slowpath")
int on_native_entry(__u64 *ctx)
{
	begin_spin(ctx, ctx[0], LOCK_SPIN);
	return 0;
}

SEC("fexit/native_queued_spin_lock_slowpath")
int on_native_exit(__u64 *ctx)
{
	end_spin(ctx[0]);
	return 0;
}

SEC("fentry/__pv_queued_spin_lock_slowpath")
int on_pv_entry(__u64 *ctx)
{
	begin_spin(ctx, ctx[0], LOCK_SPIN);
	return 0;
}

SEC("fexit/__pv_queued_spin_lock_slowpath")
int on_pv_exit(__u64 *ctx)
{
	end_spin(ctx[0]);
	return 0;
}
