/*
 * exits: the processes that ended, of all of the machine, and what each of its compilers came to.
 *
 *     exits.processes            count
 *     exits.faults, .switches    of all of them, counts
 *     exits.compiler.faults      a histogram over compilers: cc1, clang and their like
 *     exits.compiler.peak_rss
 *
 * The report has them as rates, medians and 95th percentiles. A task that is a thread is counted with
 * what it did, and is no process.
 */
#include <errno.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/taskexit.h"
#include "runner/monitors/window.h"
#include "workloads/base/hist.h"

enum { PROCESSES, FAULTS, SWITCHES, USER, SYSTEM, COMPILERS, NR_COUNTS };
enum { COMPILER_FAULTS, COMPILER_RSS, NR_HISTS };

static const struct {
	const char *metric, *unit;
} counts[NR_COUNTS] = {
	[PROCESSES] = { "exits.processes", "processes" },
	[FAULTS] = { "exits.faults", "faults" },
	[SWITCHES] = { "exits.switches", "switches" },
	[USER] = { "exits.user_us", "us" },
	[SYSTEM] = { "exits.system_us", "us" },
	[COMPILERS] = { "exits.compilers", "processes" },
};

static const char *const hists[NR_HISTS] = {
	[COMPILER_FAULTS] = "exits.compiler.faults",
	[COMPILER_RSS] = "exits.compiler.peak_rss",
};

#define ROW(text, of, what)                                                                        \
	{                                                                                          \
		.name = text, .unit = of, .kind = ZM_GAUGE, .better = ZM_BETTER_NEITHER,           \
		.summary = what                                                                    \
	}

static const struct zm_metric rates[] = {
	ROW("exits.processes", "processes/s", "processes that ended"),
	ROW("exits.faults", "faults/s", "page faults of the processes that ended"),
	ROW("exits.switches", "switches/s", "context switches of the processes that ended"),
};

static const struct zm_metric median[NR_HISTS] = {
	ROW("exits.compiler.faults_median", "faults", "page faults of the median compiler"),
	ROW("exits.compiler.peak_rss_median", "kB", "most resident memory of the median compiler"),
};

static const struct zm_metric tail[NR_HISTS] = {
	ROW("exits.compiler.faults_95%", "faults",
	    "page faults that 95 of 100 compilers keep below"),
	ROW("exits.compiler.peak_rss_95%", "kB",
	    "resident memory that 95 of 100 compilers keep below"),
};

static const struct zm_metric shares[] = {
	ROW("exits.system%", "%", "system time of the CPU time of the processes that ended"),
	ROW("exits.compilers", "processes/s", "compilers that ended"),
};

struct state {
	struct zm_taskexits exits;
	uint64_t counts[NR_COUNTS];
	struct zm_hist hists[NR_HISTS], first[NR_HISTS], last[NR_HISTS];
	uint32_t count_series[NR_COUNTS], hist_series[NR_HISTS];
	struct zm_window_figure figures[NR_COUNTS];
	enum zm_phase phase; /* of the last reading */
	bool has_first, has_last;
};

static int declare(struct zm_monitor_context *context, const char *metric, const char *unit,
		   enum zm_kind kind, uint32_t *ret_series)
{
	const struct zm_series_desc desc = {
		.source = context->monitor->name, .metric = metric, .unit = unit, .kind = kind
	};

	return zm_recorder_series(context->recorder, &desc, ret_series);
}

static int open_exits(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int r = zm_taskexits_open(&state->exits, context->root, why);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < NR_COUNTS; i++)
		r = declare(context, counts[i].metric, counts[i].unit, ZM_COUNT,
			    &state->count_series[i]);
	for (size_t i = 0; r == 0 && i < NR_HISTS; i++) {
		zm_hist_init(&state->hists[i]);
		r = declare(context, hists[i], i == COMPILER_RSS ? "kB" : "faults", ZM_HIST,
			    &state->hist_series[i]);
	}
	return r < 0 ? zm_why_errno(why, r, "the series of ended processes") : 0;
}

static bool is_compiler(const char *comm)
{
	static const char *const names[] = { "cc1",   "cc1plus", "cc1obj", "f951",
					     "clang", "rustc",   "go1" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(comm, names[i]) == 0)
			return true;
	}
	return false;
}

