/* vmscal: from counts and the times of the pieces to the figures, as printed and as they are. */
#include "faultload/vmscal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "faultload/samples.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define WORD_BYTES  8
#define EIGHTH      0.125 /* is counted in addition, for the allocation */
#define MIN_SHARE   0.01  /* of the window, for access, in what is divided by */
#define MIN_SAMPLES 2

const struct zm_metric zm_vmscal_counters[] = {
	[ZM_VMSCAL_ROUNDS] = { .name = "vm-scalability.rounds",
			       .unit = "rounds",
			       .kind = ZM_COUNT,
			       .summary = "areas that a task went over to their end" },
	[ZM_VMSCAL_BEGIN_NS] = { .name = "vm-scalability.begin_ns",
				 .unit = "ns",
				 .kind = ZM_COUNT,
				 .summary = "time in mmap, or in fork, at a round's beginning" },
	[ZM_VMSCAL_COPY_NS] = { .name = "vm-scalability.copy_ns",
				.unit = "ns",
				.kind = ZM_COUNT,
				.summary = "time until every page was the task's own" },
	[ZM_VMSCAL_FREE_NS] = { .name = "vm-scalability.free_ns",
				.unit = "ns",
				.kind = ZM_COUNT,
				.summary = "time in mlock, munmap or exit, or waiting for the "
					   "others, at a round's end" },
	{ .name = NULL },
};

enum {
	THROUGHPUT,
	MEDIAN,
	STDDEV,
	WORKLOAD,
	TRUE_THROUGHPUT,
	TRUE_MEDIAN,
	TRUE_STDDEV,
	ALWAYS, /* those before appear in every run */
	MEDIAN_STDDEV = ALWAYS,
	POPULATE_TIME,
	BEGIN_TIME,
	COPY_TIME,
	STORE_TIME,
	LOCK_TIME,
	FREE_TIME,
	NR_METRICS,
};

#define ROW(metric, of, which, is_verdict, is_rare, text)                                          \
	{                                                                                          \
		.name = "vm-scalability." metric, .unit = of, .kind = ZM_GAUGE, .better = which,   \
		.is_primary = is_verdict, .is_optional = is_rare, .summary = text                  \
	}

const struct zm_metric zm_vmscal_metrics[] = {
	[THROUGHPUT] = ROW("throughput", "kB/s", ZM_BETTER_MORE, true, false,
			   "all tasks, as the original prints it"),
	[MEDIAN] = ROW("median", "kB/s", ZM_BETTER_MORE, false, false,
		       "the median task, as the original prints it"),
	[STDDEV] = ROW("stddev%", "%", ZM_BETTER_NEITHER, false, false,
		       "over rounds, or over tasks times their number, as the original prints it"),
	[WORKLOAD] = ROW("workload", "kB", ZM_BETTER_NEITHER, false, false,
			 "bytes of all tasks in the window, as the original counts them"),
	[TRUE_THROUGHPUT] = ROW("true_throughput", "kB/s", ZM_BETTER_MORE, false, false,
				"bytes that all tasks accessed, over the window"),
	[TRUE_MEDIAN] = ROW("true_median", "kB/s", ZM_BETTER_MORE, false, false,
			    "bytes that the median task accessed, over the window"),
	[TRUE_STDDEV] = ROW("true_stddev%", "%", ZM_BETTER_NEITHER, false, false,
			    "over tasks, of the bytes accessed over the window"),
	[MEDIAN_STDDEV] = ROW("median_stddev%", "%", ZM_BETTER_NEITHER, false, true,
			      "of the rounds' medians; with two rounds of all tasks or more"),
	[POPULATE_TIME] = ROW("populate_time", "s", ZM_BETTER_LESS, false, true,
			      "until the parent's area was populated"),
	[BEGIN_TIME] = ROW("begin_time", "s", ZM_BETTER_LESS, false, true,
			   "mmap or fork at the beginning of a round, on average"),
	[COPY_TIME] = ROW("copy_time", "s", ZM_BETTER_LESS, false, true,
			  "until every page was the task's own, on average"),
	[STORE_TIME] = ROW("store_time", "s", ZM_BETTER_LESS, false, true,
			   "of a round's accesses after the copies, on average"),
	[LOCK_TIME] = ROW("lock_time", "s", ZM_BETTER_LESS, false, true,
			  "mlock at a round's end, on average"),
	[FREE_TIME] = ROW("free_time", "s", ZM_BETTER_LESS, false, true,
			  "munmap or exit at a round's end, on average"),
	{ .name = NULL },
};

/* --- in the tasks ------------------------------------------------------------------------------ */

void zm_vmscal_begun(struct zm_task *task, struct zm_vmscal_clock *clock, uint64_t since_ns)
{
	struct zm_vmscal_run *shared = task->run->state;

	clock->begun_ns = zm_clock_now_ns();
	zm_task_count(task, ZM_VMSCAL_BEGIN_NS, clock->begun_ns - since_ns);
	zm_piece_add(&shared->begin, clock->begun_ns - since_ns);
}

