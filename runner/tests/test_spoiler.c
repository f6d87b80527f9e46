/* spoiler: each thing that spoils a result is found alone, on a quiet machine made for the purpose;
 * and a quiet machine has none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "runner/activity.h"
#include "runner/inventory.h"
#include "workloads/base/clock.h"
#include "workloads/base/tests/machine.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define THP   "sys/kernel/mm/transparent_hugepage/"
#define CPU   "sys/devices/system/cpu/"
#define TRACE "sys/kernel/tracing/"

struct file {
	const char *path;
	const char *text;
};

/* All that is looked at, as it should be. */
static const struct file quiet[] = {
	{ "proc/meminfo", "MemTotal:   1048576 kB\nSwapTotal:   4096 kB\nSwapFree:   4096 kB\n" },
	{ "proc/self/cgroup", "0::/a\n" },
	{ "proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" },
	{ "sys/fs/cgroup/a/cgroup.controllers", "cpuset cpu memory\n" },
	{ "sys/fs/cgroup/a/memory.max", "max\n" },
	{ "sys/fs/cgroup/a/cpu.max", "max 100000\n" },
	{ THP "enabled", "always madvise [never]\n" },
	{ THP "hugepages-64kB/enabled", "always [inherit] madvise never\n" },
	{ THP "hugepages-2048kB/enabled", "always inherit madvise [never]\n" },
	{ "proc/sys/kernel/numa_balancing", "0\n" },
	{ "proc/sys/kernel/sched_schedstats", "0\n" },
	{ "sys/kernel/mm/ksm/run", "0\n" },
	{ "sys/kernel/mm/damon/admin/kdamonds/0/state", "off\n" },
	{ CPU "cpufreq/policy0/scaling_governor", "performance\n" },
	{ CPU "intel_pstate/no_turbo", "1\n" },
	{ CPU "smt/active", "0\n" },
	{ TRACE "tracing_on", "1\n" },
	{ TRACE "current_tracer", "nop\n" },
	{ TRACE "events/enable", "0\n" },
};

/* One file that is otherwise, or one more. */
static const struct {
	struct file file;
	const char *name;
	const char *what; /* of the sentence */
} cases[] = {
	{ { "proc/meminfo", "MemTotal: 1048576 kB\nSwapTotal: 4096 kB\nSwapFree: 1024 kB\n" },
	  "swap",
	  "3.00 MiB" },
	{ { "sys/fs/cgroup/a/memory.max", "1048576\n" },
	  "memory-limit",
	  "limits memory at 1.00 MiB" },
	{ { "sys/fs/cgroup/a/memory.high", "2097152\n" },
	  "memory-limit",
	  "from memory at 2.00 MiB" },
	{ { "sys/fs/cgroup/a/cpu.max", "50000 100000\n" }, "quota", "0.50" },
	{ { THP "enabled", "[always] madvise never\n" }, "thp", "always" },
	{ { THP "enabled", "always [madvise] never\n" }, "thp", "madvise" },
	{ { THP "hugepages-64kB/enabled", "[always] inherit madvise never\n" },
	  "thp-sizes",
	  "64kB always" },
	{ { "proc/sys/kernel/numa_balancing", "2\n" }, "numa-balancing", "(2)" },
	{ { "proc/sys/kernel/sched_schedstats", "1\n" }, "statistics", "sched_schedstats" },
	{ { "sys/kernel/mm/ksm/run", "1\n" }, "ksm", "KSM" },
	{ { "sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n" }, "damon", "kdamond" },
	{ { CPU "cpufreq/policy0/scaling_governor", "powersave\n" }, "frequency", "powersave" },
	{ { CPU "cpufreq/policy4/scaling_governor", "schedutil\n" }, "frequency", "1 of 2" },
	{ { CPU "intel_pstate/no_turbo", "0\n" }, "turbo", "turbo" },
	{ { CPU "smt/active", "1\n" }, "smt", "SMT" },
	{ { TRACE "current_tracer", "function\n" }, "tracing", "tracer" },
	{ { TRACE "events/enable", "X\n" }, "tracing", "events" },
	{ { "proc/lockdep", "" }, "debug-kernel", "LOCKDEP" },
};

static struct tree tree;
static struct zm_sysroot root;
static struct zm_spoiler spoilers[32];

