/*
 * rig: runs a workload in the test's own process, call by call, without the harness.
 *
 *     struct rig rig;
 *     rig_start(&rig, &wl_faultload_page_fault1, ZM_TASK_PROCESS, 2, "size=64K thp=never");
 *     assert_int_equal(rig_step(&rig, 0, 5), 5);
 *     rig_stop(&rig);           // teardown of all tasks, verify, cleanup
 *     rig_report(&rig, 1000);   // as if the window had lasted 1,000 ns; figures in rig.figures
 *     rig_free(&rig);
 *
 * Every call that must succeed is asserted, with its sentence. The pieces (rig_init, rig_prepare…)
 * are there for tests of what must fail. It defines zm_report_add, so one file of a test program
 * includes it.
 */
#ifndef ZM_WORKLOADS_TESTS_RIG_H
#define ZM_WORKLOADS_TESTS_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "workloads/base/sysroot.h"
#include "workloads/worker.h"

#define RIG_TASKS   8
#define RIG_FIGURES 32

struct rig_figure {
	const struct zm_metric *metric;
	double value;
	double count;
	uint64_t interval_ns;
};

struct zm_report {
	struct rig_figure figures[RIG_FIGURES];
	size_t nr_figures;
	char why[256];
};

struct rig {
	struct zm_sysroot root;
	struct zm_run run;
	struct zm_task tasks[RIG_TASKS];
	struct zm_slot *slots; /* shared with a task's children, as is the run's state */
	struct zm_hist *hists[RIG_TASKS];
	_Atomic uint32_t stop;
	void *options;
	struct zm_report report;
	struct zm_why why;
};

int zm_report_add(struct zm_report *report, const struct zm_metric *metric, double value,
		  double count, uint64_t interval_ns)
{
	assert_true(report->nr_figures < RIG_FIGURES);
	report->figures[report->nr_figures++] =
		(struct rig_figure){ metric, value, count, interval_ns };
	return 0;
}

int zm_report_fail(struct zm_report *report, int error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(report->why, sizeof(report->why), format, list);
	va_end(list);
	return error;
}

