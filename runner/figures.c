/* figures: from the two borders of the measured window to results and notes. */
#include "runner/figures.h"

#include <errno.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

/* The two counts are not read at the same moment, and a task has a few faults of its own. */
#define RATIO_SLACK 0.02

#define ROW(n, u, text)                                                                            \
	{                                                                                          \
		.name = (n), .unit = (u), .kind = ZM_GAUGE, .summary = (text)                      \
	}

static const struct zm_metric rows[] = {
	ROW(ZM_FIGURE_OPS, "", "operations in the measured window"),
	ROW(ZM_FIGURE_TASK_FAULTS, "faults", "the tasks' own page faults, minor and major"),
	ROW(ZM_FIGURE_KERNEL_FAULTS, "faults", "page faults of the whole machine"),
	ROW(ZM_FIGURE_WITHIN, "%", "standard deviation of the window's intervals, of their mean"),
	ROW(ZM_FIGURE_STEAL, "%", "time the hypervisor took from the CPUs used"),
	ROW(ZM_FIGURE_OTHERS, "%", "other processes' share of the CPUs used"),
	ROW(ZM_FIGURE_THROTTLED, "%", "time a CPU quota held tasks back"),
	ROW(ZM_FIGURE_SKEW, "ns", "from the gate's opening to the last task's first operation"),
	ROW(ZM_FIGURE_IDLE_USED, "bytes", "used memory before the tasks were there"),
	ROW(ZM_FIGURE_PEAK_USED, "bytes", "most used memory"),
	ROW(ZM_FIGURE_DRAINED_USED, "bytes", "used memory after the tasks had gone"),
	{ .name = NULL },
};

static void add(struct zm_course *course, const char *name, double value, double count,
		uint64_t interval_ns)
{
	for (size_t i = 0; rows[i].name; i++) {
		if (strcmp(rows[i].name, name) == 0)
			(void)zm_report_add(&course->outcome->report, &rows[i], value, count,
					    interval_ns);
	}
}

static double sum_ops(const struct zm_window *window)
{
	double sum = 0;

	for (unsigned int i = 0; i < window->run->nr_tasks; i++)
		sum += (double)window->ops[i];
	return sum;
}

/* The three counts side by side, and whether they fit each other. */
static void add_faults(struct zm_course *course, const struct zm_window *window)
{
	const struct zm_workload *workload = course->cell->workload;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	double ops = sum_ops(window), faults = (double)window->task_faults;
	double least, most, ratio;

	add(course, ZM_FIGURE_OPS, ops, ops, interval_ns);
	if (window->has_task_faults)
		add(course, ZM_FIGURE_TASK_FAULTS, faults, faults, interval_ns);
	if (course->start.has_kernel_faults && course->end.has_kernel_faults) {
		double kernel = (double)(course->end.kernel_faults - course->start.kernel_faults);

		add(course, ZM_FIGURE_KERNEL_FAULTS, kernel, kernel, interval_ns);
	}
	if (!window->has_task_faults || !workload->expect_ops_per_fault ||
	    !workload->expect_ops_per_fault(window->run, &least, &most))
		return;
	ratio = faults > 0 ? ops / faults : 0;
	if (ratio < least * (1 - RATIO_SLACK) || ratio > most * (1 + RATIO_SLACK)) {
		char seen[32], low[32], high[32];

		zm_course_note(
			course, "ops-per-fault",
			"%s operations per page fault of the tasks, where %s to %s are "
			"expected: huge pages, large folios or other faults are in the figures",
			zm_units_human_count(seen, sizeof(seen), ratio),
			zm_units_human_count(low, sizeof(low), least),
			zm_units_human_count(high, sizeof(high), most));
	}
}

static void add_disturbance(struct zm_course *course, const struct zm_window *window)
{
	const struct zm_border *start = &course->start, *end = &course->end;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	const struct zm_tasktime tasks = { .cpu_ns = end->times.cpu_ns - start->times.cpu_ns +
						     end->kin_ns - start->kin_ns };
	bool is_known = window->has_task_faults && start->has_kin && end->has_kin;
	struct zm_disturb disturb;
	char what[160];

	zm_disturb_between(&start->disturb, &end->disturb, is_known ? &tasks : NULL, interval_ns,
			   &disturb);
	if (disturb.steal >= 0)
		add(course, ZM_FIGURE_STEAL, disturb.steal, 0, interval_ns);
	if (disturb.others >= 0)
		add(course, ZM_FIGURE_OTHERS, disturb.others, 0, interval_ns);
	if (disturb.throttled >= 0)
		add(course, ZM_FIGURE_THROTTLED, disturb.throttled, 0, interval_ns);
	if (zm_disturb_is_much(&disturb, what, sizeof(what)))
		zm_course_note(course, "disturbed", "%s", what);
}

