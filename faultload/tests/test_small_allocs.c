/* small_allocs: mappings of ten pages against a model, and how many a process may have. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "faultload/vmscal.h"
#include "faultload/walk.h"
#include "workloads/base/tests/tree.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_small_allocs;

#define MAX_MAPPINGS "proc/sys/vm/max_map_count"

/* Of /dev/zero, as the kernel lists them. */
static unsigned int count_mappings(uint64_t *ret_bytes)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long long from, to;
	unsigned int n = 0;
	char line[512];

	assert_non_null(file);
	*ret_bytes = 0;
	while (fgets(line, sizeof(line), file))
		if (strstr(line, " r--p ") && strstr(line, "/dev/zero") &&
		    sscanf(line, "%llx-%llx", &from, &to) == 2) {
			*ret_bytes += to - from;
			n++;
		}
	(void)fclose(file);
	return n;
}

/* Of 25 pages a task maps 10, 10 and 5, each when the one before was read, and unmaps all together. */
static void test_model(void **state)
{
	uint64_t page, words, bytes, before;
	char options[64];
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_small_allocs, ZM_TASK_PROCESS, 1, NULL);
	page = rig.run.page_bytes;
	words = page / ZM_WORD_BYTES;
	rig_free(&rig);
	(void)snprintf(options, sizeof(options), "unit_size=%llu", (unsigned long long)page * 25);
	rig_start(&rig, &wl_faultload_small_allocs, ZM_TASK_PROCESS, 1, options);
	assert_int_equal(count_mappings(&bytes), 0);
	before = rig_faults();
	for (unsigned int round = 1; round <= 3; round++) {
		static const struct {
			unsigned int pages, nr, mapped;
		} pieces[] = { { 10, 1, 10 }, { 10, 2, 20 }, { 5, 3, 25 } };

		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(rig_step(&rig, 0, 1), 1);
			assert_int_equal(count_mappings(&bytes), pieces[i].nr);
			assert_int_equal(bytes, pieces[i].mapped * page);
			rig_do(&rig, 0, pieces[i].pages * words - 1);
		}
		assert_int_equal(rig.slots[0].counters[ZM_VMSCAL_ROUNDS], round);
	}
	if (!rig_is_watched())
		assert_in_range(rig_faults() - before, 75, 75 + 200);
	/* A step goes over mappings, to the round's end at most. */
	assert_int_equal(rig_step(&rig, 0, 12 * words), 12 * words);
	assert_int_equal(rig_step(&rig, 0, 1000000), 13 * words);
	assert_int_equal(rig_ops(&rig, 0), 100 * words);
	rig_stop(&rig);
	assert_int_equal(count_mappings(&bytes), 0);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	rig_free(&rig);
}

static struct tree tree;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "proc/meminfo", "MemTotal: 3145728 kB\nMemAvailable: 3145728 kB\n");
	tree_write(&tree, MAX_MAPPINGS, "65530\n");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

/* Where more mappings are needed than one process may have, the limit is raised; threads share one. */
static void test_limit(void **state)
{
	static const struct {
		enum zm_task_kind kind;
		const char *options;
		uint64_t limit;
	} cases[] = {
		{ ZM_TASK_PROCESS, "unit_size=2600M", 65530 }, /* 33,280 each */
		{ ZM_TASK_THREAD, "unit_size=2600M", 66560 + 1024 },
		{ ZM_TASK_PROCESS, "unit_size=40G", 524288 + 1024 },
		{ ZM_TASK_PROCESS, "", 2097152 + 1024 }, /* a third of 3 GiB in 256 bytes each */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		uint64_t limit;

		tree_write(&tree, MAX_MAPPINGS, "65530\n");
		rig_init(&rig, &wl_faultload_small_allocs, cases[i].kind, 2, tree.path);
		rig.run.page_bytes = 4096;
		assert_int_equal(rig_set_options(&rig, cases[i].options), 0);
		rig_must(&rig, rig_check(&rig), "check");
		rig_must(&rig, rig_prepare(&rig), "prepare");
		assert_int_equal(zm_sysroot_read_u64(&rig.root, MAX_MAPPINGS, &limit), 0);
		assert_int_equal(limit, cases[i].limit);
		rig_free(&rig);
	}
}

/* Where it cannot be raised, the default keeps below it, and more is refused with the figures. */
static void test_cannot_raise(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_small_allocs, ZM_TASK_PROCESS, 2, tree.path);
	rig.root.is_writable = false;
	rig.run.page_bytes = 4096;
	assert_int_equal(rig_check(&rig), 0);
	rig_must(&rig, rig_prepare(&rig), "prepare");
	assert_int_equal(rig_set_options(&rig, "unit_size=40G"), 0);
	assert_int_equal(rig_check(&rig), -ENOTSUP);
	assert_non_null(strstr(rig.why.text, "524288 mappings"));
	assert_non_null(strstr(rig.why.text, "64506"));
	rig_free(&rig);
}

/* 64-KiB pages make longer mappings, and fewer of them. */
static void test_large_base_pages(void **state)
{
	struct zm_footprint small, large;
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_small_allocs, ZM_TASK_PROCESS, 1, tree.path);
	assert_int_equal(rig_set_options(&rig, "unit_size=1G"), 0);
	rig.run.page_bytes = 4096;
	small = rig_footprint(&rig);
	rig.run.page_bytes = 65536;
	large = rig_footprint(&rig);
	assert_in_range(small.task_bytes, large.task_bytes * 15, large.task_bytes * 17);
	rig_free(&rig);
}

static void test_is_valid(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	if (zm_workload_validate(&wl_faultload_small_allocs, &why) < 0)
		fail_msg("%s", why.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_valid),
		cmocka_unit_test(test_model),
		cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cannot_raise, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_large_base_pages, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
