/*
 * skeleton: a workload to copy, with every member of the contract shown. workload.h says what each
 * means and who calls it; here is how it looks. It compiles, a test runs it, and no list shows it:
 * the build leaves the name `skeleton` out of the catalogue.
 *
 * To add a workload, copy this file to faultload/, netload/ or buildload/ under the new name, and
 * throw away what you don't need. Most workloads need half of it: page_fault1.c is a short one.
 *
 * What this one does: each task owns a buffer and adds one to its bytes, round and round.
 *
 *     prepare    the run's state is set up          (launcher, once)
 *     setup      a buffer                           (each task)
 *     step       n bytes further                    (each task, again and again)
 *     teardown   the buffer is checked and freed    (each task)
 *     verify     was any check wrong?               (launcher, once)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/worker.h"

/* What a user can choose. Plain memory, filled from the rows below; read-only in a run. */
struct skeleton_options {
	uint64_t size;
	unsigned int order; /* enum order */
};

enum order { ORDER_UP, ORDER_DOWN };

static const char *const orders[] = { "up", "down", NULL };

static const struct zm_option options[] = {
	{ .name = "size",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct skeleton_options, size),
	  .preset = "64K",
	  .min = 1,
	  .max = UINT64_C(1) << 30,
	  .unit = "bytes",
	  .help = "size of a task's buffer" },
	{ .name = "order",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct skeleton_options, order),
	  .preset = "up",
	  .choices = orders,
	  .help = "which end of the buffer comes first" },
	{ .name = NULL },
};

/* Raw counts beside the operations, kept per task: zm_task_count(task, COUNTER_ROUNDS, 1). */
enum { COUNTER_ROUNDS };

static const struct zm_metric counters[] = {
	[COUNTER_ROUNDS] = { .name = "skeleton.rounds",
			     .unit = "rounds",
			     .kind = ZM_COUNT,
			     .summary = "times a task came to the end of its buffer" },
	{ .name = NULL },
};

/* Histograms per task: zm_task_hist(task, HIST_STEP_OPS, value). */
enum { HIST_STEP_OPS };

static const struct zm_metric hists[] = {
	[HIST_STEP_OPS] = { .name = "skeleton.step_ops",
			    .unit = "bytes",
			    .kind = ZM_HIST,
			    .summary = "bytes written in one step" },
	{ .name = NULL },
};

/* What report() derives. "{n}" becomes the number of tasks; a row with `kinds` is for runs of those
 * kinds only; a row with is_primary is one that verdicts are given on. */
enum { METRIC_PROCESSES, METRIC_THREADS, METRIC_PER_TASK };

static const struct zm_metric metrics[] = {
	[METRIC_PROCESSES] = { .name = "skeleton.{n}.processes",
			       .unit = "bytes/s",
			       .kind = ZM_GAUGE,
			       .better = ZM_BETTER_MORE,
			       .is_primary = true,
			       .summary = "bytes written by all processes per second",
			       .kinds = ZM_TASK_PROCESS },
	[METRIC_THREADS] = { .name = "skeleton.{n}.threads",
			     .unit = "bytes/s",
			     .kind = ZM_GAUGE,
			     .better = ZM_BETTER_MORE,
			     .is_primary = true,
			     .summary = "bytes written by all threads per second",
			     .kinds = ZM_TASK_THREAD },
	[METRIC_PER_TASK] = { .name = "skeleton.per_task",
			      .unit = "bytes/s",
			      .kind = ZM_GAUGE,
			      .better = ZM_BETTER_MORE,
			      .summary = "a task's bytes per second, on average" },
	{ .name = NULL },
};

/* Shared by launcher and tasks, so what several write is atomic, and never written in step(). */
struct skeleton_run {
	uint8_t first;
	_Atomic uint64_t nr_checked;
	_Atomic uint64_t nr_wrong;
};

/* A task's own; zeroed before setup. */
struct skeleton_task {
	uint8_t *buffer;
	uint64_t cursor;
	uint64_t done;
};

/* Can it run here, with these options? Changes nothing, and may be asked at any time. */
static int check(const struct zm_run *run, struct zm_why *why)
{
	const struct skeleton_options *chosen = run->options;

	if (chosen->order == ORDER_DOWN && chosen->size % 2)
		return zm_why_set(why, -EINVAL,
				  "order=down size=%llu: the size must be even to go down",
				  (unsigned long long)chosen->size);
	return 0;
}

/* What will it use? The harness refuses, with the figure, what the machine does not have. */
static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct skeleton_options *chosen = run->options;

	ret_footprint->task_bytes = chosen->size;
}

static int prepare(struct zm_run *run, struct zm_why *why)
{
	struct skeleton_run *shared = run->state;

	(void)why;
	shared->first = (uint8_t)run->seed;
	return 0;
}

