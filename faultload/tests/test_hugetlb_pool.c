/*
 * hugetlb_pool: on a tree that stands in for the kernel and always makes what it is asked for; and, as
 * root, on this machine with a few pages.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "faultload/hugepool.h"
#include "workloads/base/tests/tree.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_hugetlb_pool;

enum { GROW_NS, SHRINK_NS, GROWN, SHRUNK, ASKED };

#define ALL_NODES "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
#define NODE_1    "sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"
#define GIGANTIC  "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"

static struct tree tree;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "proc/meminfo",
		   "MemTotal: 4194304 kB\nMemAvailable: 2097152 kB\nHugepagesize: 2048 kB\n");
	tree_write(&tree, "proc/sys/vm/nr_overcommit_hugepages", "0\n");
	tree_write(&tree, ALL_NODES, "5\n");
	tree_write(&tree, NODE_1, "2\n");
	tree_write(&tree, GIGANTIC, "0\n");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static void start(struct rig *rig, const char *root, const char *options)
{
	rig_init(rig, &wl_faultload_hugetlb_pool, ZM_TASK_PROCESS, 1, root);
	rig_must(rig, rig_set_options(rig, options), options);
	rig_must(rig, rig_check(rig), "check");
	rig_must(rig, rig_prepare(rig), "prepare");
}

static uint64_t pool(const struct rig *rig, const char *path)
{
	uint64_t number;

	assert_int_equal(zm_sysroot_read_u64(&rig->root, path, &number), 0);
	return number;
}

static void test_cycles(void **state)
{
	static const struct {
		const char *options;
		const char *path;
		uint64_t base, nr_pages;
	} cases[] = {
		{ "pages=7", ALL_NODES, 5, 7 },
		{ "pages=7 step=1", ALL_NODES, 5, 7 },
		{ "pages=7 step=3", ALL_NODES, 5, 7 },
		{ "pages=7 node=1", NODE_1, 2, 7 },
		{ "pages=3 hugepagesize=1G", GIGANTIC, 0, 3 },
		{ "", ALL_NODES, 5, 256 }, /* a quarter of what is available */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_Atomic uint64_t *counters;
		struct rig rig;

		start(&rig, tree.path, cases[i].options);
		counters = rig.slots[0].counters;
		rig_run(&rig, 0, 5 * cases[i].nr_pages);
		assert_int_equal(counters[GROWN] + counters[SHRUNK], rig_ops(&rig, 0));
		assert_int_equal(counters[GROWN], counters[ASKED]);
		assert_in_range(counters[GROWN] - counters[SHRUNK], 0, cases[i].nr_pages);
		rig_stop(&rig);
		assert_int_equal(pool(&rig, cases[i].path), cases[i].base);
		rig_report(&rig, 1000000000);
		rig_assert_all_reported(&rig);
		assert_true(rig_figure(&rig, "hugetlb_pool.asked")->value ==
			    (double)cases[i].nr_pages);
		assert_true(rig_figure(&rig, "hugetlb_pool.got")->value ==
			    (double)cases[i].nr_pages);
		rig_free(&rig);
	}
}

static void test_check_refuses(void **state)
{
	static const struct {
		const char *options;
		unsigned int nr_tasks;
		int error;
		const char *says;
	} cases[] = {
		{ "node=7", 1, -ENOTSUP, "node7" },
		{ "node=first", 1, -EINVAL, "node=first" },
		{ "hugepagesize=64K", 1, -ENOTSUP, "hugepages-64kB" },
		{ "", 2, -EINVAL, "nr_task=1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;

		rig_init(&rig, &wl_faultload_hugetlb_pool, ZM_TASK_PROCESS, cases[i].nr_tasks,
			 tree.path);
		assert_int_equal(rig_set_options(&rig, cases[i].options), 0);
		assert_int_equal(rig_check(&rig), cases[i].error);
		if (!strstr(rig.why.text, cases[i].says))
			fail_msg("%s: %s", cases[i].options, rig.why.text);
		rig_free(&rig);
	}
}

/* A node without memory has a pool all the same; it is refused before anything is tried. */
static void test_node_without_memory(void **state)
{
	static const struct {
		const char *has_memory;
		int r;
	} cases[] = { { "0\n", -ENOTSUP }, { "0-1\n", 0 }, { "1,4\n", 0 }, { "4\n", -ENOTSUP } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;

		tree_write(&tree, "sys/devices/system/node/has_memory", cases[i].has_memory);
		rig_init(&rig, &wl_faultload_hugetlb_pool, ZM_TASK_PROCESS, 1, tree.path);
		assert_int_equal(rig_set_options(&rig, "node=1 pages=1"), 0);
		assert_int_equal(rig_check(&rig), cases[i].r);
		if (cases[i].r < 0)
			assert_non_null(strstr(rig.why.text, "node=1: that node has no memory"));
		rig_free(&rig);
	}
}

/* A task that is stopped while the pool is large gives all back; one that cannot is found. */
static void test_gives_back(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig, tree.path, "pages=9");
	tree_write(&tree, ALL_NODES, "14\n");
	rig_stop(&rig);
	assert_int_equal(pool(&rig, ALL_NODES), 5);
	rig_free(&rig);
}

static void test_on_this_machine(void **state)
{
	uint64_t before;
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_hugetlb_pool, ZM_TASK_PROCESS, 1, NULL);
	if (geteuid() != 0 || zm_hugepool_default_bytes(&rig.root) != UINT64_C(2) << 20) {
		rig_free(&rig);
		skip();
	}
	rig_free(&rig);
	start(&rig, NULL, "pages=4");
	before = pool(&rig, ALL_NODES);
	rig_run(&rig, 0, 12);
	rig_stop(&rig);
	assert_int_equal(pool(&rig, ALL_NODES), before);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	rig_free(&rig);
}

static void test_is_valid(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	if (zm_workload_validate(&wl_faultload_hugetlb_pool, &why) < 0)
		fail_msg("%s", why.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_valid),
		cmocka_unit_test_setup_teardown(test_cycles, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_check_refuses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_node_without_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gives_back, set_up, tear_down),
		cmocka_unit_test(test_on_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
