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
 * Of the zone locks' waits one in LOCK_STACK_EVERY has its call chain taken, of the others' one in
 * LOCK_OTHER_EVERY. That costs more than many a wait: it is done after the time was taken, and such a wait is
 * kept out of the times.
 */
#include "runner/monitors/bpf/mini.h"
#include "runner/monitors/bpf/lock_contention.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "runner/monitors/bpf/hist.bpf.h"
#include "runner/monitors/bpf/zone.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

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
	__uint(max_entries, 2 * LOCK_MAX_STACKS);
	__type(key, struct lock_caller);
	__type(value, __u64);
} stack_counts SEC(".maps");

static __always_inline struct lock_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
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
		cpu->buckets[bucket_of(ns, LOCK_BUCKETS)]++;
}

/* Two stacks may want the same place, and there may be too many of them: such a chain is lost. */
static __always_inline void take_stack(void *ctx, struct lock_cpu *cpu, __u32 kind)
{
	long id = bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP);
	struct lock_caller key = { .stack = id, .kind = kind };
	__u64 one = 1, *count = 0;

	if (id >= 0)
		count = bpf_map_lookup_elem(&stack_counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else if (id < 0 || bpf_map_update_elem(&stack_counts, &key, &one, BPF_NOEXIST))
		cpu->lost_chains++;
}

/* Is it this wait's turn to have its call chain taken? */
static __always_inline int is_turn(const struct lock_cpu *cpu, __u32 kind, int is_zone)
{
	if (is_zone)
		return (cpu->zone.waits & (LOCK_STACK_EVERY - 1)) == LOCK_STACK_EVERY - 1;
	return kind < LOCK_NR_KINDS &&
	       (cpu->kinds[kind].waits & (LOCK_OTHER_EVERY - 1)) == LOCK_OTHER_EVERY - 1;
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
	wait->has_stack = is_turn(cpu, kind, wait->is_zone);
	if (wait->has_stack)
		take_stack(ctx, cpu, wait->is_zone ? LOCK_ZONE : kind);
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

static __always_inline void begin_sleep(void *ctx, __u64 lock, __u32 kind)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct lock_wait wait = { .lock = lock, .kind = kind };
	struct lock_cpu *cpu = this_cpu();
	long error;

	if (tid == 0 || !cpu)
		return;
	wait.start_ns = bpf_ktime_get_ns();
	wait.has_stack = is_turn(cpu, kind, 0);
	/* a mutex that is first spun for begins twice: its first time counts */
	error = bpf_map_update_elem(&sleepers, &tid, &wait, BPF_NOEXIST);
	if (error == -7 /* E2BIG */)
		cpu->lost++;
	if (!error && wait.has_stack)
		take_stack(ctx, cpu, kind);
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
		begin_sleep(ctx, ctx[0], kind);
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
