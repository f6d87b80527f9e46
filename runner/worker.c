/*
 * worker: the life of one task, as a process or as a thread; it does not know which.
 *
 *     enter the slot -> pin, memory policy -> setup -> gate -> loop until the stop word -> teardown
 *
 * The loop keeps its count in a register and publishes it once a step with a plain store. All talk
 * goes through the slot: its state, and on failure the error and the sentence.
 */
#include "runner/worker.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

#define SHORT_STEP_NS (10 * ZM_NS_PER_MS)

static void notify(const struct zm_launch_spec *spec)
{
	uint64_t one = 1;

	while (write(spec->notice_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static int pin(int cpu, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	int r;

	if (cpu < 0)
		return 0;
	r = zm_cpuset_add(&set, (unsigned int)cpu);
	if (r == 0)
		r = zm_cpuset_set_affinity(0, &set);
	return r < 0 ? zm_why_errno(why, r, "pinning to CPU %d", cpu) : 0;
}

/* The kernel's own policy needs no permission; a container that forbids the call forbids nothing. */
static int set_memory_policy(const struct zm_launch_spec *spec, int node, struct zm_why *why)
{
	int r = zm_mem_apply(spec->topology, &spec->mem, node, why);

	return spec->mem.mem == ZM_MEM_LOCAL ? 0 : r;
}

/* Mapped, not malloc'ed: a page of the task's own, on its node, for a thread too. */
static int make_state(struct zm_task *task, size_t bytes, struct zm_why *why)
{
	void *state;

	if (bytes == 0)
		return 0;
	state = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (state == MAP_FAILED)
		return zm_why_errno(why, -errno, "%zu bytes for a task's state", bytes);
	task->state = state;
	return 0;
}

static int set_up(const struct zm_launch_spec *spec, struct zm_task *task, bool *ret_entered,
		  struct zm_why *why)
{
	const struct zm_workload *workload = task->run->workload;
	int r = pin(task->cpu, why);

	if (r == 0)
		r = set_memory_policy(spec, task->node, why);
	if (r == 0)
		r = make_state(task, workload->task_bytes, why);
	if (r < 0)
		return r;
	*ret_entered = true;
	return workload->setup ? workload->setup(task, why) : 0;
}

/* The last to arrive tells the launcher. */
static void wait_at_gate(const struct zm_launch_spec *spec, struct zm_slot *slot)
{
	struct zm_control *control = spec->arena->control;

	atomic_store(&slot->state, ZM_SLOT_READY);
	if (atomic_fetch_add(&control->nr_arrived, 1) + 1 == spec->arena->nr_tasks)
		notify(spec);
	zm_gate_wait(&control->gate);
	atomic_store_explicit(&slot->state, ZM_SLOT_RUNNING, memory_order_relaxed);
}

static int say_failure(const struct zm_task *task, int error, const char *call, struct zm_why *why)
{
	if (!task->slot->why.text[0])
		return zm_why_errno(why, error, "%s", call);
	*why = task->slot->why;
	return error;
}

static int say_bad_step(const struct zm_task *task, int64_t done, uint64_t n, struct zm_why *why)
{
	if (done < 0)
		return say_failure(task, (int)done, "step", why);
	return zm_why_set(why, -EPROTO, "step(%llu) returned %lld: a fault of the workload",
			  (unsigned long long)n, (long long)done);
}

static inline bool is_good_step(int64_t done, uint64_t n)
{
	return done > 0 && (uint64_t)done <= n;
}

static inline int do_step(struct zm_task *task, uint64_t n, uint64_t *ops, struct zm_why *why)
{
	int64_t done = task->run->workload->step(task, n);

	if (!is_good_step(done, n))
		return say_bad_step(task, done, n, why);
	*ops += (uint64_t)done;
	atomic_store_explicit(&task->slot->ops, *ops, memory_order_relaxed);
	return 0;
}

/* The first operation is done alone: its moment is the task's real start. From there the steps double
 * as long as they are short, up to the workload's batch; from then on nobody looks at the clock. */
static int work_up(struct zm_task *task, uint64_t *ops, struct zm_why *why)
{
	uint64_t most = task->run->workload->batch;
	uint64_t before_ns = 0, now_ns;

	for (uint64_t n = 1; !zm_task_is_stopped(task);) {
		int r = do_step(task, n, ops, why);

		if (r < 0)
			return r;
		now_ns = zm_clock_now_ns();
		if (before_ns == 0)
			atomic_store_explicit(&task->slot->first_op_ns, now_ns,
					      memory_order_relaxed);
		if (n == most)
			return 0;
		if (now_ns - before_ns < SHORT_STEP_NS || before_ns == 0)
			n = n < most / 2 ? n * 2 : most;
		before_ns = now_ns;
	}
	return 0;
}

static int loop_steps(struct zm_task *task, struct zm_why *why)
{
	const uint64_t n = task->run->workload->batch;
	uint64_t ops = 0;
	int r = work_up(task, &ops, why);

	while (r == 0 && !zm_task_is_stopped(task))
		r = do_step(task, n, &ops, why);
	return r;
}

static int loop_itself(struct zm_task *task, struct zm_why *why)
{
	int r;

	if (zm_task_is_stopped(task))
		return 0;
	r = zm_task_loop(task);
	if (r < 0)
		return say_failure(task, r, task->run->workload->run ? "run" : "round", why);
	if (!zm_task_is_stopped(task))
		return zm_why_set(why, -EPROTO, "ended before it was told to");
	return 0;
}

static int work(struct zm_task *task, struct zm_why *why)
{
	return task->run->workload->step ? loop_steps(task, why) : loop_itself(task, why);
}

static void leave(const struct zm_launch_spec *spec, struct zm_slot *slot, int error,
		  const struct zm_why *why)
{
	if (error < 0) {
		slot->why = *why;
		atomic_store(&slot->error, error);
	}
	atomic_store(&slot->state, error < 0 ? ZM_SLOT_FAILED : ZM_SLOT_DONE);
	atomic_fetch_add(&spec->arena->control->nr_ended, 1);
	notify(spec);
}

static int node_of(const struct zm_launch_spec *spec, int cpu)
{
	const struct zm_cpu *found = cpu < 0 ? NULL : zm_topology_find(spec->topology, cpu);

	return found ? found->node : -1;
}

void zm_worker_main(const struct zm_launch_spec *spec, unsigned int index)
{
	struct zm_run *run = spec->arena->run;
	unsigned int nr_ends = run->workload->nr_ends ? run->workload->nr_ends : 1;
	struct zm_task task = { .run = run,
				.index = index,
				.pair = index / nr_ends,
				.end = index % nr_ends,
				.cpu = spec->cpus[index],
				.node = node_of(spec, spec->cpus[index]),
				.slot = zm_arena_enter(spec->arena, index) };
	struct zm_why why = { { 0 } };
	bool entered = false;
	int r = set_up(spec, &task, &entered, &why);

	if (r == 0) {
		wait_at_gate(spec, task.slot);
		r = work(&task, &why);
	}
	if (entered && run->workload->teardown)
		run->workload->teardown(&task);
	if (task.state)
		(void)munmap(task.state, run->workload->task_bytes);
	leave(spec, task.slot, r, &why);
}
