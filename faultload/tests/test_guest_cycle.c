/*
 * guest_cycle: each backing and way of touching: cycles and pages counted, and nothing left behind.
 *
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>

#include "faultload/guest.h"
#include "faultload/hugepool.h"
#include "workloads/base/tests/tree.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_guest_cycle;

#define COUNTER_PAGES 3
#define SURPLUS       "proc/sys/vm/nr_overcommit_hugepages"

static unsigned int count_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int n = 0;

	assert_non_null(file);
	for (int c; (c = fgetc(file)) != EOF;)
		n += c == '\n';
	(void)fclose(file);
	return n;
}

static unsigned int count_files(void)
{
	DIR *listing = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(listing);
	while (readdir(listing))
		n++;
	closedir(listing);
	return n;
}

static void check_cycles(const char *options, uint64_t nr_pages)
{
	unsigned int nr_files = count_files();
	struct rig rig;
	uint64_t cycles;

	rig_start(&rig, &wl_faultload_guest_cycle, ZM_TASK_PROCESS, 1, options);
	rig_run(&rig, 0, 5);
	cycles = rig_ops(&rig, 0);
	assert_true(cycles >= 5);
	assert_in_range(rig.slots[0].counters[COUNTER_PAGES], cycles * nr_pages,
			(cycles + 1) * nr_pages);
	rig_stop(&rig);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	assert_true(rig_figure(&rig, "guest_cycle.cycles")->value == (double)cycles);
	rig_free(&rig);
	assert_int_equal(count_files(), nr_files);
}

static void test_base_pages(void **state)
{
	static const char *const options[] = {
		"size=4M backing=memfd threads=0", "size=4M backing=memfd threads=1",
		"size=4M backing=memfd threads=3",
		"size=4M backing=memfd threads=1000", /* nearly as many as pages */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		check_cycles(options[i], (UINT64_C(4) << 20) / (uint64_t)sysconf(_SC_PAGESIZE));
}

static void test_transparent(void **state)
{
	struct rig rig;
	int r;

	(void)state;
	rig_init(&rig, &wl_faultload_guest_cycle, ZM_TASK_PROCESS, 1, NULL);
	r = rig_check(&rig);
	rig_free(&rig);
	if (r == -ENOTSUP || geteuid() != 0)
		skip();
	check_cycles("size=4M backing=thp threads=2",
		     (UINT64_C(4) << 20) / (uint64_t)sysconf(_SC_PAGESIZE));
}

/* As root, where the kernel has huge pages of 2 MiB; what the machine lets is put back. */
static void test_hugetlb(void **state)
{
	struct zm_sysroot root;
	uint64_t huge_bytes, before;
	char text[24];

	(void)state;
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	huge_bytes = zm_hugepool_default_bytes(&root);
	if (geteuid() != 0 || huge_bytes != UINT64_C(2) << 20) {
		zm_sysroot_release(&root);
		skip();
	}
	assert_int_equal(zm_sysroot_read_u64(&root, SURPLUS, &before), 0);
	check_cycles("size=16M backing=hugetlb threads=2", 8);
	check_cycles("size=16M backing=memfd-hugetlb threads=0", 8);
	check_cycles("size=16M backing=hugetlb hugepagesize=2M threads=2", 8);
	check_cycles("size=16M backing=memfd-hugetlb hugepagesize=2M threads=0", 8);
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)before);
	assert_int_equal(zm_sysroot_write(&root, SURPLUS, text), 0);
	zm_sysroot_release(&root);
}

static void test_mappings_go(void **state)
{
	unsigned int before, after;

	(void)state;
	check_cycles("size=1M backing=memfd threads=0",
		     (UINT64_C(1) << 20) / (uint64_t)sysconf(_SC_PAGESIZE));
	before = count_lines("/proc/self/maps");
	check_cycles("size=1M backing=memfd threads=0",
		     (UINT64_C(1) << 20) / (uint64_t)sysconf(_SC_PAGESIZE));
	after = count_lines("/proc/self/maps");
	assert_true(after <= before + 4); /* the allocator's own, at most */
}

static void test_refuses(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_guest_cycle, ZM_TASK_PROCESS, 1, NULL);
	assert_int_equal(rig_set_options(&rig, "size=4097 backing=memfd"), 0);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_non_null(strstr(rig.why.text, "size=4097"));
	assert_int_equal(rig_set_options(&rig, "size=4M backing=memfd hugepagesize=2M"), 0);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_non_null(strstr(rig.why.text, "backing=memfd has none"));
	rig_free(&rig);
}

/* More huge pages than the machine lets: refused where the memory is made, not killed where it is
 * touched. */
static void test_too_many_huge_pages(void **state)
{
	struct zm_guest guest = { .backing = ZM_GUEST_HUGETLB,
				  .bytes = UINT64_C(1) << 42,
				  .page_bytes = UINT64_C(2) << 20 };
	struct zm_why why = { "" };

	(void)state;
	assert_true(zm_guest_make(&guest, &why) < 0);
	assert_non_null(strstr(why.text, "backing=hugetlb"));
	zm_guest_end(&guest);
	zm_guest_end(&guest);
}

