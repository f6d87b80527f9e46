/*
 * live: runs a workload of this room for a while with real tasks, in little more code than it takes.
 *
 *     struct live live;
 *     live_open(&live, &wl_netload_udp_stream, ZM_TASK_PROCESS, 2, "send_size=1K");   2 pairs
 *     assert_int_equal(live_go(&live), 0);      check, prepare, tasks, setup, gate
 *     live_wait(&live, 50);                     milliseconds
 *     assert_int_equal(live_end(&live), 0);     stop, tasks end, verify, cleanup
 *     live_report(&live);                       figures of the whole run
 *     live_close(&live);
 *
 * What failed stands in live.why. It defines zm_report_add, so one file of a test program includes
 * it. Tasks that do not end within LIVE_PATIENCE_S are killed, and the test fails.
 */
#ifndef ZM_NETLOAD_TESTS_LIVE_H
#define ZM_NETLOAD_TESTS_LIVE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/gate.h"
#include "workloads/base/sysroot.h"
#include "workloads/worker.h"

#define LIVE_FIGURES    64
#define LIVE_PATIENCE_S 30

struct live_figure {
	const struct zm_metric *metric;
	double value;
};

struct zm_report {
	struct live_figure figures[LIVE_FIGURES];
	size_t nr_figures;
};

/* What tasks and test share. */
struct live_shared {
	struct zm_gate gate;
	_Atomic uint32_t stop;
	_Atomic uint32_t nr_left; /* tasks that have not ended */
	uint32_t nr_late;         /* the first so many ends 0 get no turn before the stop */
};

struct live {
	struct zm_sysroot root;
	struct zm_run *run; /* shared, the workload's state behind it */
	struct zm_task *tasks;
	struct zm_slot *slots;
	struct zm_hist *hists;
	unsigned int nr_hists;
	struct live_shared *shared;
	void *options;
	pid_t *pids;
	pthread_t *threads;
	bool *is_running;
	uint64_t t0_ns, t1_ns;
	struct zm_report report;
	struct zm_why why;
	bool is_prepared;
	void (*at_gate)(const struct live *live); /* what is set up may be looked at; NULL */
};

int zm_report_add(struct zm_report *report, const struct zm_metric *metric, double value,
		  double count, uint64_t interval_ns)
{
	(void)count;
	(void)interval_ns;
	assert_true(report->nr_figures < LIVE_FIGURES);
	report->figures[report->nr_figures++] = (struct live_figure){ metric, value };
	return 0;
}

