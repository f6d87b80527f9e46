/*
 * region: the three page-fault workloads against a model of them: which pages are touched, how many
 * operations are counted, how many faults the kernel saw.
 *
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "faultload/region.h"
#include "faultload/scratch.h"
#include "workloads/base/random.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_page_fault1;
extern const struct zm_workload wl_faultload_page_fault2;
extern const struct zm_workload wl_faultload_page_fault3;

static const struct zm_workload *const all[] = {
	&wl_faultload_page_fault1,
	&wl_faultload_page_fault2,
	&wl_faultload_page_fault3,
};

#define MEMORY_DIR "/dev/shm" /* its files have base pages only */

#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE))

static bool has_memory_dir(void)
{
	return access(MEMORY_DIR, W_OK | X_OK) == 0 && zm_scratch_is_memory(MEMORY_DIR);
}

static const char *dir_for(const struct zm_workload *workload)
{
	return workload == &wl_faultload_page_fault1 ? "" : " dir=" MEMORY_DIR;
}

static void start(struct rig *rig, const struct zm_workload *workload, unsigned int nr_tasks,
		  uint64_t nr_pages, uint64_t stride_pages, const char *more)
{
	char options[256];

	(void)snprintf(options, sizeof(options), "size=%llu stride=%llu%s%s",
		       (unsigned long long)(nr_pages * PAGE),
		       (unsigned long long)(stride_pages * PAGE), dir_for(workload), more);
	rig_start(rig, workload, ZM_TASK_PROCESS, nr_tasks, options);
}

/* Operations from the region's one end to the other. */
static uint64_t round_of(const struct rig *rig)
{
	const struct zm_region *region = rig->tasks[0].state;

	return region->nr_ops;
}

/* Is the page at this place in the region in the page table? */
static bool is_mapped(int pagemap, const struct zm_region *region, uint64_t page)
{
	uint64_t entry;
	off_t offset = (off_t)(((uintptr_t)region->base / PAGE + page) * sizeof(entry));

	assert_int_equal(pread(pagemap, &entry, sizeof(entry), offset), sizeof(entry));
	return entry >> 62 != 0;
}

static void assert_touched(const struct rig *rig, unsigned int task, uint64_t nr_pages,
			   uint64_t stride_pages, uint64_t nr_touched)
{
	const struct zm_region *region = rig->tasks[task].state;
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	assert_true(pagemap >= 0);
	for (uint64_t page = 0; page < nr_pages; page++) {
		bool is_expected = page % stride_pages == 0 && page / stride_pages < nr_touched;

		if (is_mapped(pagemap, region, page) != is_expected)
			fail_msg("%s, %llu pages, stride %llu, %llu touched: page %llu is %s",
				 rig->run.workload->name, (unsigned long long)nr_pages,
				 (unsigned long long)stride_pages, (unsigned long long)nr_touched,
				 (unsigned long long)page, is_expected ? "not there" : "there");
	}
	close(pagemap);
}

/* Steps of any length, over several rounds; after each the page table is as the model says. */
static void check_pattern(const struct zm_workload *workload, uint64_t nr_pages,
			  uint64_t stride_pages)
{
	uint64_t per_round = (nr_pages - 1) / stride_pages + 1;
	uint64_t touched = 0;
	struct zm_random random;
	struct rig rig;

	zm_random_init(&random, nr_pages, stride_pages);
	start(&rig, workload, 1, nr_pages, stride_pages, " thp=never");
	assert_int_equal(round_of(&rig), per_round);
	for (int i = 0; i < 40; i++) {
		uint64_t n = 1 + zm_random_below(&random, per_round + 3);
		uint64_t left = touched == per_round ? per_round : per_round - touched;
		int64_t done = rig_step(&rig, 0, n);

		assert_int_equal(done, n < left ? n : left);
		touched = left == per_round ? (uint64_t)done : touched + (uint64_t)done;
		assert_touched(&rig, 0, nr_pages, stride_pages, touched);
	}
	rig_stop(&rig);
	rig_free(&rig);
}

