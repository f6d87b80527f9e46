/*
 * time: what the tasks themselves used, as time(1) says it: CPU time, faults, switches.
 *
 *     time.user_time  time.system_time                              ns, in ticks of 10 ms
 *     time.minor_page_faults  time.major_page_faults                events
 *     time.voluntary_context_switches  time.involuntary_context_switches
 *
 * One series per figure and task, read at the phase borders. A task that is a process counts with the
 * children that it has waited for (their switches excepted); a task that is a thread counts alone. A
 * task that has ended has no more readings. The report gives the tasks' sums over the measured window.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner/monitor.h"
#include "runner/monitors/stat.h"
#include "runner/monitors/tasks.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"

#define TEXT_SIZE 8192 /* status has about 1,500 bytes */

enum figure {
	USER_TIME,
	SYSTEM_TIME,
	MINOR_FAULTS,
	MAJOR_FAULTS,
	VOLUNTARY,
	INVOLUNTARY,
	NR_FIGURES,
};

struct state {
	struct zm_tasks tasks;
	uint32_t (*series)[NR_FIGURES]; /* by task */
	uint64_t tick_ns;
	struct zm_window_figure sums[NR_FIGURES];
	char text[TEXT_SIZE];
};

static const struct zm_tasks_figure figures[NR_FIGURES] = {
	[USER_TIME] = { "time.user_time", "ns" },
	[SYSTEM_TIME] = { "time.system_time", "ns" },
	[MINOR_FAULTS] = { "time.minor_page_faults", "events" },
	[MAJOR_FAULTS] = { "time.major_page_faults", "events" },
	[VOLUNTARY] = { "time.voluntary_context_switches", "switches" },
	[INVOLUNTARY] = { "time.involuntary_context_switches", "switches" },
};

static const struct zm_metric elapsed = { .name = "time.elapsed_time", .unit = "s" };
static const struct zm_metric share = { .name = "time.percent_of_cpu_this_job_got",
					.unit = "%",
					.kind = ZM_GAUGE };

/* All figures of a task; -ENOENT or -ESRCH when it is gone. */
static int collect(const struct zm_sysroot *root, struct state *state, unsigned int index,
		   uint64_t *ret_values)
{
	struct zm_taskswitches switches;
	struct zm_taskstat stat;
	int error = zm_tasks_stat(&state->tasks, root, index, &stat);

	if (!error)
		error = zm_tasks_read(&state->tasks, root, index, "status", state->text,
				      sizeof(state->text));
	if (!error && !zm_taskswitches_parse(state->text, &switches))
		error = -ENODATA;
	if (error)
		return error;
	if (state->tasks.kind == ZM_TASK_PROCESS) {
		stat.user_ticks += stat.child_user_ticks;
		stat.system_ticks += stat.child_system_ticks;
		stat.minor_faults += stat.child_minor_faults;
		stat.major_faults += stat.child_major_faults;
	}
	ret_values[USER_TIME] = zm_stat_ns(stat.user_ticks, state->tick_ns);
	ret_values[SYSTEM_TIME] = zm_stat_ns(stat.system_ticks, state->tick_ns);
	ret_values[MINOR_FAULTS] = stat.minor_faults;
	ret_values[MAJOR_FAULTS] = stat.major_faults;
	ret_values[VOLUNTARY] = switches.voluntary;
	ret_values[INVOLUNTARY] = switches.involuntary;
	return 0;
}

static int open_time(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;

	state->tick_ns = zm_stat_tick_ns();
	if (!zm_sysroot_has(context->root, "proc/self/stat"))
		return zm_why_set(why, -ENOTSUP, "/proc/self/stat is not there: mount procfs");
	return 0;
}

static int attach_time(struct zm_monitor_context *context, const struct zm_target *target,
		       struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_tasks_attach(&state->tasks, context->root, target, why);

	if (error)
		return error;
	state->series = calloc((size_t)target->nr_tasks + 1, sizeof(*state->series));
	if (!state->series)
		error = -ENOMEM;
	for (unsigned int i = 0; !error && i < target->nr_tasks; i++)
		error = zm_tasks_declare(context, i, figures, NR_FIGURES, state->series[i]);
	return error ? zm_why_errno(why, error, "the series of %u tasks", target->nr_tasks) : 0;
}

/* Tasks that have ended are passed over; the sums then stand still and are not fed. */
static int read_time(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint64_t values[NR_FIGURES], sums[NR_FIGURES] = { 0 };
	bool is_whole = state->tasks.nr > 0;
	int error, first_error = 0;

	for (unsigned int task = 0; task < state->tasks.nr; task++) {
		error = collect(context->root, state, task, values);
		is_whole &= !error;
		if (error && error != -ENOENT && error != -ESRCH && !first_error)
			first_error = error;
		for (unsigned int i = 0; !error && i < NR_FIGURES; i++) {
			zm_recorder_put_u64(context->recorder, state->series[task][i], t_ns,
					    values[i], 0);
			sums[i] += values[i];
		}
	}
	for (unsigned int i = 0; is_whole && i < NR_FIGURES; i++)
		zm_window_feed(&state->sums[i], context->phase, t_ns, (double)sums[i]);
	return first_error;
}

static int report_share(const struct state *state, double seconds, uint64_t width_ns,
			struct zm_report *report)
{
	double user_ns = 0, system_ns = 0;
	int error = zm_report_add(report, &elapsed, seconds, (double)width_ns, width_ns);

	(void)zm_window_delta(&state->sums[USER_TIME], &user_ns);
	(void)zm_window_delta(&state->sums[SYSTEM_TIME], &system_ns);
	if (error || width_ns == 0)
		return error;
	return zm_report_add(report, &share, 100 * (user_ns + system_ns) / (double)width_ns,
			     user_ns + system_ns, width_ns);
}

static int report_time(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
		       struct zm_report *report)
{
	const struct state *state = context->state;
	uint64_t width_ns = state->sums[0].t1_ns - state->sums[0].t0_ns;
	double count;
	int error;

	if (!zm_window_is_whole(&state->sums[0], t0_ns, t1_ns))
		return zm_window_say_absent(context);
	error = report_share(state, (double)width_ns / (double)ZM_NS_PER_S, width_ns, report);
	for (unsigned int i = 0; !error && i < NR_FIGURES; i++) {
		bool is_time = i == USER_TIME || i == SYSTEM_TIME;
		const struct zm_metric shown = { .name = figures[i].name,
						 .unit = is_time ? "s" : figures[i].unit,
						 .kind = ZM_COUNT };

		if (!zm_window_delta(&state->sums[i], &count))
			continue;
		error = zm_report_add(report, &shown, is_time ? count / (double)ZM_NS_PER_S : count,
				      count, width_ns);
	}
	return error;
}

static void close_time(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_tasks_release(&state->tasks);
	free(state->series);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "what the tasks themselves used: CPU time, page faults, context switches",
	.needs = "/proc/PID/stat, /proc/PID/status",
	.rate = ZM_RATE_BORDERS,
	.state_bytes = sizeof(struct state),
	.open = open_time,
	.attach = attach_time,
	.read = read_time,
	.report = report_time,
	.close = close_time,
};
