/*
 * sched-delay: how long the tasks ran, and how long they stood in the run queue instead.
 *
 *     sched-delay.run_time   ns on a CPU        sched-delay.wait_time   ns runnable, but not running
 *     sched-delay.timeslices how often they got a CPU
 *
 * One series per figure and task, by /proc/PID/schedstat, at the phase borders. Of a process its main
 * thread. The report gives the tasks' mean wait per time slice, the worst task's, and the share of their
 * runnable time that was waiting.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/fields.h"
#include "runner/monitors/tasks.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"

enum figure {
	RUN,
	WAIT,
	SLICES,
	NR_FIGURES,
};

struct one_task {
	uint32_t series[NR_FIGURES];
	struct zm_window_figure windows[NR_FIGURES];
};

struct state {
	struct zm_tasks tasks;
	struct one_task *list; /* by task */
};

static const struct zm_tasks_figure figures[NR_FIGURES] = {
	[RUN] = { "sched-delay.run_time", "ns" },
	[WAIT] = { "sched-delay.wait_time", "ns" },
	[SLICES] = { "sched-delay.timeslices", "events" },
};

static const struct zm_metric mean_wait = { .name = "sched-delay.avg_us", .unit = "us" };
static const struct zm_metric worst_wait = { .name = "sched-delay.worst_task_avg_us",
					     .unit = "us" };
static const struct zm_metric wait_share = { .name = "sched-delay.wait%", .unit = "%" };

/* "191464769 15577851 549" */
static bool parse(const char *text, uint64_t *ret_values)
{
	const char *at = text, *end = text + strcspn(text, "\n");
	const char *word;
	size_t length;
	uint32_t flags;

	for (unsigned int i = 0; i < NR_FIGURES; i++)
		if (!zm_fields_next_word(&at, end, &word, &length) ||
		    !zm_fields_number(word, word + length, &ret_values[i], &flags))
			return false;
	return true;
}

static int open_delay(struct zm_monitor_context *context, struct zm_why *why)
{
	if (!zm_sysroot_has(context->root, "proc/self/schedstat"))
		return zm_why_set(why, -ENOTSUP,
				  "/proc/self/schedstat is not there: the kernel needs "
				  "CONFIG_SCHED_INFO");
	return 0;
}

static int attach_delay(struct zm_monitor_context *context, const struct zm_target *target,
			struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_tasks_attach(&state->tasks, context->root, target, why);

	if (error)
		return error;
	state->list = calloc((size_t)target->nr_tasks + 1, sizeof(*state->list));
	if (!state->list)
		error = -ENOMEM;
	for (unsigned int i = 0; !error && i < target->nr_tasks; i++)
		error = zm_tasks_declare(context, i, figures, NR_FIGURES, state->list[i].series);
	return error ? zm_why_errno(why, error, "the series of %u tasks", target->nr_tasks) : 0;
}

static int read_task(struct zm_monitor_context *context, unsigned int index, uint64_t t_ns)
{
	struct state *state = context->state;
	struct one_task *task = &state->list[index];
	uint64_t values[NR_FIGURES];
	char text[128];
	int error =
		zm_tasks_read(&state->tasks, context->root, index, "schedstat", text, sizeof(text));

	if (error)
		return error;
	if (!parse(text, values))
		return -ENODATA;
	for (unsigned int i = 0; i < NR_FIGURES; i++) {
		zm_recorder_put_u64(context->recorder, task->series[i], t_ns, values[i], 0);
		zm_window_feed(&task->windows[i], context->phase, t_ns, (double)values[i]);
	}
	return 0;
}

static int read_delay(struct zm_monitor_context *context, uint64_t t_ns)
{
	const struct state *state = context->state;
	int first_error = 0;

	for (unsigned int i = 0; i < state->tasks.nr; i++) {
		int error = read_task(context, i, t_ns);

		if (error && error != -ENOENT && error != -ESRCH && !first_error)
			first_error = error;
	}
	return first_error;
}

static double delta_of(const struct one_task *task, enum figure figure)
{
	double delta;

	return zm_window_delta(&task->windows[figure], &delta) ? delta : 0;
}

static int report_delay(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			struct zm_report *report)
{
	const struct state *state = context->state;
	double run_ns = 0, wait_ns = 0, slices = 0, worst_ns = 0;
	int error = 0;

	for (unsigned int i = 0; i < state->tasks.nr; i++) {
		const struct one_task *task = &state->list[i];
		double own_ns = delta_of(task, WAIT), own_slices = delta_of(task, SLICES);

		if (!zm_window_is_whole(&task->windows[WAIT], t0_ns, t1_ns))
			return zm_window_say_absent(context);
		run_ns += delta_of(task, RUN);
		wait_ns += own_ns;
		slices += own_slices;
		if (own_slices > 0 && own_ns / own_slices > worst_ns)
			worst_ns = own_ns / own_slices;
	}
	if (slices > 0)
		error = zm_report_add(report, &mean_wait, wait_ns / slices / (double)ZM_NS_PER_US,
				      wait_ns, t1_ns - t0_ns);
	if (!error && slices > 0)
		error = zm_report_add(report, &worst_wait, worst_ns / (double)ZM_NS_PER_US,
				      worst_ns, t1_ns - t0_ns);
	if (!error && run_ns + wait_ns > 0)
		error = zm_report_add(report, &wait_share, 100 * wait_ns / (run_ns + wait_ns),
				      wait_ns, t1_ns - t0_ns);
	return error;
}

static void close_delay(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_tasks_release(&state->tasks);
	free(state->list);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "how long the tasks waited for a CPU, by the scheduler's own clock",
	.needs = "/proc/PID/schedstat (CONFIG_SCHED_INFO)",
	.rate = ZM_RATE_BORDERS,
	.state_bytes = sizeof(struct state),
	.open = open_delay,
	.attach = attach_delay,
	.read = read_delay,
	.report = report_delay,
	.close = close_delay,
};
