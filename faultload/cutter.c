/* cutter: a round, and what rounds come to. */
#include "faultload/cutter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faultload/samples.h"
#include "faultload/scratch.h"
#include "workloads/base/cleanup.h"

#define READ_BYTES 131072 /* at a time, as cat does */

enum { COUNTER_ROUNDS };

const struct zm_metric zm_cutter_counters[] = {
	[COUNTER_ROUNDS] = { .name = "vm-scalability.rounds",
			     .unit = "rounds",
			     .kind = ZM_COUNT,
			     .summary = "files that a task read and gave up" },
	{ .name = NULL },
};

enum {
	THROUGHPUT,
	MEDIAN,
	STDDEV,
	MEDIAN_STDDEV,
	WORKLOAD,
	TRUE_THROUGHPUT,
	POPULATE_TIME,
	FREE_TIME,
	NR_METRICS, /* those after are of files that are read one after the other */
	THROUGHPUT_FAULT = NR_METRICS,
	MEDIAN_FAULT,
	STDDEV_FAULT,
	MEDIAN_FAULT_STDDEV,
	NR_ALL_METRICS,
};

#define ROW(metric, of, which, is_verdict, text)                                                   \
	{                                                                                          \
		.name = "vm-scalability." metric, .unit = of, .kind = ZM_GAUGE, .better = which,   \
		.is_primary = is_verdict, .summary = text                                          \
	}

#define COMMON_ROWS                                                                                \
	[THROUGHPUT] = ROW("throughput", "kB/s", ZM_BETTER_MORE, true,                             \
			   "bytes of all files over the time of giving them up"),                  \
	[MEDIAN] = ROW("median", "kB/s", ZM_BETTER_MORE, false,                                    \
		       "the same: the original has one figure a round"),                           \
	[STDDEV] = ROW("stddev%", "%", ZM_BETTER_NEITHER, false, "of it over rounds"),             \
	[MEDIAN_STDDEV] =                                                                          \
		ROW("median_stddev%", "%", ZM_BETTER_NEITHER, false, "of it over rounds"),         \
	[WORKLOAD] = ROW("workload", "kB", ZM_BETTER_NEITHER, false,                               \
			 "bytes of the files given up in the window"),                             \
	[TRUE_THROUGHPUT] = ROW("true_throughput", "kB/s", ZM_BETTER_MORE, false,                  \
				"bytes given up over the window, reading them included"),          \
	[POPULATE_TIME] = ROW("populate_time", "s", ZM_BETTER_LESS, false,                         \
			      "a round's reading of all files, on average"),                       \
	[FREE_TIME] = ROW("free_time", "s", ZM_BETTER_LESS, false,                                 \
			  "a round's giving up of all files, on average")

const struct zm_metric zm_cutter_metrics[] = {
	COMMON_ROWS,
	{ .name = NULL },
};

const struct zm_metric zm_cutter_fault_metrics[] = {
	COMMON_ROWS,
	[THROUGHPUT_FAULT] = ROW("throughput_fault", "kB/s", ZM_BETTER_MORE, false,
				 "bytes of all files over the time of reading them"),
	[MEDIAN_FAULT] = ROW("median_fault", "kB/s", ZM_BETTER_MORE, false,
			     "the same: the original has one figure a round"),
	[STDDEV_FAULT] =
		ROW("stddev_fault%", "%", ZM_BETTER_NEITHER, false, "of reading, over rounds"),
	[MEDIAN_FAULT_STDDEV] = ROW("median_fault_stddev%", "%", ZM_BETTER_NEITHER, false,
				    "of reading, over rounds"),
	{ .name = NULL },
};

/* --- before the tasks -------------------------------------------------------------------------- */

static uint64_t area_bytes_of(const struct zm_run *run)
{
	uint64_t unit = zm_area_unit_bytes(run, zm_area_memory_bytes(run->root));

	return unit / run->nr_tasks / ZM_CUTTER_BLOCK_BYTES * ZM_CUTTER_BLOCK_BYTES;
}

int zm_cutter_check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_options *chosen = run->options;
	int r = zm_scratch_check(chosen->dir, why);

	if (r < 0)
		return r;
	if (zm_scratch_is_memory(chosen->dir) && !chosen->unit_size)
		return zm_why_set(why, -EINVAL,
				  "dir=%s: its files are kept in memory, and cannot be as long as "
				  "all of it; choose a directory on a disk, or a unit_size",
				  zm_scratch_dir(chosen->dir));
	if (area_bytes_of(run) == 0)
		return zm_why_set(why, -EINVAL, "unit_size: less than %d bytes for each task",
				  ZM_CUTTER_BLOCK_BYTES);
	return 0;
}