/* From the gate's opening to each task's first operation; not known where a task counts by itself. */
static void add_skew(struct zm_course *course)
{
	uint64_t opened_ns = course->arena.control->gate.opened_ns;
	uint64_t last_ns = 0;

	for (unsigned int i = 0; i < course->arena.nr_tasks; i++) {
		const struct zm_slot *slot = zm_arena_slot(&course->arena, i);
		uint64_t first_ns = atomic_load_explicit(&slot->first_op_ns, memory_order_relaxed);

		if (first_ns < opened_ns)
			return;
		if (first_ns > last_ns)
			last_ns = first_ns;
	}
	add(course, ZM_FIGURE_SKEW, (double)(last_ns - opened_ns), 0, last_ns - opened_ns);
}

static void add_used_memory(struct zm_course *course)
{
	if (course->idle_used_bytes == 0)
		return;
	add(course, ZM_FIGURE_IDLE_USED, (double)course->idle_used_bytes, 0, 0);
	add(course, ZM_FIGURE_PEAK_USED, (double)course->memused.peak_bytes, 0, 0);
	add(course, ZM_FIGURE_DRAINED_USED, (double)course->drained_used_bytes, 0, 0);
}

static void note_reading_time(struct zm_course *course, const struct zm_window *window)
{
	uint64_t took_ns = course->start.took_ns + course->end.took_ns;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	char took[32];

	if (took_ns * 100 > interval_ns)
		zm_course_note(course, "slow-reading",
			       "reading all counters took %s of a window of %.2f s",
			       zm_units_human_ns(took, sizeof(took), (double)took_ns),
			       (double)interval_ns / 1e9);
}

/* A machine that stood still (a paused guest, a suspended process) leaves a window longer than asked. */
static void note_stretched(struct zm_course *course, const struct zm_window *window)
{
	uint64_t asked_ns = course->cell->options.runtime_ns;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;

	if (interval_ns > asked_ns + asked_ns / 10 + ZM_NS_PER_S / 2)
		zm_course_note(course, "stretched",
			       "the window lasted %.1f s instead of %.1f s: the machine, or this "
			       "process, stood still",
			       (double)interval_ns / 1e9, (double)asked_ns / 1e9);
}

static void add_own(struct zm_course *course, const struct zm_window *window)
{
	course->outcome->report.source = ZM_SOURCE_ENGINE;
	add_faults(course, window);
	add_disturbance(course, window);
	if (course->outcome->spread >= 0)
		add(course, ZM_FIGURE_WITHIN, course->outcome->spread, 0,
		    window->t1_ns - window->t0_ns);
	add_skew(course);
	add_used_memory(course);
	note_reading_time(course, window);
	note_stretched(course, window);
	if (!window->has_task_faults)
		(void)zm_recorder_absent(course->recorder, ZM_SERIES_TASK_FAULTS,
					 "a task's stat file in /proc could not be read");
}

static int report_workload(struct zm_course *course, const struct zm_window *window,
			   struct zm_why *why)
{
	const struct zm_workload *workload = course->cell->workload;
	struct zm_report *report = &course->outcome->report;
	int r;

	report->source = workload->name;
	r = workload->report ? workload->report(window, report) : 0;
	if (r < 0 && report->why.text[0])
		return zm_why_set(why, r, "%s", report->why.text);
	if (r < 0)
		return zm_why_errno(why, r, "reporting %s", workload->name);
	return zm_report_check(report, workload, course->cell->kind, why);
}

int zm_figures_derive(struct zm_course *course, struct zm_why *why)
{
	zm_autofree uint64_t *ops = NULL;
	struct zm_window window;
	int r = zm_border_window(&course->start, &course->end, &course->tally, &window, &ops);

	if (r < 0)
		return zm_why_errno(why, r, "deriving the figures");
	course->outcome->spread = zm_pace_spread(&course->pace);
	r = report_workload(course, &window, why);
	if (r < 0)
		return r;
	add_own(course, &window);
	zm_watch_report(&course->watch, window.t0_ns, window.t1_ns, &course->outcome->report);
	return 0;
}
