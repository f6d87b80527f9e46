/*
 * perf-stat: the hardware's and the kernel's events of all tasks on all CPUs.
 *
 *     perf-stat.cycles  perf-stat.page-faults  …     counts, scaled for the time they were not counted
 *
 * A counter that has to share the hardware with others runs part of the time: each reading's increase is
 * scaled by the time that it was enabled over the time that it ran, so the sum keeps rising. The report
 * gives the robot's rates and ratios: perf-stat.ps.EVENT, perf-stat.overall.ipc, cache-miss-rate%…
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/monitor.h"
#include "runner/monitors/perf.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

enum event {
	CPU_CLOCK,
	CONTEXT_SWITCHES,
	CPU_MIGRATIONS,
	PAGE_FAULTS,
	MINOR_FAULTS,
	MAJOR_FAULTS,
	CYCLES,
	INSTRUCTIONS,
	CACHE_REFERENCES,
	CACHE_MISSES,
	BRANCHES,
	BRANCH_MISSES,
	DTLB_LOADS,
	DTLB_LOAD_MISSES,
	NODE_LOADS,
	NODE_LOAD_MISSES,
	NR_EVENTS,
};

#define IS_HARDWARE(event) ((event) >= CYCLES)

#define CACHE(cache, result)                                                                       \
	((uint64_t)PERF_COUNT_HW_CACHE_##cache | (uint64_t)PERF_COUNT_HW_CACHE_OP_READ << 8 |      \
	 (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[NR_EVENTS] = {
	[CPU_CLOCK] = { "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	[CONTEXT_SWITCHES] = { "context-switches", PERF_TYPE_SOFTWARE,
			       PERF_COUNT_SW_CONTEXT_SWITCHES },
	[CPU_MIGRATIONS] = { "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	[PAGE_FAULTS] = { "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	[MINOR_FAULTS] = { "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	[MAJOR_FAULTS] = { "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	[CYCLES] = { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	[INSTRUCTIONS] = { "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	[CACHE_REFERENCES] = { "cache-references", PERF_TYPE_HARDWARE,
			       PERF_COUNT_HW_CACHE_REFERENCES },
	[CACHE_MISSES] = { "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	[BRANCHES] = { "branch-instructions", PERF_TYPE_HARDWARE,
		       PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	[BRANCH_MISSES] = { "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	[DTLB_LOADS] = { "dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(DTLB, ACCESS) },
	[DTLB_LOAD_MISSES] = { "dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, MISS) },
	[NODE_LOADS] = { "node-loads", PERF_TYPE_HW_CACHE, CACHE(NODE, ACCESS) },
	[NODE_LOAD_MISSES] = { "node-load-misses", PERF_TYPE_HW_CACHE, CACHE(NODE, MISS) },
};

/* One event on one CPU. */
struct counter {
	int fd;
	uint64_t value, enabled_ns, running_ns; /* as last read */
	double scaled;
};

struct one_event {
	struct counter *counters; /* as many as there are CPUs; NULL: it cannot be had */
	uint32_t series;
	bool has_run;
	struct zm_window_figure window;
};

struct state {
	size_t nr_cpus;
	struct one_event list[NR_EVENTS];
};

/* --- opening ----------------------------------------------------------------------------------- */

static int open_event(struct zm_monitor_context *context, enum event which,
		      const struct zm_cpuset *online)
{
	struct state *state = context->state;
	struct one_event *event = &state->list[which];
	size_t nr = 0;
	int error = 0;

	event->counters = calloc(state->nr_cpus, sizeof(*event->counters));
	if (!event->counters)
		return -ENOMEM;
	for (size_t i = 0; i < state->nr_cpus; i++)
		event->counters[i].fd = -1;
	zm_cpuset_for_each (cpu, online) {
		struct perf_event_attr attr = {
			.type = events[which].type,
			.config = events[which].config,
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
	event->counters = NULL;
}

static int declare(struct zm_monitor_context *context, enum event which)
{
	struct state *state = context->state;
	char metric[64];
	const struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.unit = which == CPU_CLOCK ? "ns" : "events",
		.kind = ZM_COUNT,
	};

	(void)snprintf(metric, sizeof(metric), "perf-stat.%s", events[which].name);
	return zm_recorder_series(context->recorder, &desc, &state->list[which].series);
}

/* Events that cannot be had: the hardware's first one speaks for all that share its reason; the misses
 * speak for the documents' column. */
static int say_absent(struct zm_monitor_context *context, enum event which, int error,
		      int *first_error, struct zm_why *why)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "perf-stat.%s",
		       which == CACHE_MISSES ? "overall.cache-miss-rate%" : events[which].name);
	(void)zm_perf_why(why, error, name);
	if (IS_HARDWARE(which) && which != CACHE_MISSES && *first_error == error)
		return 0;
	if (IS_HARDWARE(which))
		*first_error = error;
	return zm_recorder_absent(context->recorder, name, why->text);
}

