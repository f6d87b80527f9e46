/* memused: one file, one moment; settled or not; a machine without the file. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "runner/memused.h"
#include "workloads/base/tests/tree.h"

static void write_meminfo(const struct tree *tree, unsigned int total_kb, unsigned int free_kb)
{
	char text[128];

	(void)snprintf(text, sizeof(text),
		       "MemTotal:       %u kB\nMemFree:        %u kB\nMemAvailable:   5 kB\n",
		       total_kb, free_kb);
	tree_write(tree, "proc/meminfo", text);
}

static void test_curve(void **state)
{
	static const unsigned int free_kb[] = { 900, 500, 100, 890, 891, 889, 890 };
	struct zm_memused memused;
	struct zm_sysroot root;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	write_meminfo(&tree, 1000, 950);
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	assert_int_equal(zm_memused_open(&memused, &root), 0);
	for (size_t i = 0; i < sizeof(free_kb) / sizeof(free_kb[0]); i++) {
		write_meminfo(&tree, 1000, free_kb[i]);
		assert_int_equal(zm_memused_read(&memused), 0);
		assert_int_equal(memused.used_bytes, (1000 - free_kb[i]) * 1024);
	}
	assert_int_equal(memused.peak_bytes, 900 * 1024);
	assert_true(zm_memused_is_settled(&memused, 4, 2048));
	assert_false(zm_memused_is_settled(&memused, 4, 1024));
	assert_false(zm_memused_is_settled(&memused, 5, 2048));
	assert_false(zm_memused_is_settled(&memused, 8, UINT64_MAX));
	zm_memused_restart(&memused);
	assert_false(zm_memused_is_settled(&memused, 1, UINT64_MAX));
	zm_memused_release(&memused);
	zm_memused_release(&memused);
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

static void test_odd_files(void **state)
{
	struct zm_memused memused;
	struct zm_sysroot root;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	assert_int_equal(zm_memused_open(&memused, &root), -ENOENT);
	assert_true(zm_memused_read(&memused) < 0);
	tree_write(&tree, "proc/meminfo", "");
	assert_int_equal(zm_memused_open(&memused, &root), 0);
	assert_int_equal(zm_memused_read(&memused), -ENOENT);
	tree_write(&tree, "proc/meminfo", "MemTotal: 10 kB\nMemFree: 20 kB");
	assert_int_equal(zm_memused_read(&memused), 0);
	assert_int_equal(memused.used_bytes, 0);
	zm_memused_release(&memused);
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curve),
		cmocka_unit_test(test_odd_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
