/*
 * null: measures the harness.
 *
 * An operation is one turn of an empty loop, so whatever the figure is made of beyond that turn is
 * the harness's own: its loop over steps, its counters, and what disturbs the tasks (monitors,
 * other load, placement). With step_ops=1, the preset, every operation is a step of its own, and
 * ns_per_op is what one round of the harness costs a task; with a large step_ops that cost is
 * spread until only the empty turn is left.
 */
#include <errno.h>
#include <stddef.h>

#include "workloads/worker.h"

#define STEPS_AT_ONCE UINT64_C(1048576)

struct null_options {
	uint64_t step_ops;
};

static const struct zm_option options[] = {
	{ .name = "step_ops",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct null_options, step_ops),
	  .preset = "1",
	  .min = 1,
	  .max = STEPS_AT_ONCE,
	  .unit = "operations",
	  .help = "operations done in one step of the harness" },
	{ .name = NULL },
};

enum { METRIC_THROUGHPUT, METRIC_NS_PER_OP, METRIC_NS_PER_STEP };

static const struct zm_metric metrics[] = {
	[METRIC_THROUGHPUT] = { .name = "null.throughput",
				.unit = "ops/s",
				.kind = ZM_GAUGE,
				.better = ZM_BETTER_MORE,
				.is_primary = true,
				.summary = "empty operations of all tasks per second" },
	[METRIC_NS_PER_OP] = { .name = "null.ns_per_op",
			       .unit = "ns",
			       .kind = ZM_GAUGE,
			       .better = ZM_BETTER_LESS,
			       .summary = "a task's time per empty operation" },
	[METRIC_NS_PER_STEP] = { .name = "null.ns_per_step",
				 .unit = "ns",
				 .kind = ZM_GAUGE,
				 .better = ZM_BETTER_LESS,
				 .summary = "a task's time per step: the harness's round and "
					    "step_ops empty operations" },
	{ .name = NULL },
};

static int64_t step(struct zm_task *task, uint64_t n)
{
	const struct null_options *chosen = task->run->options;
	uint64_t todo = n < chosen->step_ops ? n : chosen->step_ops;

	for (uint64_t i = 0; i < todo; i++)
		__asm__ volatile("");
	return (int64_t)todo;
}

static int report(const struct zm_window *window, struct zm_report *report)
{
	const struct null_options *chosen = window->run->options;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	uint64_t ops = zm_window_ops(window);

	if (ops == 0)
		return -ENODATA;

	double ns_per_op = (double)interval_ns * window->run->nr_tasks / (double)ops;
	const double values[] = {
		[METRIC_THROUGHPUT] = zm_window_rate(window, ops),
		[METRIC_NS_PER_OP] = ns_per_op,
		[METRIC_NS_PER_STEP] = ns_per_op * (double)chosen->step_ops,
	};
	for (size_t i = 0; metrics[i].name; i++) {
		int r = zm_report_add(report, &metrics[i], values[i], (double)ops, interval_ns);

		if (r < 0)
			return r;
	}
	return 0;
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "does nothing, in steps: measures the harness itself",
	.op = "operation",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = options,
	.options_size = sizeof(struct null_options),
	.metrics = metrics,
	.batch = STEPS_AT_ONCE,
	.step = step,
	.report = report,
};
