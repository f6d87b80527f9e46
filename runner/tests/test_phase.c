/*
 * phase: workloads made to go wrong, each in its own way, as processes and as threads: the run fails
 * with the reason, no child is left, the machine is restored, and the store says the same.
 *
 * labels: unit fault
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "runner/plan.h"
#include "runner/tests/bench.h"
#include "workloads/base/clock.h"
#include "workloads/worker.h"

/* What goes wrong, and in which task. */
enum trouble {
	NOTHING,
	PREPARE_FAILS,
	PREPARE_HANGS,
	SETUP_FAILS,
	SETUP_HANGS,
	SETUP_DIES,
	STEP_FAILS,
	STEP_IS_ZERO,
	STEP_EXITS,
	STEP_CRASHES,
	STEP_WAITS,
	STEP_SPINS,
	TEARDOWN_HANGS,
	VERIFY_FAILS,
	CLEANUP_HANGS,
	REPORT_FAILS,
	REPORT_FORGETS,
	LEAVES_A_CHILD,
	NR_TROUBLES,
};

static const char *const troubles[] = {
	"nothing",      "prepare-fails",  "prepare-hangs",  "setup-fails",  "setup-hangs",
	"setup-dies",   "step-fails",     "step-is-zero",   "step-exits",   "step-crashes",
	"step-waits",   "step-spins",     "teardown-hangs", "verify-fails", "cleanup-hangs",
	"report-fails", "report-forgets", "leaves-a-child", NULL,
};

struct odd_options {
	unsigned int trouble;
};

static const struct zm_option odd_rows[] = {
	{ .name = "trouble",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct odd_options, trouble),
	  .preset = "nothing",
	  .choices = troubles },
	{ .name = NULL },
};

/* Shared with all processes of the runs. */
static struct odd_counts {
	_Atomic int nr_prepared, nr_cleaned, nr_set_up, nr_torn_down, nr_turns;
} * counts;

static const struct zm_metric odd_metrics[] = {
	{ .name = "odd.rate", .unit = "turns/s", .kind = ZM_GAUGE, .is_primary = true },
	{ .name = NULL },
};

static bool is_trouble(const struct zm_run *run, enum trouble trouble)
{
	return ((const struct odd_options *)run->options)->trouble == trouble;
}

static void hang(void)
{
	for (;;)
		(void)pause();
}

static int odd_prepare(struct zm_run *run, struct zm_why *why)
{
	atomic_fetch_add(&counts->nr_prepared, 1);
	if (is_trouble(run, PREPARE_HANGS))
		hang();
	if (is_trouble(run, LEAVES_A_CHILD) && fork() == 0)
		hang();
	if (is_trouble(run, PREPARE_FAILS))
		return zm_why_set(why, -ENOSPC, "nothing to prepare with");
	return 0;
}

static void odd_cleanup(struct zm_run *run)
{
	atomic_fetch_add(&counts->nr_cleaned, 1);
	if (is_trouble(run, CLEANUP_HANGS))
		hang();
}

static int odd_setup(struct zm_task *task, struct zm_why *why)
{
	atomic_fetch_add(&counts->nr_set_up, 1);
	if (task->index != 1)
		return 0;
	if (is_trouble(task->run, SETUP_FAILS))
		return zm_why_set(why, -ENODEV, "no bowl for task 1");
	if (is_trouble(task->run, SETUP_HANGS))
		hang();
	if (is_trouble(task->run, SETUP_DIES))
		(void)kill(getpid(), SIGKILL);
	return 0;
}

static void odd_teardown(struct zm_task *task)
{
	atomic_fetch_add(&counts->nr_torn_down, 1);
	if (task->index == 1 && is_trouble(task->run, TEARDOWN_HANGS))
		hang();
}

static void spin(const struct zm_task *task)
{
	while (!zm_task_is_stopped(task))
		;
}

/* A turn takes a while, so that many tasks on few CPUs all get theirs. */
static int64_t odd_step(struct zm_task *task, uint64_t n)
{
	const struct timespec turn = { 0, 1000000 };

	(void)nanosleep(&turn, NULL);
	atomic_fetch_add(&counts->nr_turns, 1);
	if (task->index != 1)
		return (int64_t)n;
	if (is_trouble(task->run, STEP_FAILS))
		return -EIO;
	if (is_trouble(task->run, STEP_IS_ZERO))
		return 0;
	if (is_trouble(task->run, STEP_EXITS))
		_exit(7);
	if (is_trouble(task->run, STEP_CRASHES))
		(void)kill(getpid(), SIGUSR1);
	if (is_trouble(task->run, STEP_WAITS))
		hang();
	if (is_trouble(task->run, STEP_SPINS))
		spin(task);
	return (int64_t)n;
}