static inline void *live_share(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

/* "name=value name=value"; 0, or what the first bad one gave. */
static inline int live_set(struct live *live, const char *text)
{
	char *words = strdup(text), *rest = words, *word;
	int r = 0;

	while (r == 0 && (word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		r = zm_option_set(live->run->workload->options, live->options, word, value,
				  &live->why);
	}
	free(words);
	return r;
}

static inline void live_init_task(struct live *live, unsigned int index)
{
	live->tasks[index] = (struct zm_task){
		.run = live->run,
		.index = index,
		.pair = index / 2,
		.end = index % 2,
		.cpu = -1,
		.node = -1,
		.slot = &live->slots[index],
	};
	live->slots[index].stop = &live->shared->stop;
	live->slots[index].hists = live->hists + (size_t)index * live->nr_hists;
}

static inline void live_open(struct live *live, const struct zm_workload *workload,
			     enum zm_task_kind kind, unsigned int nr_pairs, const char *options)
{
	unsigned int nr = 2 * nr_pairs;

	memset(live, 0, sizeof(*live));
	assert_int_equal(zm_sysroot_open(&live->root, NULL), 0);
	while (workload->hists && workload->hists[live->nr_hists].name)
		live->nr_hists++;
	live->options = calloc(1, workload->options_size + 1);
	live->run = live_share(sizeof(*live->run));
	*live->run = (struct zm_run){
		.workload = workload,
		.options = live->options,
		.root = &live->root,
		.kind = kind,
		.nr_tasks = nr,
		.seed = 42,
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.state = live_share(workload->run_bytes),
	};
	live->shared = live_share(sizeof(*live->shared));
	live->slots = live_share(nr * sizeof(*live->slots));
	live->hists = live_share((size_t)nr * live->nr_hists * sizeof(*live->hists));
	for (size_t i = 0; i < (size_t)nr * live->nr_hists; i++)
		zm_hist_init(&live->hists[i]);
	live->tasks = calloc(nr, sizeof(*live->tasks));
	live->pids = calloc(nr, sizeof(*live->pids));
	live->threads = calloc(nr, sizeof(*live->threads));
	live->is_running = calloc(nr, sizeof(*live->is_running));
	zm_gate_init(&live->shared->gate);
	for (unsigned int i = 0; i < nr; i++)
		live_init_task(live, i);
	assert_int_equal(zm_options_init(workload->options, live->options, &live->why), 0);
	if (live_set(live, options) < 0)
		fail_msg("%s: %s", options, live->why.text);
}

/* A task's whole life, as the harness leads it. */
static inline void *live_task(void *argument)
{
	struct zm_task *task = argument;
	const struct zm_workload *workload = task->run->workload;
	struct live_shared *shared =
		(void *)((char *)(uintptr_t)task->slot->stop - offsetof(struct live_shared, stop));
	int r;

	task->state = calloc(1, workload->task_bytes);
	atomic_store(&task->slot->state, ZM_SLOT_SETUP);
	r = workload->setup(task, &task->slot->why);
	if (r < 0)
		atomic_store(&task->slot->error, r);
	atomic_store(&task->slot->state, ZM_SLOT_READY);
	zm_gate_wait(&shared->gate);
	while (task->end == 0 && task->pair < shared->nr_late && !zm_task_is_stopped(task))
		(void)zm_clock_sleep_until(zm_clock_now_ns() + ZM_NS_PER_MS);
	if (r == 0 && !zm_task_is_stopped(task)) {
		r = workload->run(task);
		if (r < 0)
			atomic_store(&task->slot->error, r);
	}
	workload->teardown(task);
	free(task->state);
	atomic_fetch_sub(&shared->nr_left, 1);
	return NULL;
}

static inline void live_spawn(struct live *live, unsigned int index)
{
	struct zm_task *task = &live->tasks[index];

	if (live->run->kind == ZM_TASK_THREAD) {
		assert_int_equal(pthread_create(&live->threads[index], NULL, live_task, task), 0);
	} else {
		live->pids[index] = fork();
		assert_true(live->pids[index] >= 0);
		if (live->pids[index] == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			live_task(task);
			_exit(0);
		}
		task->slot->tid = live->pids[index];
	}
	live->is_running[index] = true;
}

/* The first error among the tasks; its sentence goes to live->why. */
static inline int live_error(struct live *live)
{
	for (unsigned int i = 0; i < live->run->nr_tasks; i++) {
		int r = atomic_load(&live->slots[i].error);

		if (r < 0) {
			live->why = live->slots[i].why;
			return r;
		}
	}
	return 0;
}

/* Which tasks have not come to the gate, and where in the kernel they are. */
static inline void live_say_laggard(const struct live *live, unsigned int index)
{
	char path[64], place[64] = "?";
	int status = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/wchan", (int)live->slots[index].tid);
	file = live->slots[index].tid ? fopen(path, "re") : NULL;
	if (file) {
		(void)!fgets(place, sizeof(place), file);
		(void)fclose(file);
	}
	if (live->pids[index] > 0 && waitpid(live->pids[index], &status, WNOHANG) > 0)
		(void)snprintf(place, sizeof(place), "dead, wait status %d", status);
	print_error("task %u of %s is not at the gate: state %u, %s\n", index,
		    live->run->workload->name, atomic_load(&live->slots[index].state), place);
}

static inline void live_await_gate(struct live *live, uint64_t deadline_ns)
{
	if (zm_gate_await(&live->shared->gate, live->run->nr_tasks, deadline_ns) == 0)
		return;
	for (unsigned int i = 0; i < live->run->nr_tasks; i++)
		if (atomic_load(&live->slots[i].state) != ZM_SLOT_READY)
			live_say_laggard(live, i);
	fail_msg("not all tasks came to the gate in time");
}

static inline int live_go(struct live *live)
{
	const struct zm_workload *workload = live->run->workload;
	uint64_t deadline_ns = zm_clock_now_ns() + 2 * LIVE_PATIENCE_S * ZM_NS_PER_S;
	int r = workload->check(live->run, &live->why);

	if (r < 0)
		return r;
	live->is_prepared = true;
	r = workload->prepare(live->run, &live->why);
	if (r < 0)
		return r;
	atomic_store(&live->shared->nr_left, live->run->nr_tasks);
	/* Among very many busy tasks, who sets the stop must get its turn. Refused: it is slower. */
	(void)fflush(NULL);
	for (unsigned int i = 0; i < live->run->nr_tasks; i++)
		live_spawn(live, i);
	(void)setpriority(PRIO_PROCESS, 0, -20);
	live_await_gate(live, deadline_ns);
	r = live_error(live);
	if (r < 0)
		atomic_store(&live->shared->stop, 1);
	if (r == 0 && live->at_gate)
		live->at_gate(live);
	live->t0_ns = zm_clock_now_ns();
	zm_gate_open(&live->shared->gate);
	return r;
}

static inline void live_wait(struct live *live, unsigned int milliseconds)
{
	(void)live;
	(void)zm_clock_sleep_until(zm_clock_now_ns() + milliseconds * ZM_NS_PER_MS);
}

/* Until that counter, summed over all tasks, has reached so much: for tests without a clock. */
static inline uint64_t live_sum(const struct live *live, unsigned int counter)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < live->run->nr_tasks; i++)
		sum += atomic_load(&live->slots[i].counters[counter]);
	return sum;
}

static inline void live_await(struct live *live, unsigned int counter, uint64_t least)
{
	uint64_t deadline_ns = zm_clock_now_ns() + LIVE_PATIENCE_S * ZM_NS_PER_S;

	while (live_sum(live, counter) < least) {
		if (live_error(live) < 0)
			fail_msg("%s", live->why.text);
		if (zm_clock_now_ns() > deadline_ns)
			fail_msg("counter %u is %llu after %d s, not %llu", counter,
				 (unsigned long long)live_sum(live, counter), LIVE_PATIENCE_S,
				 (unsigned long long)least);
		live_wait(live, 2);
	}
}

