/* limits: cgroups of both versions, alone and together; the tightest ancestor counts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "runner/limits.h"
#include "workloads/base/tests/tree.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define V2_MOUNT "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1_MOUNTS                                                                                  \
	"31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                         \
	"32 1 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"                       \
	"33 1 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
#define HYBRID_MOUNT "34 1 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define V1_LINES     "3:cpuset:/a\n2:cpu,cpuacct:/a/b\n1:memory:/a/b\n"
#define ALL          "cpuset cpu io memory pids\n"

struct file {
	const char *path; /* below sys/fs/cgroup */
	const char *text;
};

static const struct {
	const char *cgroup; /* proc/self/cgroup */
	const char *mounts;
	struct file files[10];
	struct zm_limits expected;
} cases[] = {
	{ NULL, NULL, { { NULL, NULL } }, { "", UINT64_MAX, UINT64_MAX, INFINITY, "" } },
	{ "", "", { { NULL, NULL } }, { "none", UINT64_MAX, UINT64_MAX, INFINITY, "" } },
	{ "0::/\n",
	  V2_MOUNT,
	  { { "cgroup.controllers", ALL } },
	  { "v2", UINT64_MAX, UINT64_MAX, INFINITY, "" } },
	{ "0::/a/b\n",
	  V2_MOUNT,
	  { { "a/cgroup.controllers", ALL },
	    { "a/b/cgroup.controllers", ALL },
	    { "a/memory.max", "1048576\n" },
	    { "a/memory.high", "max\n" },
	    { "a/cpu.max", "max 100000\n" },
	    { "a/b/memory.max", "max\n" },
	    { "a/b/memory.high", "4096\n" },
	    { "a/b/cpu.max", "150000 100000\n" },
	    { "a/b/cpuset.cpus.effective", "1-2\n" } },
	  { "v2", 1048576, 4096, 1.5, "1-2" } },
	{ "0::/a/b\n",
	  V2_MOUNT,
	  { { "a/cgroup.controllers", ALL },
	    { "a/b/cgroup.controllers", ALL },
	    { "a/cpu.max", "50000 100000\n" },
	    { "a/b/cpu.max", "150000 100000\n" } },
	  { "v2", UINT64_MAX, UINT64_MAX, 0.5, "" } },
	/* Controllers that are enabled further up only. */
	{ "0::/a/b\n",
	  V2_MOUNT,
	  { { "a/cgroup.controllers", "memory\n" },
	    { "a/b/cgroup.controllers", "\n" },
	    { "a/memory.max", "4096\n" },
	    { "a/cpu.max", "50000 100000\n" } },
	  { "v2", 4096, UINT64_MAX, INFINITY, "" } },
	{ V1_LINES,
	  V1_MOUNTS,
	  { { "memory/a/memory.limit_in_bytes", "8192\n" },
	    { "memory/a/b/memory.limit_in_bytes", "9223372036854771712\n" },
	    { "cpu/a/cpu.cfs_quota_us", "-1\n" },
	    { "cpu/a/cpu.cfs_period_us", "100000\n" },
	    { "cpu/a/b/cpu.cfs_quota_us", "25000\n" },
	    { "cpu/a/b/cpu.cfs_period_us", "50000\n" },
	    { "cpuset/a/cpuset.effective_cpus", "3\n" },
	    { "cpuset/a/cpuset.cpus", "0-3\n" } },
	  { "v1", 8192, UINT64_MAX, 0.5, "3" } },
	{ V1_LINES "0::/\n",
	  V1_MOUNTS HYBRID_MOUNT,
	  { { "unified/cgroup.controllers", "\n" },
	    { "memory/a/b/memory.limit_in_bytes", "4096\n" },
	    { "cpuset/a/cpuset.cpus", "0-3\n" } },
	  { "hybrid", 4096, UINT64_MAX, INFINITY, "0-3" } },
	{ "0::/a\n",
	  V2_MOUNT,
	  { { "a/cgroup.controllers", ALL },
	    { "a/memory.max", "nonsense\n" },
	    { "a/cpu.max", "\n" },
	    { "a/cpuset.cpus.effective", "\n" } },
	  { "v2", UINT64_MAX, UINT64_MAX, INFINITY, "" } },
};

static void limits_are_the_tightest(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct tree tree;
		struct zm_sysroot root;
		struct zm_limits limits;

		tree_make(&tree);
		if (cases[i].cgroup)
			tree_write(&tree, "proc/self/cgroup", cases[i].cgroup);
		if (cases[i].mounts)
			tree_write(&tree, "proc/self/mountinfo", cases[i].mounts);
		for (size_t k = 0; k < nr_of(cases[i].files) && cases[i].files[k].path; k++) {
			char path[128];

			(void)snprintf(path, sizeof(path), "sys/fs/cgroup/%s",
				       cases[i].files[k].path);
			tree_write(&tree, path, cases[i].files[k].text);
		}
		assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
		zm_limits_read(&root, &limits);
		assert_string_equal(limits.mode, cases[i].expected.mode);
		assert_true(limits.memory_bytes == cases[i].expected.memory_bytes);
		assert_true(limits.memory_high_bytes == cases[i].expected.memory_high_bytes);
		assert_true(isinf(cases[i].expected.cpu_quota)
				    ? isinf(limits.cpu_quota)
				    : fabs(limits.cpu_quota - cases[i].expected.cpu_quota) < 1e-9);
		assert_string_equal(limits.cpuset, cases[i].expected.cpuset);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(limits_are_the_tightest) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
