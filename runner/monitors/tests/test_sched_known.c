/*
 * perf-sched and sched-delay: against tasks whose sleeps and switches are known.
 *
 * labels: known serial bpf
 * timeout: 600
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

#define NR_SLEEPS   101
#define SLEEP_NS    (2 * ZM_NS_PER_MS)
#define PATIENCE_MS 60000
#define NR_TRIES    10 /* of what a machine that stands still in the wrong moment spoils */

static struct rig rig;
static pid_t children[2];
static int go[2], over[2];

static void begin(const char *monitor)
{
	rig_open(&rig, NULL, monitor);
	if (!rig.open_error)
		return;
	print_message("%s cannot be had: %s\n", monitor, rig.why.text);
	rig_close(&rig);
	skip();
}

static void open_pipes(void)
{
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(over), 0);
}

/* A child that waits for the word, does its work, says so, and stays. */
static void start(unsigned int index, void (*work)(void))
{
	char word;

	children[index] = fork();
	assert_true(children[index] >= 0);
	if (children[index] > 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go[0], &word, 1) == 1)
		work();
	(void)!write(over[1], "", 1);
	for (;;)
		(void)pause();
}

static void end(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		assert_int_equal(kill(children[i], SIGKILL), 0);
		assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		(void)close(go[i]);
		(void)close(over[i]);
	}
}

static void attach(unsigned int nr)
{
	const struct zm_target target = {
		.kind = ZM_TASK_PROCESS, .launcher = getpid(), .tids = children, .nr_tasks = nr
	};

	assert_int_equal(rig.context.monitor->attach(&rig.context, &target, &rig.why), 0);
}

static uint64_t value_of(const char *metric, unsigned int task)
{
	const struct rig_series *series = rig_find(&rig.recorder, metric, ZM_SCOPE_TASK, task);

	assert_non_null(series);
	return series->u64;
}

static double reported(const char *metric)
{
	int row = rig_reported(&rig.report, metric);

	if (row < 0)
		fail_msg("no %s", metric);
	return rig.report.rows[row].value;
}

static void sleep_often(void)
{
	for (unsigned int i = 0; i < NR_SLEEPS; i++)
		(void)zm_clock_sleep_until(zm_clock_now_ns() + SLEEP_NS);
}

static void say_go(unsigned int nr, uint64_t *ret_t0_ns)
{
	*ret_t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, *ret_t0_ns), 0);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(write(go[1], "", 1), 1);
}

static void say_stop(uint64_t t0_ns, uint64_t *ret_t1_ns)
{
	*ret_t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, *ret_t1_ns), 0);
	assert_int_equal(rig_report(&rig, t0_ns, *ret_t1_ns), 0);
}

/* From the word until the one child's work is done. */
static void measure(void)
{
	struct pollfd done = { .fd = over[0], .events = POLLIN };
	uint64_t t0_ns, t1_ns;

	say_go(1, &t0_ns);
	assert_int_equal(poll(&done, 1, PATIENCE_MS), 1);
	say_stop(t0_ns, &t1_ns);
}

/* A counted number of sleeps, none shorter than it asked for. The wait for the word is one more. */
static void test_sleeps(void **state)
{
	uint64_t waits;

	(void)state;
	begin("perf-sched");
	open_pipes();
	start(0, sleep_often);
	attach(1);
	(void)zm_clock_sleep_until(zm_clock_now_ns() + 50 * ZM_NS_PER_MS);
	measure();
	end(1);
	waits = value_of("perf-sched.waits", 0);
	/* one may be over before it has begun; none has more than one wake-up */
	assert_in_range(waits, NR_SLEEPS / 2, NR_SLEEPS + 1);
	assert_true(reported("perf-sched.total_wait_time.average.ms") >= 0.9 * SLEEP_NS / 1e6);
	assert_true(reported("perf-sched.total_wait_time.max.ms") >=
		    reported("perf-sched.total_wait_time.average.ms"));
	/* each wake-up is a delay, however short */
	assert_true(value_of("perf-sched.delays", 0) >= waits);
	assert_true(reported("perf-sched.total_sch_delay.max.ms") >=
		    reported("perf-sched.total_sch_delay.average.ms"));
	rig_close(&rig);
}

/* Its work is done by a child of its own, and by a child of that. */
static void sleep_by_others(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		pid_t pid = fork();

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pid <= 0)
			continue;
		(void)waitpid(pid, NULL, 0);
		if (i == 0)
			return;
		_exit(0);
	}
	sleep_often();
	_exit(0);
}