static int odd_verify(struct zm_run *run, struct zm_why *why)
{
	if (is_trouble(run, VERIFY_FAILS))
		return zm_why_set(why, -EBADMSG, "the soup is cold");
	return 0;
}

static int odd_report(const struct zm_window *window, struct zm_report *report)
{
	double ops = 0;

	if (is_trouble(window->run, REPORT_FAILS))
		return -ENODATA;
	if (is_trouble(window->run, REPORT_FORGETS))
		return 0;
	for (unsigned int i = 0; i < window->run->nr_tasks; i++)
		ops += (double)window->ops[i];
	return zm_report_add(report, &odd_metrics[0],
			     ops * 1e9 / (double)(window->t1_ns - window->t0_ns), ops,
			     window->t1_ns - window->t0_ns);
}

static const struct zm_workload odd = {
	.name = "odd",
	.op = "turn",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = odd_rows,
	.options_size = sizeof(struct odd_options),
	.metrics = odd_metrics,
	.batch = 4,
	.prepare = odd_prepare,
	.cleanup = odd_cleanup,
	.setup = odd_setup,
	.teardown = odd_teardown,
	.step = odd_step,
	.verify = odd_verify,
	.report = odd_report,
};

/* What it was to do. */
#define ALL_TURNS 60

static bool odd_is_done(const struct zm_run *run)
{
	(void)run;
	return counts->nr_turns >= ALL_TURNS;
}

/* --- running one --- */

static struct bench bench;

static int set_up(void **state)
{
	static const struct zm_monitor *const none[] = { NULL };

	(void)state;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(counts, MAP_FAILED);
	bench_open(&bench, none);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	bench_close(&bench);
	(void)munmap(counts, sizeof(*counts));
	return 0;
}

static void plan_one(const char *trouble, const char *mode, const char *start, const char *stop,
		     struct zm_plan *plan)
{
	const struct zm_workload *const workloads[] = { &odd, NULL };
	const struct zm_cell_context context = { .nr_cpus = 2 };
	char chosen[64], kind[32], starts[32], stops[32];
	const char *words[] = { "odd",           chosen,        kind,      "nr_task=3",
				"warmup=0",      "idle=0",      "drain=0", "interval=20ms",
				"runtime=700ms", "stall=200ms", starts,    stops };
	struct zm_why why = { "" };

	(void)snprintf(chosen, sizeof(chosen), "trouble=%s", trouble);
	(void)snprintf(kind, sizeof(kind), "mode=%s", mode);
	(void)snprintf(starts, sizeof(starts), "start=%s", start);
	(void)snprintf(stops, sizeof(stops), "stop=%s", stop);
	if (zm_plan_make(&context, workloads, words, sizeof(words) / sizeof(words[0]), plan, &why) <
	    0)
		fail_msg("%s", why.text);
}

static void check_nothing_left(const char *what)
{
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		fail_msg("%s: a child is left", what);
}

