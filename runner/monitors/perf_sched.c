/*
 * perf-sched: how long each task stood in a run queue, and how long it slept, each time.
 *
 *     perf-sched.delays  .delay_time   times that it had to wait for a CPU, and how long (ns)
 *     perf-sched.waits   .wait_time    times that it slept until it was woken, and how long
 *     perf-sched.preempted             times that it had to give its CPU away
 *
 * One series per figure and task, the tasks that it makes included, counted by BPF programs while the
 * window is measured. The report gives the tasks' averages and maxima by the robot's names,
 * perf-sched.total_sch_delay.average.ms and so on, and the task that stood longest on the average.
 */
#include "runner/monitor.h"
#include "runner/monitors/bpf.h"

#ifdef ZM_HAVE_BPF_PROGRAMS

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/store.h"
#include "runner/monitors/bpf/perf_sched.h"
#include "runner/monitors/bpf/perf_sched.skel.h"
#include "runner/monitors/tasks.h"

#define FIRST_PID_SPACE "pid:[4026531836]" /* the kernel's own number for it */

enum figure {
	DELAYS,
	DELAY_TIME,
	WAITS,
	WAIT_TIME,
	PREEMPTED,
	NR_FIGURES,
};

static const struct zm_tasks_figure figures[NR_FIGURES] = {
	[DELAYS] = { "perf-sched.delays", "events" },
	[DELAY_TIME] = { "perf-sched.delay_time", "ns" },
	[WAITS] = { "perf-sched.waits", "events" },
	[WAIT_TIME] = { "perf-sched.wait_time", "ns" },
	[PREEMPTED] = { "perf-sched.preempted", "events" },
};

struct state {
	struct perf_sched_bpf *skeleton;
	struct zm_bpf bpf;
	struct zm_bpf_memory sums; /* struct sched_sums, by task */
	unsigned int nr_tasks;     /* that have sums */
	uint32_t (*series)[NR_FIGURES];
	uint64_t t0_ns, t1_ns; /* while it was on */
};

/* --- opening ----------------------------------------------------------------------------------- */

/* The kernel's programs see numbers of the first PID namespace. */
static int check_pid_space(struct zm_why *why)
{
	char link[64] = "";

	if (readlink("/proc/self/ns/pid", link, sizeof(link) - 1) > 0 &&
	    strcmp(link, FIRST_PID_SPACE) != 0)
		return zm_why_set(why, -ENOTSUP,
				  "in a PID namespace of its own the tasks' numbers are not the "
				  "kernel's: run it outside of the container");
	return 0;
}

static int load(struct state *state, struct zm_why *why)
{
	int nr_args = zm_bpf_tracepoint_args(&state->bpf, "sched_switch");
	int error;

	if (nr_args < 3)
		return zm_why_set(why, -ENOTSUP, "the kernel has no tracepoint sched:sched_switch");
	error = zm_bpf_memory_make(&state->sums, sizeof(struct sched_sums), SCHED_MAX_TASKS);
	if (error)
		return zm_bpf_why(why, error);
	state->skeleton = perf_sched_bpf__open();
	if (!state->skeleton)
		return zm_bpf_why(why, -errno);
	state->skeleton->rodata->has_state = nr_args > 3;
	error = zm_bpf_share(state->skeleton->maps.sums, &state->sums);
	if (!error)
		error = zm_bpf_start(state->skeleton->skeleton);
	return error ? zm_bpf_why(why, error) : 0;
}

static int open_sched(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_bpf_begin(&state->bpf, context, why);

	if (!error)
		error = check_pid_space(why);
	if (!error)
		error = load(state, why);
	zm_bpf_forget_types(&state->bpf);
	return error;
}

static int watch_task(struct state *state, unsigned int index, pid_t tid)
{
	const struct sched_thread thread = { .index = index };
	uint32_t key = (uint32_t)tid;

	return bpf_map_update_elem(bpf_map__fd(state->skeleton->maps.threads), &key, &thread,
				   BPF_ANY)
		       ? -errno
		       : 0;
}

static int attach_sched(struct zm_monitor_context *context, const struct zm_target *target,
			struct zm_why *why)
{
	struct state *state = context->state;
	int error = 0;

