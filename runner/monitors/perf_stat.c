/*
 * perf-stat: the hardware's and the kernel's events of all tasks on all CPUs.
 *
 *     perf-stat.cpu-cycles  perf-stat.page-faults  …     counts of the machine
 *     perf-stat.socket0.…   perf-stat.node1.…            of a socket or node, where there are several
 *
 * Counts are scaled for the time they were not counted (perfevent.h), so the sums keep rising. The report
 * gives the robot's figures: perf-stat.ps.EVENT, the rate over the window; perf-stat.i.EVENT, the mean of
 * its intervals' rates; perf-stat.overall.RATIO and perf-stat.i.RATIO of the same; perf-stat.total.
 * instructions, and perf-stat.overall.path-length, instructions for an operation of the workload.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/monitor.h"
#include "runner/monitors/cpugroup.h"
#include "runner/monitors/perf.h"
#include "runner/monitors/perfevent.h"
#include "runner/monitors/window.h"
#include "runner/report.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

#define NAME_SIZE 96

/* One event on one CPU. */
struct counter {
	int fd;
	struct zm_perfcount last;
	double scaled;
};

/* An event's sum over the machine, or over a group of CPUs. */
struct sum {
	uint32_t series;
	double value; /* as last read */
	struct zm_window_figure window;
};

struct one_event {
	struct counter *counters; /* one per CPU; NULL: the event cannot be had */
	struct sum *sums;         /* the machine's, then one per group */
	bool has_run;
};

/* The mean over the window's intervals, whatever their length. */
struct means {
	uint64_t t_ns,
		width_ns; /* of the last reading that ended an interval, and of that interval */
	double last[ZM_PERFEVENT_NR];
	double rates[ZM_PERFEVENT_NR], ratios[ZM_PERFRATIO_NR];
	unsigned int nr_rates, nr_ratios[ZM_PERFRATIO_NR];
};

struct state {
	struct zm_cpuset online;
	struct zm_cpugroups groups;
	size_t nr_cpus;
	struct one_event list[ZM_PERFEVENT_NR];
	struct means means;
};

/* --- opening ----------------------------------------------------------------------------------- */

static int open_event(struct state *state, enum zm_perfevent which)
{
	struct one_event *event = &state->list[which];
	size_t nr = 0;
	int error = 0;

	event->sums = calloc(1 + state->groups.nr, sizeof(*event->sums));
	event->counters = calloc(state->nr_cpus, sizeof(*event->counters));
	if (!event->counters || !event->sums)
		return -ENOMEM;
	for (size_t i = 0; i < state->nr_cpus; i++)
		event->counters[i].fd = -1;
	zm_cpuset_for_each (cpu, &state->online) {
		struct perf_event_attr attr = {
			.type = zm_perfevents[which].type,
			.config = zm_perfevents[which].config,
			.read_format =
				PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		};

		if (error)
			break;
		event->counters[nr].fd = zm_perf_open(&attr, cpu);
		error = event->counters[nr].fd < 0 ? event->counters[nr].fd : 0;
		nr++;
	}
	return error;
}

static void close_event(struct state *state, struct one_event *event)
{
	for (size_t i = 0; event->counters && i < state->nr_cpus; i++)
		if (event->counters[i].fd >= 0)
			(void)close(event->counters[i].fd);
	free(event->counters);
	free(event->sums);
	event->counters = NULL;
	event->sums = NULL;
}

/* "perf-stat.socket0.page-faults": a group's name, or nothing for the machine, stands in the middle. */
static void name_figure(char *name, const struct zm_cpugroup *group, const char *family,
			const char *what)
{
	(void)snprintf(name, NAME_SIZE, "perf-stat.%s%s%s%s%s", group ? group->name : "",
		       group ? "." : "", family, *family ? "." : "", what);
}

static const struct zm_cpugroup *group_of(const struct state *state, size_t sum)
{
	return sum > 0 ? &state->groups.list[sum - 1] : NULL;
}