/* What a task's children do counts as its own. */
static void test_children(void **state)
{
	(void)state;
	begin("perf-sched");
	open_pipes();
	start(0, sleep_by_others);
	attach(1);
	measure();
	end(1);
	/* and each of the two that wait sleeps at least once */
	assert_in_range(value_of("perf-sched.waits", 0), NR_SLEEPS / 2, NR_SLEEPS + 10);
	rig_close(&rig);
}

static void spin(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static int own_cpu(void)
{
	zm_autocpuset struct zm_cpuset allowed = { 0 };

	assert_int_equal(zm_cpuset_get_affinity(0, &allowed), 0);
	return zm_cpuset_next(&allowed, 0);
}

static void spin_on_one_cpu(void)
{
	zm_autocpuset struct zm_cpuset one = { 0 };

	if (zm_cpuset_add(&one, (unsigned int)own_cpu()) == 0 &&
	    zm_cpuset_set_affinity(0, &one) == 0)
		spin();
}

/* Two tasks that never sleep on one CPU: each waits for about as long as both run, by turns. */
static void spin_both(const char *monitor, uint64_t *ret_width_ns)
{
	uint64_t t0_ns, t1_ns;

	begin(monitor);
	open_pipes();
	start(0, spin_on_one_cpu);
	start(1, spin_on_one_cpu);
	attach(2);
	say_go(2, &t0_ns);
	(void)zm_clock_sleep_until(t0_ns + ZM_NS_PER_S);
	say_stop(t0_ns, &t1_ns);
	end(2);
	*ret_width_ns = t1_ns - t0_ns;
}

static bool is_fair_fight(void)
{
	uint64_t width_ns, waited_ns, preempted, waits;

	spin_both("perf-sched", &width_ns);
	waited_ns = value_of("perf-sched.delay_time", 0) + value_of("perf-sched.delay_time", 1);
	preempted = value_of("perf-sched.preempted", 0) + value_of("perf-sched.preempted", 1);
	waits = value_of("perf-sched.waits", 0);
	rig_close(&rig);
	/* one of the two is always waiting; what is not over when measuring ends is not in it */
	return (double)waited_ns >= 0.5 * (double)width_ns && waited_ns <= 2 * width_ns &&
	       preempted > 2 && waits <= 2;
}

static void test_fight(void **state)
{
	bool agrees = false;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++)
		agrees = is_fair_fight();
	assert_true(agrees);
}

/* The kernel's own accounting agrees. */
static void test_fight_by_schedstat(void **state)
{
	bool agrees = false;
	uint64_t width_ns;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
		spin_both("sched-delay", &width_ns);
		assert_true(reported("sched-delay.worst_task_avg_us") >=
			    reported("sched-delay.avg_us"));
		agrees = reported("sched-delay.wait%") > 25;
		rig_close(&rig);
	}
	assert_true(agrees);
}

/* A task that sleeps before, in and after a short window: how many of its sleeps counted in the end. */
static uint64_t count_around_window(void)
{
	uint64_t waits;

	begin("perf-sched");
	open_pipes();
	start(0, sleep_often);
	attach(1);
	assert_int_equal(rig_read(&rig, ZM_PHASE_WARMUP, 1), 0);
	assert_int_equal(write(go[1], "", 1), 1);
	(void)zm_clock_sleep_until(zm_clock_now_ns() + 50 * ZM_NS_PER_MS);
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, 2), 0);
	assert_int_equal(value_of("perf-sched.waits", 0), 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, 3), 0);
	(void)zm_clock_sleep_until(zm_clock_now_ns() + 50 * ZM_NS_PER_MS);
	assert_int_equal(rig_read(&rig, ZM_PHASE_DRAIN, 4), 0);
	waits = value_of("perf-sched.waits", 0);
	end(1);
	rig_close(&rig);
	return waits;
}

/* Before and after the window nothing is counted. */
static void test_only_the_window(void **state)
{
	uint64_t least = UINT64_MAX;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && least > 5; i++) {
		uint64_t waits = count_around_window();

		least = waits < least ? waits : least;
	}
	assert_in_range(least, 0, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeps),          cmocka_unit_test(test_children),
		cmocka_unit_test(test_fight),           cmocka_unit_test(test_fight_by_schedstat),
		cmocka_unit_test(test_only_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
