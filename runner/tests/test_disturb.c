/* disturb: two made-up machines a second apart, and what lies between them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "runner/disturb.h"
#include "workloads/base/tests/tree.h"

#define S UINT64_C(1000000000)

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

static void sample(const char *stat, const char *cpu_stat, const char *cpus,
		   struct zm_disturb_sample *ret_sample)
{
	zm_autocpuset struct zm_cpuset used = { 0 };
	struct zm_sysroot root;
	struct tree tree;

	tree_make(&tree);
	if (stat)
		tree_write(&tree, "proc/stat", stat);
	tree_write(&tree, "proc/self/cgroup", "0::/a\n");
	tree_write(&tree, "proc/self/mountinfo",
		   "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	tree_write(&tree, "sys/fs/cgroup/a/cgroup.controllers", "cpu\n");
	if (cpu_stat)
		tree_write(&tree, "sys/fs/cgroup/a/cpu.stat", cpu_stat);
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	assert_int_equal(zm_cpuset_parse(cpus, &used), 0);
	zm_disturb_read(&root, &used, ret_sample);
	ret_sample->self_ns = 0;
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

/* Ticks of 10 ms: CPU 0 had 60 user, 30 system, 5 steal and 5 idle; CPU 1 was idle. */
#define STAT_0                                                                                     \
	"cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 5\n"
#define STAT_1                                                                                     \
	"cpu  60 0 30 105 0 0 0 5 0 0\ncpu0 60 0 30 5 0 0 0 5 0 0\ncpu1 0 0 0 100 0 0 0 0 0 0\n"

static void test_between(void **state)
{
	const struct zm_tasktime tasks = { .cpu_ns = 8 * S / 10 };
	struct zm_disturb_sample from, to;
	struct zm_disturb disturb;
	char what[128];

	(void)state;
	if (sysconf(_SC_CLK_TCK) != 100)
		skip();
	sample(STAT_0, "throttled_usec 0\n", "0", &from);
	sample(STAT_1, "nr_periods 9\nthrottled_usec 20000\n", "0", &to);
	zm_disturb_between(&from, &to, &tasks, S, &disturb);
	assert_true(is_near(disturb.steal, 5));
	assert_true(is_near(disturb.others, 10));
	assert_true(is_near(disturb.throttled, 2));
	assert_true(zm_disturb_is_much(&disturb, what, sizeof(what)));
	assert_non_null(strstr(what, "steal"));

	sample(STAT_0, NULL, "0-1", &from);
	sample(STAT_1, NULL, "0-1", &to);
	zm_disturb_between(&from, &to, &tasks, S, &disturb);
	assert_true(is_near(disturb.steal, 2.5));
	assert_true(is_near(disturb.others, 5));
	assert_true(disturb.throttled < 0);
}

static void test_the_runner_is_no_other(void **state)
{
	const struct zm_tasktime tasks = { .cpu_ns = 8 * S / 10 };
	struct zm_disturb_sample from, to;
	struct zm_disturb disturb;

	(void)state;
	if (sysconf(_SC_CLK_TCK) != 100)
		skip();
	sample(STAT_0, NULL, "0", &from);
	sample(STAT_1, NULL, "0", &to);
	to.self_ns = S / 10;
	zm_disturb_between(&from, &to, &tasks, S, &disturb);
	assert_true(is_near(disturb.others, 0));
	to.self_ns = S;
	zm_disturb_between(&from, &to, &tasks, S, &disturb);
	assert_true(is_near(disturb.others, 0));
}

/* What is not known is negative, and disturbs nobody. */
static void test_unknown(void **state)
{
	struct zm_disturb_sample from, to;
	struct zm_disturb disturb;
	char what[128];

	(void)state;
	sample(NULL, NULL, "0", &from);
	sample(NULL, NULL, "0", &to);
	zm_disturb_between(&from, &to, NULL, S, &disturb);
	assert_true(disturb.steal < 0 && disturb.others < 0 && disturb.throttled < 0);
	assert_false(zm_disturb_is_much(&disturb, what, sizeof(what)));
	sample("cpu0 junk\ncpu 5\n", "throttled_usec x\n", "0", &from);
	assert_false(from.has_cpu || from.has_throttle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_the_runner_is_no_other),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
