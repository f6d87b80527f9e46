/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * perf_sched: how long the watched tasks, and those that they made, stood in a run queue, and how long
 * they slept.
 *
 *     sched_switch(preempt, prev, next, prev_state)   old kernels lack the last
 *     sched_wakeup(p)  sched_wakeup_new(p)            it can run from now on
 *     sched_process_fork(parent, child)               the child belongs to its parent's task
 *     sched_process_exit(p)                           forgotten
 *
 * A delay ends when its task gets a CPU, a sleep when it is woken; what is under way when is_on goes on or
 * off counts when it ends, if that is while it is on.
 */
#include "runner/monitors/bpf/mini.h"
#include "runner/monitors/bpf/perf_sched.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Has sched_switch its fourth argument? Without, the task's own state is asked. */
const volatile int has_state = 0;

volatile int is_on = 0;

/* The members that hold a task's state: until 5.13, and since. */
struct task_struct___long {
	long state;
} KERNEL_TYPE;

struct task_struct___short {
	unsigned int __state;
} KERNEL_TYPE;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCHED_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct sched_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCHED_MAX_TASKS);
	__type(key, __u32);
	__type(value, struct sched_sums);
} sums SEC(".maps");

/* Threads of tasks that could not be watched: the table was full. */
__u64 nr_unkept = 0;

static __always_inline struct sched_thread *find(const struct task_struct *task)
{
	__u32 pid = task->pid;

	return bpf_map_lookup_elem(&threads, &pid);
}

static __always_inline void add_delay(struct sched_thread *thread, __u64 now_ns)
{
	struct sched_sums *own = bpf_map_lookup_elem(&sums, &thread->index);
	__u64 ns = now_ns - thread->ready_ns;

	if (!own || !is_on || (__s64)ns < 0)
		return;
	__sync_fetch_and_add(&own->delays, 1);
	__sync_fetch_and_add(&own->delay_ns, ns);
	if (ns > own->delay_max_ns)
		own->delay_max_ns = ns;
}

static __always_inline void add_sleep(struct sched_thread *thread, __u64 now_ns)
{
	struct sched_sums *own = bpf_map_lookup_elem(&sums, &thread->index);
	__u64 ns = now_ns - thread->sleep_ns;

	if (!own || !is_on || (__s64)ns < 0)
		return;
	__sync_fetch_and_add(&own->waits, 1);
	__sync_fetch_and_add(&own->wait_ns, ns);
	if (ns > own->wait_max_ns)
		own->wait_max_ns = ns;
}

static __always_inline void count_preempted(const struct sched_thread *thread)
{
	struct sched_sums *own = bpf_map_lookup_elem(&sums, &thread->index);

	if (own && is_on)
		__sync_fetch_and_add(&own->preempted, 1);
}

static __always_inline void wake(const struct task_struct *task)
{
	struct sched_thread *thread = find(task);
	__u64 now_ns;

	if (!thread || thread->ready_ns)
		return;
	now_ns = bpf_ktime_get_ns();
	if (thread->sleep_ns)
		add_sleep(thread, now_ns);
	thread->sleep_ns = 0;
	thread->ready_ns = now_ns;
}

static __always_inline __u64 own_state(const struct task_struct *task)
{
	const struct task_struct___short *with_short = (const void *)task;
	const struct task_struct___long *with_long = (const void *)task;

	if (bpf_core_field_exists(with_short->__state))
		return BPF_CORE_READ(with_short, __state);
	if (bpf_core_field_exists(with_long->state))
		return (__u64)BPF_CORE_READ(with_long, state);
	return 0;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	const struct task_struct *prev = (const void *)ctx[1], *next = (const void *)ctx[2];
	struct sched_thread *thread = find(prev);
	__u64 now_ns = 0, state;

	if (thread) {
		if (has_state)
			state = (__u32)ctx[3];
		else
			state = own_state(prev);
		now_ns = bpf_ktime_get_ns();
		if ((ctx[0] & 1) || state == 0) {
			thread->ready_ns = now_ns;
			thread->sleep_ns = 0;
			count_preempted(thread);
		} else {
			thread->ready_ns = 0;
			thread->sleep_ns = now_ns;
		}
	}
	thread = find(next);
	if (thread) {
		if (thread->ready_ns)
			add_delay(thread, now_ns ? now_ns : bpf_ktime_get_ns());
		thread->ready_ns = 0;
		thread->sleep_ns = 0;
	}
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	wake((const void *)ctx[0]);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(__u64 *ctx)
{
	wake((const void *)ctx[0]);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
	const struct task_struct *parent = (const void *)ctx[0], *child = (const void *)ctx[1];
	struct sched_thread *thread = find(parent);
	struct sched_thread made = { 0 };
	__u32 pid = child->pid;

	if (!thread)
		return 0;
	made.index = thread->index;
	if (bpf_map_update_elem(&threads, &pid, &made, BPF_ANY))
		__sync_fetch_and_add(&nr_unkept, 1);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	__u32 pid = ((const struct task_struct *)ctx[0])->pid;

	bpf_map_delete_elem(&threads, &pid);
	return 0;
}