/* A file system's cache can be dropped; what lies in memory cannot. */
void zm_cutter_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_area_options *chosen = run->options;

	ret_footprint->task_files = 1;
	ret_footprint->task_bytes = READ_BYTES;
	if (!zm_scratch_is_memory(chosen->dir))
		return;
	ret_footprint->task_bytes += area_bytes_of(run);
	ret_footprint->disk_path = zm_scratch_dir(chosen->dir);
	ret_footprint->disk_bytes = area_bytes_of(run) * run->nr_tasks;
}

int zm_cutter_prepare(struct zm_run *run, struct zm_why *why)
{
	struct zm_cutter_run *shared = run->state;

	(void)why;
	shared->area_bytes = area_bytes_of(run);
	return 0;
}

/* --- the tasks --------------------------------------------------------------------------------- */

int zm_cutter_setup(struct zm_task *task, struct zm_why *why)
{
	struct zm_cutter *cutter = task->state;

	cutter->fd = -1;
	cutter->buffer = aligned_alloc(ZM_CUTTER_BLOCK_BYTES, READ_BYTES); /* as cat's */
	return cutter->buffer ? 0 : zm_why_errno(why, -ENOMEM, "a block of %d bytes", READ_BYTES);
}

static bool is_in_turns(const struct zm_task *task)
{
	const struct zm_cutter_case *own = task->run->workload->own;

	return own->is_in_turns;
}