static int declare(struct zm_monitor_context *context, enum zm_perfevent which)
{
	struct state *state = context->state;
	int error = 0;

	for (size_t i = 0; !error && i <= state->groups.nr; i++) {
		const struct zm_cpugroup *group = group_of(state, i);
		char metric[NAME_SIZE];
		const struct zm_series_desc desc = {
			.source = context->monitor->name,
			.metric = metric,
			.unit = which == ZM_PERFEVENT_CPU_CLOCK ? "ns" : "events",
			.kind = ZM_COUNT,
			.scope = group ? group->scope : ZM_SCOPE_HOST,
			.scope_id = group && group->scope == ZM_SCOPE_NODE ? group->id : 0,
		};

		name_figure(metric, group, "", zm_perfevents[which].name);
		error = zm_recorder_series(context->recorder, &desc,
					   &state->list[which].sums[i].series);
	}
	return error;
}

/* Events that cannot be had: the hardware's first one speaks for all that share its reason; the misses
 * speak for the documents' column. */
static int say_absent(struct zm_monitor_context *context, enum zm_perfevent which, int error,
		      int *first_error, struct zm_why *why)
{
	bool is_column = which == ZM_PERFEVENT_CACHE_MISSES;
	char name[NAME_SIZE];

	name_figure(name, NULL, is_column ? "overall" : "",
		    is_column ? "cache-miss-rate%" : zm_perfevents[which].name);
	(void)zm_perf_why(why, error, name);
	if (zm_perfevent_is_hardware(which) && !is_column && *first_error == error)
		return 0;
	if (zm_perfevent_is_hardware(which))
		*first_error = error;
	return zm_recorder_absent(context->recorder, name, why->text);
}

static int open_events(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	unsigned int nr_open = 0;
	int error = 0, first_error = 0;

	for (enum zm_perfevent which = 0; !error && which < ZM_PERFEVENT_NR; which++) {
		int refused = open_event(state, which);

		if (refused) {
			close_event(state, &state->list[which]);
			error = say_absent(context, which, refused, &first_error, why);
			continue;
		}
		error = declare(context, which);
		nr_open++;
	}
	if (error)
		return zm_why_errno(why, error, "perf-stat");
	return nr_open ? 0 : -ENOTSUP; /* and why holds the last reason */
}

static int open_stat(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_perf_check(context, why);

	if (error)
		return error;
	error = zm_sysroot_read_cpuset(context->root, "sys/devices/system/cpu/online",
				       &state->online);
	if (error)
		return zm_why_errno(why, error, "/sys/devices/system/cpu/online");
	state->nr_cpus = zm_cpuset_count(&state->online);
	error = zm_cpugroups_read(&state->groups, context->root, &state->online);
	return error ? zm_why_errno(why, error, "perf-stat") : open_events(context, why);
}

/* --- reading ----------------------------------------------------------------------------------- */

/* Reads one counter; its rise, scaled, is added up. */
static int advance(struct counter *counter, bool *has_run)
{
	struct zm_perfcount now; /* as the kernel writes it */
	bool has_run_now;

	if (read(counter->fd, &now, sizeof(now)) != (ssize_t)sizeof(now))
		return errno ? -errno : -EIO;
	counter->scaled += zm_perfcount_rise(&counter->last, &now, &has_run_now);
	counter->last = now;
	*has_run |= has_run_now;
	return 0;
}

static void sum_up(const struct state *state, struct one_event *event)
{
	size_t at = 0;

	for (size_t i = 0; i <= state->groups.nr; i++)
		event->sums[i].value = 0;
	zm_cpuset_for_each (cpu, &state->online) {
		double scaled = event->counters[at++].scaled;

		event->sums[0].value += scaled;
		for (size_t i = 0; i < state->groups.nr; i++)
			if (zm_cpuset_has(&state->groups.list[i].cpus, (unsigned int)cpu))
				event->sums[1 + i].value += scaled;
	}
}