	if (target->nr_tasks > SCHED_MAX_TASKS)
		return zm_why_set(why, -E2BIG, "%u tasks are more than the %u that it watches",
				  target->nr_tasks, SCHED_MAX_TASKS);
	state->series = calloc((size_t)target->nr_tasks + 1, sizeof(*state->series));
	if (!state->series)
		error = -ENOMEM;
	for (unsigned int i = 0; !error && i < target->nr_tasks; i++) {
		error = zm_tasks_declare(context, i, figures, NR_FIGURES, state->series[i]);
		if (!error)
			error = watch_task(state, i, target->tids[i]);
	}
	state->nr_tasks = error ? 0 : target->nr_tasks;
	return error ? zm_why_errno(why, error, "watching %u tasks", target->nr_tasks) : 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

static const struct sched_sums *sums_of(const struct state *state, unsigned int task)
{
	return zm_bpf_memory_at(&state->sums, task);
}

static void read_sums(const struct sched_sums *sums, uint64_t *ret_values)
{
	ret_values[DELAYS] = zm_bpf_load_u64(&sums->delays);
	ret_values[DELAY_TIME] = zm_bpf_load_u64(&sums->delay_ns);
	ret_values[WAITS] = zm_bpf_load_u64(&sums->waits);
	ret_values[WAIT_TIME] = zm_bpf_load_u64(&sums->wait_ns);
	ret_values[PREEMPTED] = zm_bpf_load_u64(&sums->preempted);
}

/* On from the border where measuring begins to the one where it ends. */
static void switch_it(struct state *state, enum zm_phase phase, uint64_t t_ns)
{
	bool is_measuring = phase == ZM_PHASE_MEASURE;

	if (is_measuring && state->t0_ns == 0) {
		state->t0_ns = t_ns;
		state->skeleton->bss->is_on = 1;
	} else if (!is_measuring && state->t0_ns && state->t1_ns == 0) {
		state->t1_ns = t_ns;
		state->skeleton->bss->is_on = 0;
	}
}

static int read_sched(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint32_t flags = state->skeleton->bss->nr_unkept ? ZM_FLAG_LOST : 0;
	uint64_t values[NR_FIGURES];

	switch_it(state, context->phase, t_ns);
	for (unsigned int task = 0; task < state->nr_tasks; task++) {
		read_sums(sums_of(state, task), values);
		for (unsigned int i = 0; i < NR_FIGURES; i++)
			zm_recorder_put_u64(context->recorder, state->series[task][i], t_ns,
					    values[i], flags);
	}
	return 0;
}

/* --- the report -------------------------------------------------------------------------------- */

/* Of one kind, over all tasks. */
struct total {
	uint64_t times, ns, max_ns;
	double worst_ns; /* the longest average of a task */
};

static void add(struct total *total, uint64_t times, uint64_t ns, uint64_t max_ns)
{
	double average_ns = times ? (double)ns / (double)times : 0;

	total->times += times;
	total->ns += ns;
	total->max_ns = max_ns > total->max_ns ? max_ns : total->max_ns;
	total->worst_ns = average_ns > total->worst_ns ? average_ns : total->worst_ns;
}

struct shown {
	struct zm_metric average, most, worst;
};

static const struct shown shown_delay = {
	{ .name = "perf-sched.total_sch_delay.average.ms", .unit = "ms" },
	{ .name = "perf-sched.total_sch_delay.max.ms", .unit = "ms" },
	{ .name = "perf-sched.worst_task_sch_delay.average.ms", .unit = "ms" },
};
static const struct shown shown_wait = {
	{ .name = "perf-sched.total_wait_time.average.ms", .unit = "ms" },
	{ .name = "perf-sched.total_wait_time.max.ms", .unit = "ms" },
	{ .name = "perf-sched.worst_task_wait_time.average.ms", .unit = "ms" },
};

/* What never happened has no average; that it did not is the counts'. */
static int report_total(const struct total *total, const struct shown *shown, uint64_t width_ns,
			struct zm_report *report)
{
	double times = (double)total->times;
	int error;

	if (total->times == 0)
		return 0;
	error = zm_report_add(report, &shown->average, (double)total->ns / times / 1e6, times,
			      width_ns);
	if (!error)
		error = zm_report_add(report, &shown->most, (double)total->max_ns / 1e6, times,
				      width_ns);
	return error ? error
		     : zm_report_add(report, &shown->worst, total->worst_ns / 1e6, times, width_ns);
}

static int say_unkept(struct zm_monitor_context *context)
{
	const struct state *state = context->state;

	if (state->skeleton->bss->nr_unkept == 0)
		return 0;
	return zm_recorder_note(context->recorder, "lost",
				"perf-sched: the tasks made more tasks than it can watch at once; "
				"some are not in its figures");
}

static int report_sched(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			struct zm_report *report)
{
	const struct state *state = context->state;
	struct total delay = { 0 }, wait = { 0 };
	uint64_t width_ns = state->t1_ns - state->t0_ns;
	int error;

	(void)t0_ns;
	(void)t1_ns;
	if (state->t1_ns == 0)
		return zm_recorder_absent(context->recorder, context->monitor->name,
					  "the measured window did not end");
	for (unsigned int i = 0; i < state->nr_tasks; i++) {
		const struct sched_sums *sums = sums_of(state, i);

		add(&delay, sums->delays, sums->delay_ns, sums->delay_max_ns);
		add(&wait, sums->waits, sums->wait_ns, sums->wait_max_ns);
	}
	error = report_total(&delay, &shown_delay, width_ns, report);
	if (!error)
		error = report_total(&wait, &shown_wait, width_ns, report);
	return error ? error : say_unkept(context);
}

static void close_sched(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	perf_sched_bpf__destroy(state->skeleton);
	zm_bpf_memory_release(&state->sums);
	zm_bpf_end(&state->bpf);
	free(state->series);
}

#endif

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "each time that a task waited for a CPU or slept: how often, how long, at most",
	.needs = "sched tracepoints by BPF: CAP_BPF, CAP_PERFMON, kernel 5.10 with BTF",
	.rate = ZM_RATE_BORDERS,
	.is_extra = true,
	.state_bytes = ZM_BPF_CALL(sizeof(struct state), 0),
	.open = ZM_BPF_CALL(open_sched, zm_bpf_open_unbuilt),
	.attach = ZM_BPF_CALL(attach_sched, NULL),
	.read = ZM_BPF_CALL(read_sched, zm_bpf_read_unbuilt),
	.report = ZM_BPF_CALL(report_sched, NULL),
	.close = ZM_BPF_CALL(close_sched, zm_bpf_close_unbuilt),
};