static void test_pattern(void **state)
{
	static const uint64_t cases[][2] = { { 1, 1 }, { 2, 1 },  { 7, 1 },   { 61, 1 },
					     { 7, 2 }, { 13, 3 }, { 12, 3 },  { 61, 7 },
					     { 5, 5 }, { 3, 2 },  { 127, 16 } };

	(void)state;
	if (!has_memory_dir())
		skip();
	for (size_t w = 0; w < sizeof(all) / sizeof(all[0]); w++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			check_pattern(all[w], cases[i][0], cases[i][1]);
}

/* Operations counted, pages touched and faults seen are one number, prime or not. */
static void check_faults(const struct zm_workload *workload, uint64_t nr_pages,
			 uint64_t stride_pages, uint64_t nr_ops)
{
	struct rig rig;
	uint64_t before, faults;

	start(&rig, workload, 1, nr_pages, stride_pages, " thp=never");
	rig_do(&rig, 0, round_of(&rig)); /* the first round fills the cache */
	before = rig_faults();
	rig_do(&rig, 0, nr_ops);
	faults = rig_faults() - before;
	assert_int_equal(rig_ops(&rig, 0), round_of(&rig) + nr_ops);
	assert_true(faults >= nr_ops);
	if (!rig_is_watched())
		assert_in_range(faults, nr_ops, nr_ops + nr_ops / 100 + 2);
	rig_stop(&rig);
	rig_free(&rig);
}

static void test_faults(void **state)
{
	static const uint64_t cases[][3] = {
		{ 1021, 1, 1021 }, { 1021, 1, 2039 }, { 1021, 1, 7919 },
		{ 1024, 2, 1021 }, { 1024, 5, 4001 }, { 3, 1, 1009 },
	};

	(void)state;
	if (!has_memory_dir())
		skip();
	for (size_t w = 0; w < sizeof(all) / sizeof(all[0]); w++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			check_faults(all[w], cases[i][0], cases[i][1], cases[i][2]);
}

/* A private file's faults are one per page on any file system; a shared one's within the range. */
static void test_faults_on_disk(void **state)
{
	(void)state;
	for (size_t w = 1; w < sizeof(all) / sizeof(all[0]); w++) {
		double least, most, ratio;
		struct rig rig;
		uint64_t before;

		rig_start(&rig, all[w], ZM_TASK_PROCESS, 1, "size=16M thp=never");
		rig_do(&rig, 0, round_of(&rig));
		before = rig_faults();
		rig_do(&rig, 0, 2 * round_of(&rig));
		ratio = (double)(2 * round_of(&rig)) / (double)(rig_faults() - before);
		assert_true(all[w]->expect_ops_per_fault(&rig.run, &least, &most));
		if (!rig_is_watched() && (ratio < least * 0.99 || ratio > most * 1.01))
			fail_msg("%s: %g operations a fault, expected %g to %g", all[w]->name,
				 ratio, least, most);
		rig_stop(&rig);
		rig_free(&rig);
	}
}

/* With huge pages a fault makes as many operations as is said; skipped where none are given. */
static void test_huge_pages(void **state)
{
	struct rig rig;
	double least, most, ratio;
	uint64_t before;

	(void)state;
	rig_init(&rig, all[0], ZM_TASK_PROCESS, 1, NULL);
	if (zm_thp_sizes(&rig.root, ZM_THP_DEFAULT, PAGE) == 0 &&
	    zm_thp_sizes(&rig.root, ZM_THP_MADVISE, PAGE) == 0) {
		rig_free(&rig);
		skip();
	}
	rig_free(&rig);
	if (geteuid() != 0 || rig_is_watched())
		skip();
	rig_start(&rig, all[0], ZM_TASK_PROCESS, 1, "size=32M thp=madvise");
	before = rig_faults();
	rig_do(&rig, 0, 3 * round_of(&rig));
	ratio = (double)rig_ops(&rig, 0) / (double)(rig_faults() - before);
	assert_true(all[0]->expect_ops_per_fault(&rig.run, &least, &most));
	if (ratio > most * 1.01)
		fail_msg("%g operations a fault, at most %g expected", ratio, most);
	rig_stop(&rig);
	rig_free(&rig);
}

static void test_tasks_are_apart(void **state)
{
	(void)state;
	for (size_t w = 0; w < sizeof(all) / sizeof(all[0]); w++) {
		struct rig rig;

		start(&rig, all[w], 3, 64, 1, "");
		for (unsigned int task = 0; task < 3; task++)
			rig_do(&rig, task, 10 * (task + 1) + 64 * task);
		for (unsigned int task = 0; task < 3; task++)
			assert_int_equal(rig_ops(&rig, task), 10 * (task + 1) + 64 * task);
		rig_stop(&rig);
		rig_report(&rig, 1000000);
		rig_assert_all_reported(&rig);
		rig_free(&rig);
	}
}

static void test_steps_are_short(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig, all[0], 1, 4096, 512, "");
	assert_true(rig_step(&rig, 0, 128) <= 1 + (int64_t)((1 << 25) / (512 * PAGE)));
	rig_stop(&rig);
	rig_free(&rig);
}

static void test_check_refuses(void **state)
{
	static const struct {
		const char *options;
		int error;
		const char *says;
	} cases[] = {
		{ "size=4097", -EINVAL, "size=4097" },
		{ "stride=5000", -EINVAL, "stride=5000" },
		{ "size=64K stride=128K", -EINVAL, "larger than size" },
		{ "dir=/nowhere/at/all", -EINVAL, "No such file" },
		{ "dir=/proc/self/status", -EINVAL, "Not a directory" },
		{ "size=0", -ERANGE, "size" },
		{ "thp=perhaps", -EINVAL, "thp" },
		{ "striede=4096", -ENOENT, "stride" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		int r;

		rig_init(&rig, all[2], ZM_TASK_PROCESS, 1, NULL);
		r = rig_set_options(&rig, cases[i].options);
		if (r == 0)
			r = rig_check(&rig);
		if (r != cases[i].error || !strstr(rig.why.text, cases[i].says))
			fail_msg("%s: %d: %s", cases[i].options, r, rig.why.text);
		rig_free(&rig);
	}
}

static void test_footprint(void **state)
{
	const uint64_t size = 64 << 20;
	struct zm_footprint need;
	struct rig rig;

	(void)state;
	for (size_t w = 0; w < sizeof(all) / sizeof(all[0]); w++) {
		uint64_t copies = all[w] == &wl_faultload_page_fault2 ? 2 : 1;

		rig_init(&rig, all[w], ZM_TASK_PROCESS, 4, NULL);
		assert_int_equal(rig_set_options(&rig, "size=64M"), 0);
		need = rig_footprint(&rig);
		assert_in_range(need.task_bytes, copies * size, copies * size + size / 100);
		assert_int_equal(need.disk_bytes > 0 && need.disk_bytes < 4 * size, 0);
		if (all[w] == &wl_faultload_page_fault3)
			assert_int_equal(need.disk_bytes, 4 * size);
		rig_free(&rig);
	}
}

/* What is left of a failed setup can be torn down, and the run is undone. */
static void test_setup_fails(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, all[1], ZM_TASK_PROCESS, 1, NULL);
	assert_int_equal(rig_set_options(&rig, "dir=/proc"), 0);
	assert_int_equal(rig_prepare(&rig), 0);
	assert_true(rig_setup(&rig, 0) < 0);
	assert_non_null(strstr(rig.why.text, "dir=/proc"));
	rig_teardown(&rig);
	rig_cleanup(&rig);
	rig_free(&rig);
}

static void test_verify_finds_pages_that_are_gone(void **state)
{
	struct rig rig;
	struct zm_region *region;

	(void)state;
	start(&rig, all[0], 1, 64, 1, "");
	rig_do(&rig, 0, 40);
	region = rig.tasks[0].state;
	assert_int_equal(madvise(region->base, 40 * PAGE, MADV_DONTNEED), 0);
	rig_teardown(&rig);
	assert_int_equal(rig_verify(&rig), -EBADMSG);
	rig_cleanup(&rig);
	rig_free(&rig);

	start(&rig, all[0], 1, 64, 1, "");
	rig_teardown(&rig);
	assert_int_equal(rig_verify(&rig), -EBADMSG); /* nothing was touched at all */
	rig_cleanup(&rig);
	rig_free(&rig);
}

static void test_are_valid(void **state)
{
	(void)state;
	for (size_t w = 0; w < sizeof(all) / sizeof(all[0]); w++) {
		struct zm_why why = { "" };

		if (zm_workload_validate(all[w], &why) < 0)
			fail_msg("%s", why.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_valid),
		cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_faults_on_disk),
		cmocka_unit_test(test_huge_pages),
		cmocka_unit_test(test_tasks_are_apart),
		cmocka_unit_test(test_steps_are_short),
		cmocka_unit_test(test_check_refuses),
		cmocka_unit_test(test_footprint),
		cmocka_unit_test(test_setup_fails),
		cmocka_unit_test(test_verify_finds_pages_that_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