static int read_event(struct zm_monitor_context *context, struct one_event *event, uint64_t t_ns)
{
	const struct state *state = context->state;
	int error = 0;

	for (size_t i = 0; !error && i < state->nr_cpus; i++)
		error = advance(&event->counters[i], &event->has_run);
	if (error || !event->has_run) /* not counted yet: no figure, and not 0 */
		return error;
	sum_up(state, event);
	for (size_t i = 0; i <= state->groups.nr; i++) {
		struct sum *sum = &event->sums[i];

		zm_recorder_put_u64(context->recorder, sum->series, t_ns, (uint64_t)sum->value, 0);
		zm_window_feed(&sum->window, context->phase, t_ns, sum->value);
	}
	return 0;
}

static bool is_counted(const struct state *state, enum zm_perfevent which)
{
	return state->list[which].counters && state->list[which].has_run;
}

static void end_interval(struct state *state, uint64_t width_ns)
{
	struct means *means = &state->means;
	double rises[ZM_PERFEVENT_NR] = { 0 };

	for (enum zm_perfevent i = 0; i < ZM_PERFEVENT_NR; i++) {
		if (!is_counted(state, i))
			continue;
		rises[i] = state->list[i].sums[0].value - means->last[i];
		means->rates[i] += rises[i] * (double)ZM_NS_PER_S / (double)width_ns;
	}
	for (size_t i = 0; i < ZM_PERFRATIO_NR; i++) {
		const struct zm_perfratio *ratio = &zm_perfratios[i];

		if (!is_counted(state, ratio->over) || rises[ratio->under] <= 0)
			continue;
		means->ratios[i] += ratio->factor * rises[ratio->over] / rises[ratio->under];
		means->nr_ratios[i]++;
	}
	means->nr_rates++;
}

/* An interval that a border cut short (under half of the one before) would be noise: within the window it
 * goes on with the next, at its end it is left out. */
static void feed_means(struct state *state, enum zm_phase phase, uint64_t t_ns)
{
	struct means *means = &state->means;
	uint64_t width_ns = means->t_ns ? t_ns - means->t_ns : 0;
	bool is_measuring = phase == ZM_PHASE_MEASURE;

	if (!is_measuring && means->t_ns == 0)
		return;
	if (width_ns > 0 && width_ns >= means->width_ns / 2) {
		end_interval(state, width_ns);
		means->width_ns = width_ns;
	} else if (width_ns > 0 && is_measuring) {
		return;
	}
	for (enum zm_perfevent i = 0; i < ZM_PERFEVENT_NR; i++)
		means->last[i] = is_counted(state, i) ? state->list[i].sums[0].value : 0;
	means->t_ns = is_measuring ? t_ns : 0;
}

static int read_stat(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	int first_error = 0;

	for (unsigned int i = 0; i < ZM_PERFEVENT_NR; i++) {
		int error =
			state->list[i].counters ? read_event(context, &state->list[i], t_ns) : 0;

		if (error && !first_error)
			first_error = error;
	}
	if (!first_error)
		feed_means(state, context->phase, t_ns);
	return first_error;
}

/* --- the report -------------------------------------------------------------------------------- */

/* What came in the window; false when it was not counted from border to border. */
static bool window_count(const struct state *state, enum zm_perfevent which, size_t sum,
			 uint64_t t0_ns, uint64_t t1_ns, double *ret_count)
{
	const struct one_event *event = &state->list[which];

	return event->counters && zm_window_is_whole(&event->sums[sum].window, t0_ns, t1_ns) &&
	       zm_window_delta(&event->sums[sum].window, ret_count);
}

static int report_rates(const struct state *state, uint64_t t0_ns, uint64_t t1_ns,
			struct zm_report *report)
{
	const struct means *means = &state->means;
	int error = 0;