static inline void live_reap(struct live *live)
{
	uint64_t deadline_ns = zm_clock_now_ns() + LIVE_PATIENCE_S * ZM_NS_PER_S;
	bool is_late = false;

	while (atomic_load(&live->shared->nr_left) > 0 && !is_late) {
		is_late = zm_clock_now_ns() > deadline_ns;
		live_wait(live, 1);
	}
	if (is_late && live->run->kind == ZM_TASK_THREAD) {
		(void)fprintf(stderr, "threads did not end\n");
		abort();
	}
	for (unsigned int i = 0; i < live->run->nr_tasks; i++) {
		if (!live->is_running[i])
			continue;
		live->is_running[i] = false;
		if (live->run->kind == ZM_TASK_THREAD) {
			(void)pthread_join(live->threads[i], NULL);
			continue;
		}
		if (is_late)
			(void)kill(live->pids[i], SIGKILL);
		(void)waitpid(live->pids[i], NULL, 0);
	}
	(void)setpriority(PRIO_PROCESS, 0, 0);
	if (is_late)
		fail_msg("tasks did not end");
}

/* Kills one process and forgets it. */
static inline void live_kill(struct live *live, unsigned int index)
{
	assert_int_equal(kill(live->pids[index], SIGKILL), 0);
	assert_int_equal(waitpid(live->pids[index], NULL, 0), live->pids[index]);
	live->is_running[index] = false;
	atomic_fetch_sub(&live->shared->nr_left, 1);
}

static inline int live_end(struct live *live)
{
	const struct zm_workload *workload = live->run->workload;
	int r = live_error(live);

	live->t1_ns = zm_clock_now_ns();
	atomic_store(&live->shared->stop, 1);
	live_reap(live);
	if (r == 0)
		r = live_error(live);
	if (r == 0 && workload->verify)
		r = workload->verify(live->run, &live->why);
	if (live->is_prepared && workload->cleanup)
		workload->cleanup(live->run);
	live->is_prepared = false;
	return r;
}

static inline void live_report(struct live *live)
{
	const struct zm_workload *workload = live->run->workload;
	unsigned int nr_counters = 0, nr = live->run->nr_tasks;
	uint64_t *ops = calloc(nr, sizeof(*ops));
	uint64_t *counters;
	struct zm_hist *merged = calloc(live->nr_hists + 1, sizeof(*merged));

	while (workload->counters[nr_counters].name)
		nr_counters++;
	counters = calloc((size_t)nr * nr_counters, sizeof(*counters));
	for (unsigned int i = 0; i < nr; i++) {
		ops[i] = live->slots[i].ops;
		for (unsigned int c = 0; c < nr_counters; c++)
			counters[i * nr_counters + c] = live->slots[i].counters[c];
	}
	for (unsigned int h = 0; h < live->nr_hists; h++) {
		zm_hist_init(&merged[h]);
		for (unsigned int i = 0; i < nr; i++)
			zm_hist_merge(&merged[h], &live->hists[i * live->nr_hists + h]);
	}
	struct zm_window window = {
		.run = live->run,
		.t0_ns = live->t0_ns,
		.t1_ns = live->t1_ns,
		.ops = ops,
		.counters = counters,
		.hists = live->nr_hists ? merged : NULL,
		.nr_counters = nr_counters,
		.nr_hists = live->nr_hists,
	};
	live->report.nr_figures = 0;
	assert_int_equal(workload->report(&window, &live->report), 0);
	free(merged);
	free(counters);
	free(ops);
}

static inline bool live_has_figure(const struct live *live, const char *name)
{
	for (size_t i = 0; i < live->report.nr_figures; i++)
		if (strcmp(live->report.figures[i].metric->name, name) == 0)
			return true;
	return false;
}

static inline double live_figure(const struct live *live, const char *name)
{
	for (size_t i = 0; i < live->report.nr_figures; i++)
		if (strcmp(live->report.figures[i].metric->name, name) == 0)
			return live->report.figures[i].value;
	fail_msg("%s is not reported", name);
	return 0;
}

static inline void live_close(struct live *live)
{
	const struct zm_workload *workload = live->run->workload;
	unsigned int nr = live->run->nr_tasks;

	if (live->is_prepared && workload->cleanup)
		workload->cleanup(live->run);
	zm_options_release(workload->options, live->options);
	free(live->options);
	free(live->tasks);
	free(live->pids);
	free(live->threads);
	free(live->is_running);
	(void)munmap(live->slots, nr * sizeof(*live->slots) + 1);
	(void)munmap(live->hists, (size_t)nr * live->nr_hists * sizeof(*live->hists) + 1);
	(void)munmap(live->shared, sizeof(*live->shared) + 1);
	(void)munmap(live->run->state, workload->run_bytes + 1);
	(void)munmap(live->run, sizeof(*live->run) + 1);
	zm_sysroot_release(&live->root);
}

#endif