static void add_task(void *context, const struct zm_taskexit *task)
{
	struct state *state = context;

	state->counts[PROCESSES] += task->tid == task->tgid;
	state->counts[FAULTS] += task->faults;
	state->counts[SWITCHES] += task->switches;
	state->counts[USER] += task->user_us;
	state->counts[SYSTEM] += task->system_us;
	if (!is_compiler(task->comm))
		return;
	state->counts[COMPILERS]++;
	zm_hist_add(&state->hists[COMPILER_FAULTS], task->faults, 1);
	zm_hist_add(&state->hists[COMPILER_RSS], task->peak_rss_kb, 1);
}

/* The histograms as they were when the window began, and when it ended. */
static void keep_ends(struct state *state, enum zm_phase phase)
{
	if (phase == ZM_PHASE_MEASURE && !state->has_first) {
		memcpy(state->first, state->hists, sizeof(state->first));
		state->has_first = true;
	}
	if (phase == ZM_PHASE_STOP && !state->has_last) {
		memcpy(state->last, state->hists, sizeof(state->last));
		state->has_last = true;
	}
}

static int read_exits(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint64_t nr_lost = state->exits.nr_lost;
	int r = zm_taskexits_fetch(&state->exits, add_task, state);
	uint32_t flags = r < 0 || state->exits.nr_lost != nr_lost ? (uint32_t)ZM_FLAG_LOST : 0;
	bool is_border = context->phase != state->phase;

	for (size_t i = 0; i < NR_COUNTS; i++) {
		zm_recorder_put_u64(context->recorder, state->count_series[i], t_ns,
				    state->counts[i], flags);
		zm_window_feed(&state->figures[i], context->phase, t_ns, (double)state->counts[i]);
	}
	for (size_t i = 0; is_border && i < NR_HISTS; i++)
		zm_recorder_put_hist(context->recorder, state->hist_series[i], t_ns,
				     &state->hists[i], flags);
	keep_ends(state, context->phase);
	state->phase = context->phase;
	return r;
}

static double delta(const struct state *state, size_t which)
{
	double value = 0;

	return zm_window_delta(&state->figures[which], &value) ? value : 0;
}

static int report_rates(const struct state *state, uint64_t width_ns, struct zm_report *report)
{
	double seconds = (double)width_ns / 1e9;
	double cpu_us = delta(state, USER) + delta(state, SYSTEM);
	int r = 0;

	for (size_t i = PROCESSES; r == 0 && i <= SWITCHES; i++)
		r = zm_report_add(report, &rates[i], delta(state, i) / seconds, delta(state, i),
				  width_ns);
	if (r == 0 && cpu_us > 0)
		r = zm_report_add(report, &shares[0], 100 * delta(state, SYSTEM) / cpu_us,
				  delta(state, SYSTEM), width_ns);
	return r == 0 ? zm_report_add(report, &shares[1], delta(state, COMPILERS) / seconds,
				      delta(state, COMPILERS), width_ns)
		      : r;
}

static int report_hists(struct state *state, uint64_t width_ns, struct zm_report *report)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < NR_HISTS; i++) {
		struct zm_hist *hist = &state->last[i];

		zm_hist_subtract(hist, &state->first[i]);
		if (hist->count == 0)
			continue;
		r = zm_report_add(report, &median[i], zm_hist_quantile(hist, 0.5),
				  (double)hist->count, width_ns);
		if (r == 0)
			r = zm_report_add(report, &tail[i], zm_hist_quantile(hist, 0.95),
					  (double)hist->count, width_ns);
	}
	return r;
}

static int report_exits(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			struct zm_report *report)
{
	struct state *state = context->state;
	int r;

	if (!zm_window_is_whole(&state->figures[0], t0_ns, t1_ns) || !state->has_first ||
	    !state->has_last)
		return zm_window_say_absent(context);
	r = report_rates(state, t1_ns - t0_ns, report);
	return r == 0 ? report_hists(state, t1_ns - t0_ns, report) : r;
}

static void close_exits(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_taskexits_close(&state->exits);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the processes that ended, and the compilers among them one by one",
	.needs = "taskstats (CONFIG_TASKSTATS), root",
	.rate = ZM_RATE_NORMAL,
	.is_extra = true,
	.state_bytes = sizeof(struct state),
	.open = open_exits,
	.read = read_exits,
	.report = report_exits,
	.close = close_exits,
};
