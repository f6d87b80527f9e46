/* wis: five rows, of which a run has three, and the sum they come from. */
#include "faultload/wis.h"

#include <stddef.h>

enum { ALL_PROCESSES, ALL_THREADS, PER_PROCESS, PER_THREAD, WORKLOAD };

#define ROW(metric, of, what, mask, primary)                                                       \
	{                                                                                          \
		.name = "will-it-scale." metric, .unit = of, .kind = ZM_GAUGE,                     \
		.better = ZM_BETTER_MORE, .is_primary = primary, .summary = what, .kinds = mask    \
	}

#define ROWS(of)                                                                                   \
	[ALL_PROCESSES] =                                                                          \
		ROW("{n}.processes", of, "all processes together", ZM_TASK_PROCESS, false),        \
	[ALL_THREADS] = ROW("{n}.threads", of, "all threads together", ZM_TASK_THREAD, false),     \
	[PER_PROCESS] =                                                                            \
		ROW("per_process_ops", of, "a process, on average", ZM_TASK_PROCESS, true),        \
	[PER_THREAD] = ROW("per_thread_ops", of, "a thread, on average", ZM_TASK_THREAD, true),    \
	[WORKLOAD] = ROW("workload", of, "all tasks together, in either mode", 0, false)

const struct zm_metric zm_wis_page_metrics[] = { ROWS("pages/s"), { .name = NULL } };
const struct zm_metric zm_wis_metrics[] = { ROWS("ops/s"), { .name = NULL } };

int zm_wis_report(const struct zm_window *window, struct zm_report *report)
{
	const struct zm_run *run = window->run;
	const struct zm_metric *metrics = run->workload->metrics;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	uint64_t ops = zm_window_ops(window);

	for (unsigned int i = 0; metrics[i].name; i++) {
		double rate = zm_window_rate(window, ops);
		int r;

		if (!zm_metric_is_for(&metrics[i], run->kind))
			continue;
		if (i == PER_PROCESS || i == PER_THREAD)
			rate /= run->nr_tasks;
		r = zm_report_add(report, &metrics[i], rate, (double)ops, interval_ns);
		if (r < 0)
			return r;
	}
	return 0;
}