/* Also after a failed prepare: undo what is there. */
static void cleanup(struct zm_run *run)
{
	(void)run;
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	const struct skeleton_options *chosen = task->run->options;
	const struct skeleton_run *shared = task->run->state;
	struct skeleton_task *own = task->state;

	own->buffer = malloc(chosen->size);
	if (!own->buffer)
		return zm_why_set(why, -ENOMEM, "no %llu bytes for a buffer; lower size",
				  (unsigned long long)chosen->size);
	memset(own->buffer, shared->first, chosen->size);
	return 0;
}

/* The hot loop: up to n operations, here to the buffer's end at most. The cursor stays in `own`
 * from one step to the next. No clock, no log, no lock, no line that others write. */
static int64_t step(struct zm_task *task, uint64_t n)
{
	const struct skeleton_options *chosen = task->run->options;
	struct skeleton_task *own = task->state;
	uint64_t left = chosen->size - own->cursor;
	uint64_t todo = n < left ? n : left;

	for (uint64_t i = own->cursor; i < own->cursor + todo; i++)
		own->buffer[chosen->order == ORDER_UP ? i : chosen->size - 1 - i]++;
	own->done += todo;
	own->cursor += todo;
	if (own->cursor == chosen->size) {
		own->cursor = 0;
		zm_task_count(task, COUNTER_ROUNDS, 1);
	}
	zm_task_hist(task, HIST_STEP_OPS, todo);
	return (int64_t)todo;
}

/* Also after a failed setup: the buffer may not be there. What verify() must know of a task goes
 * into the run's state here, after the stop. */
static void teardown(struct zm_task *task)
{
	const struct skeleton_options *chosen = task->run->options;
	struct skeleton_run *shared = task->run->state;
	struct skeleton_task *own = task->state;

	if (own->buffer) {
		uint64_t first = chosen->order == ORDER_UP ? 0 : chosen->size - 1;
		uint64_t rounds = own->done / chosen->size + (own->cursor > 0);

		shared->nr_checked++;
		shared->nr_wrong += own->buffer[first] != (uint8_t)(shared->first + rounds);
	}
	free(own->buffer);
	own->buffer = NULL;
}

static int verify(struct zm_run *run, struct zm_why *why)
{
	const struct skeleton_run *shared = run->state;

	if (shared->nr_checked != run->nr_tasks || shared->nr_wrong > 0)
		return zm_why_set(why, -EBADMSG,
				  "%llu of %u tasks checked, %llu buffers are not as written",
				  (unsigned long long)shared->nr_checked, run->nr_tasks,
				  (unsigned long long)shared->nr_wrong);
	return 0;
}

/* Page faults are not what it is about. page_fault1.c has a true one. */
static bool expect_ops_per_fault(const struct zm_run *run, double *ret_least, double *ret_most)
{
	(void)run;
	(void)ret_least;
	(void)ret_most;
	return false;
}

/* Derives the metrics from the counts of the measured window: every row that is for this run's
 * kind, each with the raw count and the interval it came from. */
static int report(const struct zm_window *window, struct zm_report *report)
{
	const struct zm_run *run = window->run;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	uint64_t ops = zm_window_ops(window);

	for (size_t i = 0; metrics[i].name; i++) {
		double rate = zm_window_rate(window, ops);
		int r;

		if (!zm_metric_is_for(&metrics[i], run->kind))
			continue;
		if (i == METRIC_PER_TASK)
			rate /= run->nr_tasks;
		r = zm_report_add(report, &metrics[i], rate, (double)ops, interval_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The last thing in the file. The build defines both names. Of `step`, `round` and `run` exactly one is
 * set (`round` is what `run` does over and over here):
 *
 *     static int run(struct zm_task *task)
 *     {
 *             while (!zm_task_is_stopped(task)) {
 *                     …wait for something and handle it…
 *                     zm_task_add(task, 1);
 *             }
 *             return 0;
 *     }
 */
const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "adds one to every byte of a buffer, round and round",
	.op = "byte",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.nr_ends = 1,
	.need = { .min_cpus = 1,
		  .min_nodes = 0,
		  .root = false,
		  .protocols = NULL, /* (const char *const[]){ "SCTP", NULL } */
		  .files = (const char *const[]){ "proc/self/status", NULL },
		  .commands = NULL },
	.own = NULL, /* where several files share a room's callbacks: what this one is to them */
	.options = options,
	.options_size = sizeof(struct skeleton_options),
	.counters = counters,
	.hists = hists,
	.metrics = metrics,
	.save = NULL, /* (const char *const[]){ "proc/sys/vm/nr_hugepages", NULL } */
	.batch = 4096,
	.run_bytes = sizeof(struct skeleton_run),
	.task_bytes = sizeof(struct skeleton_task),
	.check = check,
	.footprint = footprint,
	.prepare = prepare,
	.cleanup = cleanup,
	.setup = setup,
	.teardown = teardown,
	.step = step,
	.round = NULL,
	.run = NULL,
	.verify = verify,
	.expect_ops_per_fault = expect_ops_per_fault,
	.report = report,
};
