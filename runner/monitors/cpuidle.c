/*
 * cpuidle: how often and how long the CPUs were in each idle state, summed over all of them.
 *
 *     cpuidle.C1.usage   entries        cpuidle.C1.time   us
 *
 * A file per CPU, state and figure makes thousands of them on a large machine, so they are opened for
 * each reading, at phase borders only. Blanks in a state's name become '_'. The report gives the share of
 * the window that an average CPU spent in each state.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/fields.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

#define MAX_STATES 16
#define NAME_SIZE  32

enum figure {
	USAGE,
	TIME,
	NR_FIGURES,
};

struct idle_state {
	uint32_t series[NR_FIGURES];
	struct zm_window_figure time;
	char share_name[NAME_SIZE + 32];
};

struct state {
	struct zm_cpuset cpus;
	struct idle_state states[MAX_STATES];
	unsigned int nr_states;
};

static const char *const files[NR_FIGURES] = { "usage", "time" };
static const char *const units[NR_FIGURES] = { "events", "us" };

static int read_number(const struct zm_sysroot *root, int cpu, unsigned int state, const char *file,
		       uint64_t *ret_value)
{
	char path[128], text[64];
	uint32_t flags;
	size_t length;
	int error;

	(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpuidle/state%u/%s", cpu,
		       state, file);
	error = zm_sysroot_read_into(root, path, text, sizeof(text), &length);
	if (error)
		return error;
	return zm_fields_number(text, text + strcspn(text, "\n"), ret_value, &flags) ? 0 : -ENODATA;
}

/* The sum over the CPUs that have it; -ENOENT when none has. */
static int sum_cpus(const struct zm_monitor_context *context, unsigned int state,
		    enum figure figure, uint64_t *ret_sum)
{
	const struct state *own = context->state;
	uint64_t sum = 0, value;
	bool has_any = false;

	zm_cpuset_for_each (cpu, &own->cpus) {
		if (read_number(context->root, cpu, state, files[figure], &value))
			continue;
		sum += value;
		has_any = true;
	}
	if (!has_any)
		return -ENOENT;
	*ret_sum = sum;
	return 0;
}

static int read_name(const struct zm_monitor_context *context, int cpu, unsigned int state,
		     char *name, size_t size)
{
	char path[128];
	int error;

	(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpuidle/state%u/name", cpu,
		       state);
	error = zm_sysroot_read_line(context->root, path, name, size);
	for (char *blank = name; !error && (blank = strpbrk(blank, " \t"));)
		*blank = '_';
	return error;
}

static int declare_state(struct zm_monitor_context *context, const char *name)
{
	struct state *own = context->state;
	struct idle_state *state = &own->states[own->nr_states++];
	char metric[NAME_SIZE + 32];
	int error = 0;

	(void)snprintf(state->share_name, sizeof(state->share_name), "cpuidle.%s.time%%", name);
	for (unsigned int i = 0; !error && i < NR_FIGURES; i++) {
		const struct zm_series_desc desc = {
			.source = context->monitor->name,
			.metric = metric,
			.unit = units[i],
			.kind = ZM_COUNT,
		};

		(void)snprintf(metric, sizeof(metric), "cpuidle.%s.%s", name, files[i]);
		error = zm_recorder_series(context->recorder, &desc, &state->series[i]);
	}
	return error;
}

static int open_cpuidle(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	char name[NAME_SIZE];
	int error = zm_sysroot_list_numbered(context->root, "sys/devices/system/cpu", "cpu",
					     &state->cpus);
	int first = error ? -1 : zm_cpuset_next(&state->cpus, 0);

	while (!error && first >= 0 && state->nr_states < MAX_STATES &&
	       !read_name(context, first, state->nr_states, name, sizeof(name)))
		error = declare_state(context, name);
	if (error)
		return zm_why_errno(why, error, "/sys/devices/system/cpu");
	if (state->nr_states == 0)
		return zm_why_set(why, -ENOTSUP,
				  "/sys/devices/system/cpu/cpu*/cpuidle is not there: no idle "
				  "driver, as in most guests");
	return 0;
}

static int read_cpuidle(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *own = context->state;
	int first_error = 0;

	for (unsigned int i = 0; i < own->nr_states * NR_FIGURES; i++) {
		struct idle_state *state = &own->states[i / NR_FIGURES];
		enum figure figure = i % NR_FIGURES;
		uint64_t sum;
		int error = sum_cpus(context, i / NR_FIGURES, figure, &sum);

		first_error = first_error ? first_error : error;
		if (error)
			continue;
		zm_recorder_put_u64(context->recorder, state->series[figure], t_ns, sum, 0);
		if (figure == TIME)
			zm_window_feed(&state->time, context->phase, t_ns, (double)sum);
	}
	return first_error;
}

static int report_cpuidle(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			  struct zm_report *report)
{
	const struct state *own = context->state;
	double nr_cpus = (double)zm_cpuset_count(&own->cpus);
	double us;
	int error = 0;

	for (unsigned int i = 0; !error && i < own->nr_states; i++) {
		const struct zm_window_figure *time = &own->states[i].time;
		const struct zm_metric metric = { .name = own->states[i].share_name, .unit = "%" };
		uint64_t width_ns = time->t1_ns - time->t0_ns;

		if (!zm_window_is_whole(time, t0_ns, t1_ns))
			return zm_window_say_absent(context);
		if (width_ns > 0 && zm_window_delta(time, &us))
			error = zm_report_add(report, &metric,
					      100 * us * (double)ZM_NS_PER_US /
						      ((double)width_ns * nr_cpus),
					      us, width_ns);
	}
	return error;
}

static void close_cpuidle(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_cpuset_release(&state->cpus);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the CPUs' idle states: entries and time in each",
	.needs = "/sys/devices/system/cpu/cpu*/cpuidle",
	.rate = ZM_RATE_BORDERS,
	.state_bytes = sizeof(struct state),
	.open = open_cpuidle,
	.read = read_cpuidle,
	.report = report_cpuidle,
	.close = close_cpuidle,
};