	for (enum zm_perfevent which = 0; !error && which < ZM_PERFEVENT_NR; which++) {
		char name[NAME_SIZE];
		const struct zm_metric metric = {
			.name = name, .unit = which == ZM_PERFEVENT_CPU_CLOCK ? "ns/s" : "events/s"
		};
		const struct zm_window_figure *window;
		double count;

		if (!window_count(state, which, 0, t0_ns, t1_ns, &count))
			continue;
		window = &state->list[which].sums[0].window;
		name_figure(name, NULL, "ps", zm_perfevents[which].name);
		error = zm_report_add(report, &metric,
				      count * (double)ZM_NS_PER_S /
					      (double)(window->t1_ns - window->t0_ns),
				      count, window->t1_ns - window->t0_ns);
		name_figure(name, NULL, "i", zm_perfevents[which].name);
		if (!error && means->nr_rates > 0)
			error = zm_report_add(report, &metric,
					      means->rates[which] / means->nr_rates, count,
					      t1_ns - t0_ns);
	}
	return error;
}

static int report_ratio(const struct state *state, size_t which, size_t sum, uint64_t t0_ns,
			uint64_t t1_ns, struct zm_report *report)
{
	const struct zm_perfratio *ratio = &zm_perfratios[which];
	const struct means *means = &state->means;
	char name[NAME_SIZE];
	const struct zm_metric metric = { .name = name, .unit = ratio->unit };
	double over, under;
	int error;

	if (!window_count(state, ratio->over, sum, t0_ns, t1_ns, &over) ||
	    !window_count(state, ratio->under, sum, t0_ns, t1_ns, &under) || under <= 0)
		return 0;
	name_figure(name, group_of(state, sum), "overall", ratio->name);
	error = zm_report_add(report, &metric, ratio->factor * over / under, over, t1_ns - t0_ns);
	if (error || sum > 0 || means->nr_ratios[which] == 0)
		return error;
	name_figure(name, NULL, "i", ratio->name);
	return zm_report_add(report, &metric, means->ratios[which] / means->nr_ratios[which], over,
			     t1_ns - t0_ns);
}

/* Instructions, also for each operation where the workload counts some. */
static int report_instructions(const struct state *state, uint64_t t0_ns, uint64_t t1_ns,
			       struct zm_report *report)
{
	static const struct zm_metric total = { .name = "perf-stat.total.instructions",
						.unit = "events" };
	static const struct zm_metric path_length = { .name = "perf-stat.overall.path-length",
						      .unit = "instructions" };
	double count, ops;
	int error;

	if (!window_count(state, ZM_PERFEVENT_INSTRUCTIONS, 0, t0_ns, t1_ns, &count))
		return 0;
	error = zm_report_add(report, &total, count, count, t1_ns - t0_ns);
	if (error || !zm_report_value(report, ZM_FIGURE_OPS, &ops) || ops <= 0)
		return error;
	return zm_report_add(report, &path_length, count / ops, count, t1_ns - t0_ns);
}

static int report_stat(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
		       struct zm_report *report)
{
	const struct state *state = context->state;
	const struct one_event *clock = &state->list[ZM_PERFEVENT_CPU_CLOCK];
	int error;

	if (clock->counters && !zm_window_is_whole(&clock->sums[0].window, t0_ns, t1_ns))
		return zm_window_say_absent(context);
	error = report_rates(state, t0_ns, t1_ns, report);
	for (size_t i = 0; !error && i < ZM_PERFRATIO_NR * (1 + state->groups.nr); i++)
		error = report_ratio(state, i % ZM_PERFRATIO_NR, i / ZM_PERFRATIO_NR, t0_ns, t1_ns,
				     report);
	return error ? error : report_instructions(state, t0_ns, t1_ns, report);
}

static void close_stat(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	for (unsigned int i = 0; i < ZM_PERFEVENT_NR; i++)
		close_event(state, &state->list[i]);
	zm_cpugroups_release(&state->groups);
	zm_cpuset_release(&state->online);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "events of the hardware and the kernel: cycles, cache misses, faults, switches",
	.needs = "perf events: CAP_PERFMON; a PMU for those of the hardware",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.is_extra = true,
	.open = open_stat,
	.read = read_stat,
	.report = report_stat,
	.close = close_stat,
};