static int open_stat(struct zm_monitor_context *context, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset online = { 0 };
	struct state *state = context->state;
	unsigned int nr_open = 0;
	int error = zm_perf_check(context, why), first_error = 0;

	if (error)
		return error;
	error = zm_sysroot_read_cpuset(context->root, "sys/devices/system/cpu/online", &online);
	if (error)
		return zm_why_errno(why, error, "/sys/devices/system/cpu/online");
	state->nr_cpus = zm_cpuset_count(&online);
	for (enum event which = 0; !error && which < NR_EVENTS; which++) {
		int refused = open_event(context, which, &online);

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

/* --- reading ----------------------------------------------------------------------------------- */

/* Reads one counter; its increase, scaled, is added up. */
static int advance(struct counter *counter, bool *has_run)
{
	uint64_t now[3]; /* value, enabled, running */
	double value, enabled, running;

	if (read(counter->fd, now, sizeof(now)) != sizeof(now))
		return errno ? -errno : -EIO;
	value = (double)(now[0] - counter->value);
	enabled = (double)(now[1] - counter->enabled_ns);
	running = (double)(now[2] - counter->running_ns);
	if (running > 0) {
		counter->scaled += enabled > running ? value * enabled / running : value;
		*has_run = true;
	}
	counter->value = now[0];
	counter->enabled_ns = now[1];
	counter->running_ns = now[2];
	return 0;
}

static int read_event(struct zm_monitor_context *context, struct one_event *event, uint64_t t_ns)
{
	const struct state *state = context->state;
	double sum = 0;
	int error = 0;

	for (size_t i = 0; !error && i < state->nr_cpus; i++) {
		error = advance(&event->counters[i], &event->has_run);
		sum += event->counters[i].scaled;
	}
	if (error || !event->has_run) /* not counted yet: no figure, and not 0 */
		return error;
	zm_recorder_put_u64(context->recorder, event->series, t_ns, (uint64_t)sum, 0);
	zm_window_feed(&event->window, context->phase, t_ns, sum);
	return 0;
}

static int read_stat(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	int first_error = 0;

	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		int error =
			state->list[i].counters ? read_event(context, &state->list[i], t_ns) : 0;

		if (error && !first_error)
			first_error = error;
	}
	return first_error;
}

/* --- the report -------------------------------------------------------------------------------- */

static const struct ratio {
	enum event over, under;
	double factor;
	struct zm_metric metric;
} ratios[] = {
	{ INSTRUCTIONS, CYCLES, 1, { .name = "perf-stat.overall.ipc", .unit = "instructions" } },
	{ CYCLES, INSTRUCTIONS, 1, { .name = "perf-stat.overall.cpi", .unit = "cycles" } },
	{ CACHE_MISSES,
	  CACHE_REFERENCES,
	  100,
	  { .name = "perf-stat.overall.cache-miss-rate%", .unit = "%" } },
	{ CACHE_MISSES,
	  INSTRUCTIONS,
	  1000,
	  { .name = "perf-stat.overall.MPKI", .unit = "misses" } },
	{ BRANCH_MISSES,
	  BRANCHES,
	  100,
	  { .name = "perf-stat.overall.branch-miss-rate%", .unit = "%" } },
	{ DTLB_LOAD_MISSES,
	  DTLB_LOADS,
	  100,
	  { .name = "perf-stat.overall.dTLB-load-miss-rate%", .unit = "%" } },
	{ NODE_LOAD_MISSES,
	  NODE_LOADS,
	  100,
	  { .name = "perf-stat.overall.node-load-miss-rate%", .unit = "%" } },
};

/* The event's count in the window; false when it was not counted from border to border. */
static bool window_count(const struct state *state, enum event which, uint64_t t0_ns,
			 uint64_t t1_ns, double *ret_count)
{
	const struct one_event *event = &state->list[which];

	return event->counters && zm_window_is_whole(&event->window, t0_ns, t1_ns) &&
	       zm_window_delta(&event->window, ret_count);
}

static int report_rates(const struct state *state, uint64_t t0_ns, uint64_t t1_ns,
			struct zm_report *report)
{
	int error = 0;

	for (enum event which = 0; !error && which < NR_EVENTS; which++) {
		const struct zm_window_figure *window = &state->list[which].window;
		char name[64];
		const struct zm_metric metric = { .name = name,
						  .unit = which == CPU_CLOCK ? "ns/s"
									     : "events/s" };
		double count;

		if (!window_count(state, which, t0_ns, t1_ns, &count))
			continue;
		(void)snprintf(name, sizeof(name), "perf-stat.ps.%s", events[which].name);
		error = zm_report_add(report, &metric,
				      count * (double)ZM_NS_PER_S /
					      (double)(window->t1_ns - window->t0_ns),
				      count, window->t1_ns - window->t0_ns);
	}
	return error;
}

static int report_stat(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
		       struct zm_report *report)
{
	static const struct zm_metric total = { .name = "perf-stat.total.instructions",
						.unit = "events" };
	const struct state *state = context->state;
	double over, under;
	int error;

	if (!zm_window_is_whole(&state->list[CPU_CLOCK].window, t0_ns, t1_ns))
		return zm_window_say_absent(context);
	error = report_rates(state, t0_ns, t1_ns, report);
	for (size_t i = 0; !error && i < sizeof(ratios) / sizeof(ratios[0]); i++)
		if (window_count(state, ratios[i].over, t0_ns, t1_ns, &over) &&
		    window_count(state, ratios[i].under, t0_ns, t1_ns, &under) && under > 0)
			error = zm_report_add(report, &ratios[i].metric,
					      ratios[i].factor * over / under, over, t1_ns - t0_ns);
	if (!error && window_count(state, INSTRUCTIONS, t0_ns, t1_ns, &over))
		error = zm_report_add(report, &total, over, over, t1_ns - t0_ns);
	return error;
}

static void close_stat(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	for (unsigned int i = 0; i < NR_EVENTS; i++)
		close_event(state, &state->list[i]);
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