/* "name=value name=value" into the options; 0 or what the first bad one gave. */
static inline int rig_set_options(struct rig *rig, const char *text)
{
	const struct zm_option *rows = rig->run.workload->options;
	char *words = strdup(text);
	char *rest = words;
	char *word;
	int r = 0;

	while (r == 0 && (word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		r = zm_option_set(rows, rig->options, word, value, &rig->why);
	}
	free(words);
	return r;
}

static inline size_t rig_nr_hists(const struct zm_workload *workload)
{
	size_t n = 0;

	while (workload->hists && workload->hists[n].name)
		n++;
	return n;
}

static inline void rig_init_task(struct rig *rig, unsigned int index)
{
	const struct zm_workload *workload = rig->run.workload;
	unsigned int nr_ends = workload->nr_ends ? workload->nr_ends : 1;
	size_t nr_hists = rig_nr_hists(workload);

	rig->tasks[index] = (struct zm_task){ .run = &rig->run,
					      .index = index,
					      .pair = index / nr_ends,
					      .end = index % nr_ends,
					      .cpu = -1,
					      .node = -1,
					      .state = calloc(1, workload->task_bytes + 1),
					      .slot = &rig->slots[index] };
	rig->hists[index] = calloc(nr_hists + 1, sizeof(struct zm_hist));
	for (size_t i = 0; i < nr_hists; i++)
		zm_hist_init(&rig->hists[index][i]);
	rig->slots[index].stop = &rig->stop;
	rig->slots[index].hists = rig->hists[index];
}

static inline void *rig_share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

/* Options and memory; calls nothing of the workload. root NULL: this machine; else a tree, writable. */
static inline void rig_init(struct rig *rig, const struct zm_workload *workload,
			    enum zm_task_kind kind, unsigned int nr_tasks, const char *root)
{
	assert_true(nr_tasks <= RIG_TASKS);
	memset(rig, 0, sizeof(*rig));
	assert_int_equal(root ? zm_sysroot_open_writable(&rig->root, root)
			      : zm_sysroot_open(&rig->root, NULL),
			 0);
	rig->options = calloc(1, workload->options_size + 1);
	rig->slots = rig_share(RIG_TASKS * sizeof(struct zm_slot));
	rig->run = (struct zm_run){ .workload = workload,
				    .options = rig->options,
				    .root = &rig->root,
				    .kind = kind,
				    .nr_tasks = nr_tasks,
				    .seed = 42,
				    .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
				    .state = rig_share(workload->run_bytes + 1) };
	if (workload->options)
		assert_int_equal(zm_options_init(workload->options, rig->options, &rig->why), 0);
	for (unsigned int i = 0; i < nr_tasks; i++)
		rig_init_task(rig, i);
}

static inline void rig_must(const struct rig *rig, int r, const char *what)
{
	if (r < 0)
		fail_msg("%s: %d: %s", what, r, rig->why.text);
}

static inline int rig_check(struct rig *rig)
{
	return rig->run.workload->check ? rig->run.workload->check(&rig->run, &rig->why) : 0;
}

static inline struct zm_footprint rig_footprint(struct rig *rig)
{
	struct zm_footprint footprint = { 0 };

	if (rig->run.workload->footprint)
		rig->run.workload->footprint(&rig->run, &footprint);
	return footprint;
}

static inline int rig_prepare(struct rig *rig)
{
	return rig->run.workload->prepare ? rig->run.workload->prepare(&rig->run, &rig->why) : 0;
}

static inline int rig_setup(struct rig *rig, unsigned int index)
{
	const struct zm_workload *workload = rig->run.workload;

	return workload->setup ? workload->setup(&rig->tasks[index], &rig->why) : 0;
}

static inline void rig_start(struct rig *rig, const struct zm_workload *workload,
			     enum zm_task_kind kind, unsigned int nr_tasks, const char *options)
{
	rig_init(rig, workload, kind, nr_tasks, NULL);
	rig_must(rig, rig_set_options(rig, options), options);
	rig_must(rig, rig_check(rig), "check");
	rig_must(rig, rig_prepare(rig), "prepare");
	for (unsigned int i = 0; i < nr_tasks; i++)
		rig_must(rig, rig_setup(rig, i), "setup");
}

/* One step as the harness makes it: its operations are added to the task's. */
static inline int64_t rig_step(struct rig *rig, unsigned int index, uint64_t n)
{
	int64_t done = rig->run.workload->step(&rig->tasks[index], n);

	if (done > 0)
		zm_task_add(&rig->tasks[index], (uint64_t)done);
	return done;
}

/* Steps until `ops` more operations are done. */
static inline void rig_do(struct rig *rig, unsigned int index, uint64_t ops)
{
	while (ops > 0) {
		int64_t done = rig_step(rig, index, ops);

		assert_true(done > 0 && (uint64_t)done <= ops);
		ops -= (uint64_t)done;
	}
}

/* For workloads with run: lets the task run until it has done so many operations, and stops it. */
struct rig_watch {
	struct rig *rig;
	unsigned int index;
	uint64_t ops;
};

static inline void *rig_watch_main(void *context)
{
	struct rig_watch *watch = context;

	while (watch->rig->slots[watch->index].ops < watch->ops)
		usleep(1000);
	watch->rig->stop = 1;
	return NULL;
}

/* Of processes that were started here and have been waited for. */
static inline uint64_t rig_child_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

/* Whose processes start others says so: what those use of the CPUs would be called a disturbance. */
static inline void rig_assert_children(const struct rig *rig, uint64_t faults_before)
{
	if (rig->run.kind == ZM_TASK_PROCESS)
		assert_int_equal(rig_child_faults() > faults_before,
				 rig->run.workload->has_children);
}

static inline void rig_run(struct rig *rig, unsigned int index, uint64_t ops)
{
	struct rig_watch watch = { rig, index, ops };
	uint64_t child_faults = rig_child_faults();
	pthread_t thread;

	rig->stop = 0;
	assert_int_equal(pthread_create(&thread, NULL, rig_watch_main, &watch), 0);
	rig_must(rig, zm_task_loop(&rig->tasks[index]), rig->slots[index].why.text);
	assert_int_equal(pthread_join(thread, NULL), 0);
	rig_assert_children(rig, child_faults);
}

static inline uint64_t rig_ops(const struct rig *rig, unsigned int index)
{
	return rig->slots[index].ops;
}

static inline void rig_teardown(struct rig *rig)
{
	for (unsigned int i = 0; i < rig->run.nr_tasks; i++)
		if (rig->run.workload->teardown)
			rig->run.workload->teardown(&rig->tasks[i]);
}

static inline int rig_verify(struct rig *rig)
{
	return rig->run.workload->verify ? rig->run.workload->verify(&rig->run, &rig->why) : 0;
}

static inline void rig_cleanup(struct rig *rig)
{
	if (rig->run.workload->cleanup)
		rig->run.workload->cleanup(&rig->run);
}

static inline void rig_stop(struct rig *rig)
{
	rig->stop = 1;
	rig_teardown(rig);
	rig_must(rig, rig_verify(rig), "verify");
	rig_cleanup(rig);
}

/* Reports all operations, counters and histograms as those of a window of so many nanoseconds. */
static inline void rig_report(struct rig *rig, uint64_t interval_ns)
{
	const struct zm_workload *workload = rig->run.workload;
	uint64_t ops[RIG_TASKS];
	uint64_t counters[RIG_TASKS * ZM_SLOT_COUNTERS];
	size_t nr_hists = rig_nr_hists(workload);
	struct zm_hist *merged = calloc(nr_hists + 1, sizeof(*merged));
	unsigned int nr_counters = 0;

	while (workload->counters && workload->counters[nr_counters].name)
		nr_counters++;
	for (size_t h = 0; h < nr_hists; h++)
		zm_hist_init(&merged[h]);
	for (unsigned int i = 0; i < rig->run.nr_tasks; i++) {
		ops[i] = rig_ops(rig, i);
		for (unsigned int c = 0; c < nr_counters; c++)
			counters[i * nr_counters + c] = rig->slots[i].counters[c];
		for (size_t h = 0; h < nr_hists; h++)
			zm_hist_merge(&merged[h], &rig->hists[i][h]);
	}

	struct zm_window window = { .run = &rig->run,
				    .t0_ns = 1000,
				    .t1_ns = 1000 + interval_ns,
				    .ops = ops,
				    .counters = counters,
				    .hists = nr_hists ? merged : NULL,
				    .nr_counters = nr_counters,
				    .nr_hists = (unsigned int)nr_hists };

	rig->report.nr_figures = 0;
	rig_must(rig, workload->report(&window, &rig->report), "report");
	free(merged);
}

/* The figure of that name, or NULL. */
static inline const struct rig_figure *rig_figure(const struct rig *rig, const char *name)
{
	for (size_t i = 0; i < rig->report.nr_figures; i++)
		if (strcmp(rig->report.figures[i].metric->name, name) == 0)
			return &rig->report.figures[i];
	return NULL;
}

/* Every declared metric of this kind has been reported, but for optional ones, and nothing twice. */
static inline void rig_assert_all_reported(const struct rig *rig)
{
	const struct zm_metric *metrics = rig->run.workload->metrics;
	size_t nr_wanted = 0;

	for (size_t i = 0; metrics[i].name; i++) {
		if (!zm_metric_is_for(&metrics[i], rig->run.kind))
			continue;
		if (rig_figure(rig, metrics[i].name))
			nr_wanted++;
		else if (!metrics[i].is_optional)
			fail_msg("%s is not reported", metrics[i].name);
	}
	assert_int_equal(rig->report.nr_figures, nr_wanted);
}

/* Does a sanitizer or valgrind look on? Then memory that checks memory makes faults and system calls of
 * its own. */
static inline bool rig_is_watched(void)
{
#ifdef ZM_SANITIZED
	return true;
#else
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
#endif
}

/* This thread's page faults so far. */
static inline uint64_t rig_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

static inline void rig_free(struct rig *rig)
{
	if (rig->run.workload->options)
		zm_options_release(rig->run.workload->options, rig->options);
	for (unsigned int i = 0; i < rig->run.nr_tasks; i++) {
		free(rig->tasks[i].state);
		free(rig->hists[i]);
	}
	free(rig->options);
	(void)munmap(rig->run.state, rig->run.workload->run_bytes + 1);
	(void)munmap(rig->slots, RIG_TASKS * sizeof(struct zm_slot));
	zm_sysroot_release(&rig->root);
}

#endif