static const struct {
	enum trouble trouble;
	const char *process, *thread; /* what the reason says; NULL: it goes well */
	const char *start, *stop;     /* short for what hangs, so that nobody waits for long */
	bool is_cleaned; /* the launcher lived to call cleanup, as a process and as a thread */
} cases[] = {
	{ NOTHING, NULL, NULL, "20s", "20s", true },
	{ LEAVES_A_CHILD, NULL, NULL, "20s", "20s", true },
	{ PREPARE_FAILS, "preparing: nothing to prepare with in the prepare phase",
	  "preparing: nothing to prepare with", "20s", "20s", true },
	{ PREPARE_HANGS, "the workload was not prepared after 400ms", "not prepared after 400ms",
	  "400ms", "300ms", false },
	{ SETUP_FAILS, "task 1: no bowl for task 1 in the setup phase", "task 1: no bowl", "20s",
	  "20s", true },
	{ SETUP_HANGS, "task 1 was not at the gate after 400ms", "task 1 was not at the gate",
	  "400ms", "300ms", false },
	{ SETUP_DIES, "was killed by signal 9", "the process of all tasks (pid", "20s", "20s",
	  false },
	{ STEP_FAILS, "task 1: step: Input/output error", "task 1: step: Input/output error", "20s",
	  "20s", true },
	{ STEP_IS_ZERO, "task 1: step(1) returned 0: a fault of the workload",
	  "task 1: step(1) returned 0", "20s", "20s", true },
	{ STEP_EXITS, "task 1 (pid ", "ended by itself with status 7", "20s", "20s", false },
	{ STEP_CRASHES, "was killed by signal 10", "was killed by signal 10", "20s", "20s", false },
	{ STEP_WAITS, "has stalled: no operation for", "has stalled: no operation for", "20s",
	  "300ms", false },
	{ STEP_SPINS, "has stalled: no operation for", "it runs without counting", "20s", "20s",
	  true },
	{ TEARDOWN_HANGS, "task 1 had not ended after 300ms", "task 1 had not ended after 300ms",
	  "20s", "300ms", false },
	{ VERIFY_FAILS, "verifying: the soup is cold in the cleanup phase", "the soup is cold",
	  "20s", "20s", true },
	{ CLEANUP_HANGS, "the workload had not cleaned up after 300ms", "had not cleaned up", "20s",
	  "300ms", true },
	{ REPORT_FAILS, "reporting odd: No data available", "reporting odd: No data available",
	  "20s", "20s", true },
	{ REPORT_FORGETS, "odd did not report odd.rate", "odd did not report odd.rate", "20s",
	  "20s", true },
};

static void check_outcome(const struct zm_outcome *outcome, const char *what, const char *says)
{
	if (!says) {
		if (outcome->status != ZM_STATUS_OK)
			fail_msg("%s: %s", what, outcome->why.text);
		assert_int_equal(outcome->report.figures[0].value > 0, 1);
		return;
	}
	if (outcome->status != ZM_STATUS_FAILED || !strstr(outcome->why.text, says))
		fail_msg("%s: status %s: %s", what, zm_status_name(outcome->status),
			 outcome->why.text);
}

/* What was entered was left. */
static void check_calls(size_t i, const char *what)
{
	assert_int_equal(counts->nr_prepared, 1);
	if (!cases[i].is_cleaned)
		return;
	if (counts->nr_cleaned != 1 || counts->nr_set_up != counts->nr_torn_down)
		fail_msg("%s: %d of 1 cleaned up, %d set up, %d torn down", what,
			 counts->nr_cleaned, counts->nr_set_up, counts->nr_torn_down);
}

static void run_case(size_t i, const char *mode, const char *says)
{
	const char *trouble = troubles[cases[i].trouble];
	struct zm_outcome outcome;
	struct zm_plan plan;
	char what[64];

	(void)snprintf(what, sizeof(what), "%s as %s", trouble, mode);
	plan_one(trouble, mode, cases[i].start, cases[i].stop, &plan);
	*counts = (struct odd_counts){ 0 };
	zm_phase_run(&bench.session, &plan.cells[0], 0, &outcome);
	check_outcome(&outcome, what, says);
	assert_true(outcome.run_id > 0);
	check_nothing_left(what);
	check_calls(i, what);
	zm_outcome_release(&outcome);
	zm_plan_release(&plan);
}

static void test_processes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case(i, "process", cases[i].process);
}

static void test_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
#ifdef __SANITIZE_THREAD__
		/* The sanitizer has something to say about the other threads first. */
		if (cases[i].trouble == STEP_EXITS)
			continue;
#endif
		run_case(i, "thread", cases[i].thread);
	}
}

/* The window ends when all is done, hours before its runtime is over. */
static void test_done_before_the_runtime(void **state)
{
	struct zm_workload finite = odd;
	const struct zm_workload *const workloads[] = { &finite, NULL };
	const struct zm_cell_context context = { .nr_cpus = 2 };
	const char *words[] = { "odd",     "nr_task=3",  "warmup=0",     "idle=0",
				"drain=0", "runtime=2h", "interval=20ms" };
	struct zm_outcome outcome;
	struct zm_plan plan;

	(void)state;
	finite.is_done = odd_is_done;
	assert_int_equal(zm_plan_make(&context, workloads, words, sizeof(words) / sizeof(words[0]),
				      &plan, NULL),
			 0);
	*counts = (struct odd_counts){ 0 };
	zm_phase_run(&bench.session, &plan.cells[0], 0, &outcome);
	check_outcome(&outcome, "finite", NULL);
	assert_true(counts->nr_turns >= ALL_TURNS);
	check_nothing_left("finite");
	zm_outcome_release(&outcome);
	zm_plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_done_before_the_runtime, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_processes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
