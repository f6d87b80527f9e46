/* kin: a made-up family in /proc, of three generations, one of which has gone since it was listed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "runner/kin.h"
#include "runner/tasktime.h"
#include "workloads/base/tests/tree.h"

/* In ticks: its own, and of those that it has waited for. NULL: no list of children. */
static void put(const struct tree *tree, int pid, int own, int waited, const char *children)
{
	char path[64], line[256];

	(void)snprintf(path, sizeof(path), "proc/%d/stat", pid);
	(void)snprintf(line, sizeof(line),
		       "%d (a (b) 1) S 1 1 1 0 -1 4194560 100 5000 20 900 %d 1 %d 1 20 0 1 0 1234 "
		       "4096 1\n",
		       pid, own - 1, waited - 1);
	tree_write(tree, path, line);
	(void)snprintf(path, sizeof(path), "proc/%d/task/%d/children", pid, pid);
	if (children)
		tree_write(tree, path, children);
}

static void test_family(void **state)
{
	struct zm_sysroot root;
	struct tree tree;
	uint64_t cpu_ns = 7;

	(void)state;
	tree_make(&tree);
	put(&tree, 10, 1000, 3, "11 12 13 ");
	put(&tree, 11, 20, 5, "");
	put(&tree, 12, 100, 7, "14 ");
	put(&tree, 14, 400, 50, "");
	put(&tree, 20, 1, 1, NULL);
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	assert_int_equal(zm_kin_read(&root, 99, &cpu_ns), -ENOENT);
	assert_int_equal(zm_kin_read(&root, 20, &cpu_ns), -ENOENT);
	assert_int_equal(cpu_ns, 7);
	assert_int_equal(zm_kin_read(&root, 11, &cpu_ns), 0);
	assert_int_equal(cpu_ns, 5 * zm_tasktime_tick_ns());
	assert_int_equal(zm_kin_read(&root, 10, &cpu_ns), 0);
	assert_int_equal(cpu_ns, (3 + 25 + 107 + 450) * zm_tasktime_tick_ns());
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_family) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