void zm_vmscal_copied(struct zm_task *task, const struct zm_vmscal_clock *clock)
{
	struct zm_vmscal_run *shared = task->run->state;
	uint64_t copy_ns = zm_clock_now_ns() - clock->begun_ns;

	zm_task_count(task, ZM_VMSCAL_COPY_NS, copy_ns);
	zm_piece_add(&shared->copy, copy_ns);
}

void zm_vmscal_accessed(struct zm_task *task, struct zm_vmscal_clock *clock)
{
	struct zm_vmscal_run *shared = task->run->state;
	uint64_t place = clock->round++ * task->run->nr_tasks + task->index;
	uint64_t now_ns = zm_clock_now_ns();

	zm_task_count(task, ZM_VMSCAL_ROUNDS, 1);
	if (place < ZM_VMSCAL_LOG) {
		shared->log[place].access_s = (double)(now_ns - clock->begun_ns) / 1e9;
		atomic_store_explicit(&shared->log[place].end_ns, now_ns, memory_order_release);
	}
}

/* As little an access as freeing is. */
void zm_vmscal_locked(struct zm_task *task, uint64_t since_ns)
{
	struct zm_vmscal_run *shared = task->run->state;
	uint64_t ns = zm_clock_now_ns() - since_ns;

	zm_task_count(task, ZM_VMSCAL_FREE_NS, ns);
	zm_piece_add(&shared->lock, ns);
}

void zm_vmscal_freed(struct zm_task *task, uint64_t since_ns)
{
	struct zm_vmscal_run *shared = task->run->state;
	uint64_t ns = zm_clock_now_ns() - since_ns;

	zm_task_count(task, ZM_VMSCAL_FREE_NS, ns);
	zm_piece_add(&shared->free, ns);
}

/* --- in the runner ----------------------------------------------------------------------------- */

static double op_bytes_of(const struct zm_run *run)
{
	const struct zm_vmscal_run *shared = run->state;

	return shared->op_bytes ? (double)shared->op_bytes : WORD_BYTES;
}

/* What the original makes of a byte. */
static double inflation_of(const struct zm_run *run)
{
	const struct zm_vmscal_run *shared = run->state;

	if (shared->is_plain)
		return 1;
	return 1 + EIGHTH + (shared->is_remapped ? EIGHTH : 0);
}

/* From before the area was populated until all tasks are forked, as the original's clock runs. */
static double lead_s(const struct zm_run *run)
{
	const struct zm_vmscal_run *shared = run->state;

	return (double)shared->populate_ns / 1e9 + zm_piece_mean_s(&shared->begin) * run->nr_tasks;
}

static double printed_kb_per_s(const struct zm_run *run, double access_s)
{
	const struct zm_vmscal_run *shared = run->state;

	return (double)shared->area_bytes * inflation_of(run) / 1024 / (lead_s(run) + access_s);
}

/* A round's access, from the bytes of the window and what of it was access. */
static double access_s_of(const struct zm_window *window, unsigned int task)
{
	const struct zm_vmscal_run *shared = window->run->state;
	const uint64_t *counters = &window->counters[task * window->nr_counters];
	double all_ns = (double)(window->t1_ns - window->t0_ns);
	double access_ns =
		all_ns - (double)counters[ZM_VMSCAL_BEGIN_NS] - (double)counters[ZM_VMSCAL_FREE_NS];

	if (access_ns < all_ns * MIN_SHARE)
		access_ns = all_ns * MIN_SHARE;
	return access_ns / 1e9 * (double)shared->area_bytes /
	       ((double)window->ops[task] * op_bytes_of(window->run));
}

/* What two rounds or more of all tasks, ended within the window, vary by. */
struct samples {
	size_t nr;
	double stddev, median_stddev; /* percent */
};

/* The next round of all tasks from *round on that lies in the window, as kB/s per task. */
static bool next_sample(const struct zm_window *window, uint64_t *round, double *ret_tasks)
{
	const struct zm_run *run = window->run;
	const struct zm_vmscal_run *shared = run->state;

	for (; (*round + 1) * run->nr_tasks <= ZM_VMSCAL_LOG; (*round)++) {
		const struct zm_vmscal_round *rounds = &shared->log[*round * run->nr_tasks];
		unsigned int i = 0;

		for (; i < run->nr_tasks; i++) {
			uint64_t end_ns =
				atomic_load_explicit(&rounds[i].end_ns, memory_order_acquire);

			if (end_ns <= window->t0_ns || end_ns > window->t1_ns)
				break;
			ret_tasks[i] = printed_kb_per_s(run, rounds[i].access_s);
		}
		if (i == run->nr_tasks) {
			(*round)++;
			return true;
		}
	}
	return false;
}