static ssize_t read_block(const struct zm_cutter *cutter)
{
	ssize_t n;

	do {
		n = read(cutter->fd, cutter->buffer, READ_BYTES);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* All of the file, or up to the stop. */
static int read_file(struct zm_task *task, struct zm_cutter *cutter)
{
	struct zm_cutter_run *shared = task->run->state;
	uint64_t done = 0;

	while (done < shared->area_bytes && !zm_task_is_stopped(task)) {
		ssize_t n = read_block(cutter);

		if (n <= 0)
			return zm_why_errno(&task->slot->why, n < 0 ? -errno : -EIO,
					    "reading at %llu of %llu bytes",
					    (unsigned long long)done,
					    (unsigned long long)shared->area_bytes);
		done += (uint64_t)n;
	}
	shared->nr_checked++;
	shared->nr_wrong += cutter->buffer[0] != 0 ||
			    memcmp(cutter->buffer, cutter->buffer + 1, ZM_CUTTER_BLOCK_BYTES - 1);
	return 0;
}

static int fill(struct zm_task *task, struct zm_cutter *cutter)
{
	const struct zm_area_options *chosen = task->run->options;
	struct zm_cutter_run *shared = task->run->state;
	int r = zm_scratch_open(chosen->dir, shared->area_bytes, &cutter->fd, &task->slot->why);

	if (r < 0)
		return r;
	if (is_in_turns(task))
		zm_meet_wait_turn(&shared->meet, task);
	r = zm_task_is_stopped(task) ? 0 : read_file(task, cutter);
	if (is_in_turns(task))
		zm_meet_pass_turn(&shared->meet, task);
	return r;
}

/* It has no name: with its last descriptor it goes. */
static void cut(struct zm_task *task, struct zm_cutter *cutter)
{
	struct zm_cutter_run *shared = task->run->state;

	if (is_in_turns(task))
		zm_meet_wait_turn(&shared->meet, task);
	(void)close(cutter->fd);
	cutter->fd = -1;
	if (is_in_turns(task))
		zm_meet_pass_turn(&shared->meet, task);
	zm_task_add(task, shared->area_bytes / ZM_CUTTER_BLOCK_BYTES);
	zm_task_count(task, COUNTER_ROUNDS, 1);
}

static void log_round(struct zm_cutter_run *shared, uint64_t now_ns)
{
	struct zm_cutter_round *round = &shared->log[shared->nr_rounds];

	if (shared->nr_rounds >= ZM_CUTTER_LOG)
		return;
	round->fill_s = (double)(shared->cut_begun_ns - shared->fill_begun_ns) / 1e9;
	round->cut_s = (double)(now_ns - shared->cut_begun_ns) / 1e9;
	atomic_store_explicit(&round->end_ns, now_ns, memory_order_release);
	shared->nr_rounds++;
}

/* Where a piece of the round begins or ends for all. */
enum border { ROUND, CUT, END };

static void pass(struct zm_task *task, enum border border)
{
	struct zm_cutter_run *shared = task->run->state;

	if (!zm_meet_wait(&shared->meet, task))
		return;
	if (border == END)
		log_round(shared, zm_clock_now_ns());
	else
		*(border == CUT ? &shared->cut_begun_ns : &shared->fill_begun_ns) =
			zm_clock_now_ns();
	zm_meet_open(&shared->meet);
}

int zm_cutter_round(struct zm_task *task)
{
	struct zm_cutter *cutter = task->state;
	int r;

	pass(task, ROUND);
	if (zm_task_is_stopped(task))
		return 0;
	r = fill(task, cutter);
	if (r < 0 || zm_task_is_stopped(task))
		return r;
	pass(task, CUT);
	if (zm_task_is_stopped(task))
		return 0;
	cut(task, cutter);
	pass(task, END);
	return 0;
}

void zm_cutter_teardown(struct zm_task *task)
{
	struct zm_cutter *cutter = task->state;

	free(cutter->buffer);
	cutter->buffer = NULL;
	if (cutter->fd >= 0)
		(void)close(cutter->fd);
	cutter->fd = -1;
}

int zm_cutter_verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_cutter_run *shared = run->state;

	if (shared->nr_checked > 0 && shared->nr_wrong == 0)
		return 0;
	return zm_why_set(why, -EBADMSG, "of %llu files that were read, %llu did not hold zeroes",
			  (unsigned long long)shared->nr_checked,
			  (unsigned long long)shared->nr_wrong);
}

/* --- the figures ------------------------------------------------------------------------------- */

/* kB/s of the window's rounds. */
struct speeds {
	size_t nr;
	double *fill, *cut;
	double sum_fill_s, sum_cut_s;
};

static void add_round(const struct zm_window *window, const struct zm_cutter_round *round,
		      struct speeds *speeds)
{
	const struct zm_cutter_run *shared = window->run->state;
	double kb = (double)shared->area_bytes * window->run->nr_tasks / 1024;
	uint64_t end_ns = atomic_load_explicit(&round->end_ns, memory_order_acquire);

	if (end_ns <= window->t0_ns || end_ns > window->t1_ns)
		return;
	speeds->fill[speeds->nr] = kb / round->fill_s;
	speeds->cut[speeds->nr++] = kb / round->cut_s;
	speeds->sum_fill_s += round->fill_s;
	speeds->sum_cut_s += round->cut_s;
}

static void derive(const struct zm_window *window, const struct speeds *speeds, double *values)
{
	double bytes = (double)zm_window_ops(window) * ZM_CUTTER_BLOCK_BYTES;
	double n = (double)speeds->nr;

	values[THROUGHPUT] = values[MEDIAN] = zm_samples_mean(speeds->cut, speeds->nr);
	values[STDDEV] = values[MEDIAN_STDDEV] =
		zm_samples_deviation(speeds->cut, speeds->nr) / values[THROUGHPUT] * 100;
	values[WORKLOAD] = bytes / 1024;
	values[TRUE_THROUGHPUT] = bytes / 1024 / ((double)(window->t1_ns - window->t0_ns) / 1e9);
	values[POPULATE_TIME] = speeds->sum_fill_s / n;
	values[FREE_TIME] = speeds->sum_cut_s / n;
	values[THROUGHPUT_FAULT] = values[MEDIAN_FAULT] = zm_samples_mean(speeds->fill, speeds->nr);
	values[STDDEV_FAULT] = values[MEDIAN_FAULT_STDDEV] =
		zm_samples_deviation(speeds->fill, speeds->nr) / values[THROUGHPUT_FAULT] * 100;
}

static int add_all(const struct zm_window *window, const double *values, struct zm_report *report)
{
	const struct zm_metric *metrics = window->run->workload->metrics;
	int r = 0;

	for (size_t i = 0; r == 0 && metrics[i].name; i++)
		r = zm_report_add(report, &metrics[i], values[i],
				  (double)zm_window_ops(window) * ZM_CUTTER_BLOCK_BYTES,
				  window->t1_ns - window->t0_ns);
	return r;
}

int zm_cutter_report(const struct zm_window *window, struct zm_report *report)
{
	const struct zm_cutter_run *shared = window->run->state;
	zm_autofree double *fill = calloc(ZM_CUTTER_LOG, sizeof(*fill));
	zm_autofree double *cut = calloc(ZM_CUTTER_LOG, sizeof(*cut));
	struct speeds speeds = { .fill = fill, .cut = cut };
	double values[NR_ALL_METRICS];

	if (!fill || !cut)
		return -ENOMEM;
	for (size_t i = 0; i < shared->nr_rounds; i++)
		add_round(window, &shared->log[i], &speeds);
	if (speeds.nr == 0)
		return zm_report_fail(report, -ENODATA,
				      "no round ended in the window of %.1f s: reading %.0f MiB "
				      "takes longer; set a longer runtime or a smaller unit_size",
				      (double)(window->t1_ns - window->t0_ns) / 1e9,
				      (double)shared->area_bytes * window->run->nr_tasks / 1048576);
	derive(window, &speeds, values);
	return add_all(window, values, report);
}
