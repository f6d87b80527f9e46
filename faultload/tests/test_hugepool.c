/* hugepool: what is read of a machine, and what is written to it, on trees of a few files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "faultload/hugepool.h"
#include "workloads/base/tests/tree.h"

static struct tree tree;
static struct zm_sysroot root;
static struct zm_why why;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "proc/meminfo",
		   "MemTotal:       16384 kB\nMemAvailable:    8192 kB\n"
		   "HugePages_Total:       0\nHugepagesize:       2048 kB\n");
	tree_write(&tree, "proc/sys/vm/nr_hugepages", "3\n");
	tree_write(&tree, "proc/sys/vm/nr_overcommit_hugepages", "0\n");
	memset(&why, 0, sizeof(why));
	return zm_sysroot_open_writable(&root, tree.path);
}

static int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

static uint64_t number_in(const char *path)
{
	uint64_t number;

	assert_int_equal(zm_sysroot_read_u64(&root, path, &number), 0);
	return number;
}

static void test_meminfo(void **state)
{
	(void)state;
	assert_int_equal(zm_hugepool_meminfo(&root, "MemTotal"), 16384 * 1024);
	assert_int_equal(zm_hugepool_meminfo(&root, "MemAvailable"), 8192 * 1024);
	assert_int_equal(zm_hugepool_meminfo(&root, "Mem"), 0);
	assert_int_equal(zm_hugepool_meminfo(&root, "MemFree"), 0);
	assert_int_equal(zm_hugepool_default_bytes(&root), 2 << 20);
	assert_int_equal(zm_hugepool_check(&root, &why), 0);
}

static void test_without_huge_pages(void **state)
{
	(void)state;
	tree_write(&tree, "proc/meminfo", "MemTotal: 16384 kB\n");
	assert_int_equal(zm_hugepool_default_bytes(&root), 0);
	assert_int_equal(zm_hugepool_check(&root, &why), -ENOTSUP);
}

static void test_add(void **state)
{
	(void)state;
	assert_int_equal(zm_hugepool_add(&root, ZM_HUGEPOOL_SURPLUS, 10, &why), 0);
	assert_int_equal(number_in("proc/sys/vm/nr_overcommit_hugepages"), 10);
	assert_int_equal(number_in("proc/sys/vm/nr_hugepages"), 3);
	assert_int_equal(zm_hugepool_add(&root, ZM_HUGEPOOL_POOL, 10, &why), 0);
	assert_int_equal(number_in("proc/sys/vm/nr_hugepages"), 13);
}

static void test_add_cannot(void **state)
{
	struct zm_sysroot recorded;

	(void)state;
	assert_int_equal(zm_sysroot_open(&recorded, tree.path), 0);
	assert_int_equal(zm_hugepool_add(&recorded, ZM_HUGEPOOL_POOL, 1, &why), -EROFS);
	assert_non_null(strstr(why.text, "nr_hugepages"));
	zm_sysroot_release(&recorded);
	tree_must(unlink(tree_path(&tree, "proc/sys/vm/nr_hugepages")) == 0);
	assert_int_equal(zm_hugepool_add(&root, ZM_HUGEPOOL_POOL, 1, &why), -ENOENT);
}

static void test_path(void **state)
{
	char path[128];

	(void)state;
	assert_string_equal(zm_hugepool_path(path, sizeof(path), 2 << 20, -1),
			    "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
	assert_string_equal(
		zm_hugepool_path(path, sizeof(path), 1 << 30, 12),
		"sys/devices/system/node/node12/hugepages/hugepages-1048576kB/nr_hugepages");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_meminfo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_without_huge_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_add, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_add_cannot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_path, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