static int set_up(void **state)
{
	const struct machine machine = { MACHINE(2, 1, 2, 1, 2) };

	(void)state;
	tree_make(&tree);
	machine_make(&machine, &tree);
	for (size_t i = 0; i < nr_of(quiet); i++)
		tree_write(&tree, quiet[i].path, quiet[i].text);
	return zm_sysroot_open(&root, tree.path);
}

static int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

static size_t look(const char *only, size_t max)
{
	struct zm_topology topology;
	struct zm_cpuset cpus = { NULL, 0 };
	size_t nr;

	if (only)
		assert_int_equal(zm_cpuset_parse(only, &cpus), 0);
	assert_int_equal(zm_topology_read(&root, only ? &cpus : NULL, &topology, NULL), 0);
	nr = zm_inventory_spoilers(&root, &topology, spoilers, max);
	zm_topology_release(&topology);
	zm_cpuset_release(&cpus);
	return nr;
}

static void a_quiet_machine_has_none(void **state)
{
	(void)state;
	assert_int_equal(look(NULL, 32), 0);
}

static void each_is_found_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		size_t nr;

		tree_write(&tree, cases[i].file.path, cases[i].file.text);
		nr = look(NULL, 32);
		assert_int_equal(nr, 1);
		assert_string_equal(spoilers[0].name, cases[i].name);
		assert_non_null(strstr(spoilers[0].what, cases[i].what));
		assert_true(spoilers[0].mend[0] != '\0');
		tear_down(NULL);
		set_up(NULL);
	}
}

static void fewer_cpus_than_there_are(void **state)
{
	(void)state;
	assert_int_equal(look("1-2", 32), 1);
	assert_string_equal(spoilers[0].name, "cpuset");
	assert_non_null(strstr(spoilers[0].what, "1-2 of 0-3"));
}

/* With tracing switched off, a tracer that is set costs nothing. */
static void tracing_that_is_off_is_none(void **state)
{
	(void)state;
	tree_write(&tree, TRACE "tracing_on", "0\n");
	tree_write(&tree, TRACE "current_tracer", "function\n");
	tree_write(&tree, TRACE "events/enable", "1\n");
	assert_int_equal(look(NULL, 32), 0);
}

static void no_more_than_there_is_room_for(void **state)
{
	(void)state;
	tree_write(&tree, THP "enabled", "[always] madvise never\n");
	tree_write(&tree, "sys/kernel/mm/ksm/run", "1\n");
	tree_write(&tree, CPU "smt/active", "1\n");
	assert_int_equal(look(NULL, 2), 2);
	assert_int_equal(look(NULL, 0), 0);
	assert_int_equal(look(NULL, 32), 3);
}

/* --- activity -------------------------------------------------------------------------------- */

static void a_recorded_machine_has_no_activity(void **state)
{
	struct zm_cpuset cpus = { NULL, 0 };
	struct zm_activity activity;

	(void)state;
	assert_int_equal(zm_activity_read(&root, &cpus, 0, &activity), -ENOTSUP);
}

/* A process that spins is seen, or another that is busier still. */
static void a_busy_process_is_seen(void **state)
{
	struct zm_cpuset cpus = { NULL, 0 };
	struct zm_activity activity;
	struct zm_sysroot live;
	pid_t child;
	int error;

	(void)state;
	assert_int_equal(zm_sysroot_open(&live, NULL), 0);
	assert_int_equal(zm_cpuset_get_affinity(0, &cpus), 0);
	child = fork();
	if (child == 0)
		for (;;)
			__asm__ volatile("" ::: "memory");
	error = zm_activity_read(&live, &cpus, 1 * ZM_NS_PER_S, &activity);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(error, 0);
	assert_true(activity.busiest_pid > 0);
	assert_true(activity.busiest_pid != getpid());
	assert_true(activity.busiest_name[0] != '\0');
	assert_true(activity.busiest_share > 0);
	assert_true(activity.busy_share >= 0 && activity.busy_share <= 1);
	assert_true(activity.steal_share >= 0 && activity.steal_share <= 1);
	assert_true(activity.managed_pages > 0);
	zm_cpuset_release(&cpus);
	zm_sysroot_release(&live);
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(a_quiet_machine_has_none),
		test_in_tree(each_is_found_alone),
		test_in_tree(fewer_cpus_than_there_are),
		test_in_tree(tracing_that_is_off_is_none),
		test_in_tree(no_more_than_there_is_room_for),
		test_in_tree(a_recorded_machine_has_no_activity),
		test_in_tree(a_busy_process_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