/* A window in which no guest was started and stopped is said so, and no figure is made of it. */
static void test_no_cycle(void **state)
{
	const uint64_t ops[1] = { 0 };
	struct zm_report report = { .nr_figures = 0 };
	struct zm_window window = { .t0_ns = 0, .t1_ns = 300000000, .ops = ops };
	struct rig rig;

	(void)state;
	rig_start(&rig, &wl_faultload_guest_cycle, ZM_TASK_PROCESS, 1, "size=1M backing=memfd");
	rig_run(&rig, 0, 2);
	window.run = &rig.run;
	assert_int_equal(rig.run.workload->report(&window, &report), -ENODATA);
	assert_int_equal(report.nr_figures, 0);
	assert_non_null(
		strstr(report.why, "no guest was started and stopped in the window of 0.3"));
	rig_stop(&rig);
	rig_free(&rig);
}

/* A guest is made of whole pages, as large as the kernel says. */
static void test_page_sizes(void **state)
{
	static const struct {
		const char *meminfo, *options;
		int r;
	} cases[] = {
		{ "Hugepagesize: 2048 kB\n", "size=64M backing=hugetlb", 0 },
		{ "Hugepagesize: 524288 kB\n", "size=64M backing=hugetlb", -EINVAL },
		{ "Hugepagesize: 524288 kB\n", "size=1G backing=memfd-hugetlb", 0 },
		{ "Hugepagesize: 2048 kB\n", "size=32M backing=hugetlb hugepagesize=32M", 0 },
		{ "Hugepagesize: 2048 kB\n", "size=34M backing=hugetlb hugepagesize=32M", -EINVAL },
		{ "Hugepagesize: 2048 kB\n", "size=1G backing=hugetlb hugepagesize=1G", -ENOTSUP },
		{ "MemTotal: 1 kB\n", "size=1G backing=memfd-hugetlb", -ENOTSUP },
		{ "MemTotal: 1 kB\n", "size=1G backing=thp", -ENOTSUP },
		{ "MemTotal: 1 kB\n", "size=1G backing=memfd", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tree tree;
		struct rig rig;

		tree_make(&tree);
		tree_write(&tree, "proc/meminfo", cases[i].meminfo);
		tree_write(&tree, SURPLUS, "0\n");
		tree_write(&tree, "sys/kernel/mm/hugepages/hugepages-32768kB/nr_hugepages", "0\n");
		rig_init(&rig, &wl_faultload_guest_cycle, ZM_TASK_PROCESS, 1, tree.path);
		assert_int_equal(rig_set_options(&rig, cases[i].options), 0);
		assert_int_equal(rig_check(&rig), cases[i].r);
		rig_free(&rig);
		tree_remove(&tree);
	}
}

/* Pages of the size that was asked for are let, of no other. */
static void test_other_size(void **state)
{
	static const char kinds[2][96] = {
		"sys/kernel/mm/hugepages/hugepages-32768kB/nr_overcommit_hugepages",
		"sys/kernel/mm/hugepages/hugepages-32768kB/nr_hugepages",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *options[] = { "size=64M backing=hugetlb hugepagesize=32M pool=surplus",
					  "size=64M backing=hugetlb hugepagesize=32M pool=pool" };
		uint64_t number;
		struct tree tree;
		struct rig rig;

		tree_make(&tree);
		tree_write(&tree, "proc/meminfo", "Hugepagesize: 2048 kB\n");
		tree_write(&tree, SURPLUS, "5\n");
		tree_write(&tree, kinds[0], "3\n");
		tree_write(&tree, kinds[1], "3\n");
		rig_init(&rig, &wl_faultload_guest_cycle, ZM_TASK_PROCESS, 2, tree.path);
		assert_int_equal(rig_set_options(&rig, options[i]), 0);
		rig_must(&rig, rig_check(&rig), "check");
		assert_int_equal(rig_footprint(&rig).hugetlb_page_bytes, 32 << 20);
		rig_must(&rig, rig_prepare(&rig), "prepare");
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(zm_sysroot_read_u64(&rig.root, kinds[k], &number), 0);
			assert_int_equal(number, k == i ? 3 + 4 : 3);
		}
		assert_int_equal(zm_sysroot_read_u64(&rig.root, SURPLUS, &number), 0);
		assert_int_equal(number, 5);
		rig_cleanup(&rig);
		rig_free(&rig);
		tree_remove(&tree);
	}
}

static void test_is_valid(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	if (zm_workload_validate(&wl_faultload_guest_cycle, &why) < 0)
		fail_msg("%s", why.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_valid),
		cmocka_unit_test(test_base_pages),
		cmocka_unit_test(test_transparent),
		cmocka_unit_test(test_hugetlb),
		cmocka_unit_test(test_mappings_go),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_too_many_huge_pages),
		cmocka_unit_test(test_no_cycle),
		cmocka_unit_test(test_page_sizes),
		cmocka_unit_test(test_other_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