static int read_samples(const struct zm_window *window, struct samples *ret_samples)
{
	size_t most = ZM_VMSCAL_LOG / window->run->nr_tasks;
	zm_autofree double *tasks = calloc(window->run->nr_tasks, sizeof(*tasks));
	zm_autofree double *throughputs = calloc(most + 1, sizeof(*throughputs));
	zm_autofree double *medians = calloc(most + 1, sizeof(*medians));
	uint64_t round = 0;
	size_t nr = 0;

	if (!tasks || !throughputs || !medians)
		return -ENOMEM;
	while (nr < most && next_sample(window, &round, tasks)) {
		throughputs[nr] = zm_samples_mean(tasks, window->run->nr_tasks);
		medians[nr++] = zm_samples_median(tasks, window->run->nr_tasks);
	}
	*ret_samples = (struct samples){ .nr = nr };
	if (nr >= MIN_SAMPLES) {
		ret_samples->stddev = zm_samples_deviation(throughputs, nr) /
				      zm_samples_mean(throughputs, nr) * 100;
		ret_samples->median_stddev =
			zm_samples_deviation(medians, nr) / zm_samples_mean(medians, nr) * 100;
	}
	return 0;
}

/* The figures that every run has. printed and real: per task, in kB/s; both become sorted. */
static void derive(const struct zm_window *window, double *printed, double *real, double *values)
{
	unsigned int nr_tasks = window->run->nr_tasks;
	double bytes = (double)zm_window_ops(window) * op_bytes_of(window->run);

	values[THROUGHPUT] = zm_samples_mean(printed, nr_tasks) * nr_tasks;
	values[STDDEV] = zm_samples_deviation(printed, nr_tasks) * nr_tasks /
			 zm_samples_mean(printed, nr_tasks) * 100;
	values[MEDIAN] = zm_samples_median(printed, nr_tasks);
	values[WORKLOAD] = bytes * inflation_of(window->run) / 1024;
	values[TRUE_THROUGHPUT] = zm_samples_mean(real, nr_tasks) * nr_tasks;
	values[TRUE_STDDEV] =
		zm_samples_deviation(real, nr_tasks) / zm_samples_mean(real, nr_tasks) * 100;
	values[TRUE_MEDIAN] = zm_samples_median(real, nr_tasks);
}

/* The others: NAN for what this run has not. */
static void derive_rare(const struct zm_window *window, const struct samples *samples,
			double mean_access_s, double *values)
{
	const struct zm_vmscal_run *shared = window->run->state;
	double copy_s = zm_piece_mean_s(&shared->copy);

	if (samples->nr >= MIN_SAMPLES) {
		values[STDDEV] = samples->stddev;
		values[MEDIAN_STDDEV] = samples->median_stddev;
	}
	if (shared->populate_ns)
		values[POPULATE_TIME] = (double)shared->populate_ns / 1e9;
	if (shared->begin.nr)
		values[BEGIN_TIME] = zm_piece_mean_s(&shared->begin);
	if (shared->copy.nr) {
		values[COPY_TIME] = copy_s;
		values[STORE_TIME] = fmax(mean_access_s - copy_s, 0);
	}
	if (shared->lock.nr)
		values[LOCK_TIME] = zm_piece_mean_s(&shared->lock);
	if (shared->free.nr)
		values[FREE_TIME] = zm_piece_mean_s(&shared->free);
}

static int add_all(const struct zm_window *window, const double *values, struct zm_report *report)
{
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	double bytes = (double)zm_window_ops(window) * op_bytes_of(window->run);

	for (size_t i = 0; i < NR_METRICS; i++) {
		int r = 0;

		if (!isnan(values[i]))
			r = zm_report_add(report, &zm_vmscal_metrics[i], values[i], bytes,
					  interval_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

int zm_vmscal_report(const struct zm_window *window, struct zm_report *report)
{
	unsigned int nr_tasks = window->run->nr_tasks;
	zm_autofree double *printed = calloc(nr_tasks, sizeof(*printed));
	zm_autofree double *real = calloc(nr_tasks, sizeof(*real));
	double values[NR_METRICS];
	double sum_access_s = 0;
	struct samples samples;
	int r;

	if (!printed || !real)
		return -ENOMEM;
	for (size_t i = 0; i < NR_METRICS; i++)
		values[i] = NAN;
	for (unsigned int i = 0; i < nr_tasks; i++) {
		if (window->ops[i] == 0)
			return zm_report_fail(
				report, -ENODATA,
				"task %u accessed nothing in the window of %.1f s: it "
				"was still busy with its area; set a longer runtime or "
				"a smaller unit_size",
				i, (double)(window->t1_ns - window->t0_ns) / 1e9);
		sum_access_s += access_s_of(window, i);
		printed[i] = printed_kb_per_s(window->run, access_s_of(window, i));
		real[i] = zm_window_rate(window, window->ops[i]) * op_bytes_of(window->run) / 1024;
	}
	derive(window, printed, real, values);
	r = read_samples(window, &samples);
	if (r < 0)
		return r;
	derive_rare(window, &samples, sum_access_s / nr_tasks, values);
	return add_all(window, values, report);
}
