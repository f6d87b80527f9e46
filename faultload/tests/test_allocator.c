/*
 * allocator: the tests near the allocator against a model of each: operations, faults, and what
 * is there afterwards.
 *
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faultload/brk.h"
#include "faultload/grow.h"
#include "faultload/region.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_brk1, wl_faultload_brk2;
extern const struct zm_workload wl_faultload_fallocate1, wl_faultload_fallocate2;
extern const struct zm_workload wl_faultload_malloc1, wl_faultload_malloc2;
extern const struct zm_workload wl_faultload_mmap1, wl_faultload_mmap2;
extern const struct zm_workload wl_faultload_tlb_flush1, wl_faultload_tlb_flush2;
extern const struct zm_workload wl_faultload_tlb_flush3;

static const struct zm_workload *const all[] = {
	&wl_faultload_brk1,       &wl_faultload_brk2,       &wl_faultload_fallocate1,
	&wl_faultload_fallocate2, &wl_faultload_malloc1,    &wl_faultload_malloc2,
	&wl_faultload_mmap1,      &wl_faultload_mmap2,      &wl_faultload_tlb_flush1,
	&wl_faultload_tlb_flush2, &wl_faultload_tlb_flush3,
};

#define NR_ALL (sizeof(all) / sizeof(all[0]))

static unsigned int count_entries(const char *path)
{
	DIR *listing = opendir(path);
	unsigned int n = 0;

	assert_non_null(listing);
	while (readdir(listing))
		n++;
	closedir(listing);
	return n;
}

/* Any number of tasks and operations, primes too: what is counted is what was asked for, every figure
 * is there, and nothing stays open. */
static void test_counts(void **state)
{
	static const uint64_t ops[] = { 1, 2, 127, 128, 129, 257, 1009 };
	/* A sanitizer's allocator marks each of the 128 MiB of a piece: a few are enough there. */
	size_t nr_ops = rig_is_watched() ? 3 : sizeof(ops) / sizeof(ops[0]);
	unsigned int nr_files = count_entries("/proc/self/fd");
	uint64_t sums[2] = { 0, 0 };

	(void)state;
	for (size_t i = 0; i < nr_ops; i++)
		sums[i % 2] += ops[i];
	for (size_t w = 0; w < NR_ALL; w++) {
		struct rig rig;

		if (rig_is_watched() && strncmp(all[w]->name, "brk", 3) == 0)
			continue; /* who watches has an allocator of its own, and mallopt says no */
		rig_start(&rig, all[w], ZM_TASK_THREAD, 2, "");
		for (size_t i = 0; i < nr_ops; i++)
			rig_do(&rig, i % 2, ops[i]);
		assert_int_equal(rig_ops(&rig, 0), sums[0]);
		assert_int_equal(rig_ops(&rig, 1), sums[1]);
		rig_stop(&rig);
		rig_report(&rig, 1000000);
		rig_assert_all_reported(&rig);
		rig_free(&rig);
		assert_int_equal(count_entries("/proc/self/fd"), nr_files);
	}
}

static void test_are_valid(void **state)
{
	(void)state;
	for (size_t w = 0; w < NR_ALL; w++) {
		struct zm_why why = { "" };

		if (zm_workload_validate(all[w], &why) < 0)
			fail_msg("%s", why.text);
	}
}

/* Faults an operation are as many as is said, and none where nothing is said. */
static void check_faults(const struct zm_workload *workload)
{
	double least = 0, most = 0, ratio;
	uint64_t before, faults;
	struct rig rig;
	bool is_expected;

	rig_start(&rig, workload, ZM_TASK_PROCESS, 1, "");
	is_expected = workload->expect_ops_per_fault &&
		      workload->expect_ops_per_fault(&rig.run, &least, &most);
	rig_do(&rig, 0, 300);
	before = rig_faults();
	rig_do(&rig, 0, 2003);
	faults = rig_faults() - before;
	ratio = faults ? 2003.0 / (double)faults : 0;
	if (is_expected && (ratio < least * 0.98 || ratio > most * 1.02))
		fail_msg("%s: %g operations a fault, %g to %g expected", workload->name, ratio,
			 least, most);
	if (!is_expected && faults > 20)
		fail_msg("%s: %llu faults", workload->name, (unsigned long long)faults);
	rig_stop(&rig);
	rig_free(&rig);
}

static void test_faults(void **state)
{
	(void)state;
	if (rig_is_watched())
		skip();
	for (size_t w = 0; w < NR_ALL; w++)
		check_faults(all[w]);
}

/* The file is as long as the operations since the last cut made it, and takes space. */
static void test_fallocate_grows_and_cuts(void **state)
{
	static const uint64_t steps[] = { 1, 5, 100, 21, 1, 127, 1, 300 };
	const struct zm_workload *const both[] = { &wl_faultload_fallocate1,
						   &wl_faultload_fallocate2 };

	(void)state;
	for (size_t w = 0; w < 2; w++) {
		struct rig rig;
		struct stat st;
		const struct zm_grow *grow;
		uint64_t ops = 0;

		rig_start(&rig, both[w], ZM_TASK_PROCESS, 1, "");
		grow = rig.tasks[0].state;
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			rig_do(&rig, 0, steps[i]);
			ops += steps[i];
			assert_int_equal(fstat(grow->fd, &st), 0);
			assert_int_equal(st.st_size, ops % 128 * 8192);
			assert_true(st.st_blocks * 512 >= st.st_size);
		}
		rig_stop(&rig);
		rig_free(&rig);
	}
}

static void test_fallocate_verify(void **state)
{
	const struct zm_grow *grow;
	struct rig rig;

	(void)state;
	rig_start(&rig, &wl_faultload_fallocate2, ZM_TASK_PROCESS, 1, "");
	grow = rig.tasks[0].state;
	rig_do(&rig, 0, 3);
	assert_int_equal(ftruncate(grow->fd, 4096), 0);
	rig_teardown(&rig);
	assert_int_equal(rig_verify(&rig), -EBADMSG);
	rig_free(&rig);
}

static void test_no_fallocate(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_fallocate2, ZM_TASK_PROCESS, 1, NULL);
	assert_int_equal(rig_set_options(&rig, "dir=/nowhere"), 0);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_true(rig_setup(&rig, 0) < 0);
	rig_teardown(&rig);
	rig_free(&rig);
}

/* The heap's end: one page up after an odd number of operations, back after an even one. */
static void test_brk_goes_up_and_down(void **state)
{
	const struct zm_workload *const both[] = { &wl_faultload_brk1, &wl_faultload_brk2 };

	(void)state;
	if (rig_is_watched())
		skip();
	for (size_t w = 0; w < 2; w++) {
		struct rig rig;
		const char *low;

		rig_start(&rig, both[w], ZM_TASK_PROCESS, 1, "");
		low = sbrk(0);
		for (uint64_t i = 1; i < 20; i++) {
			rig_do(&rig, 0, i);
			assert_ptr_equal((char *)sbrk(0),
					 low + (rig_ops(&rig, 0) % 2) * rig.run.page_bytes);
		}
		rig_stop(&rig);
		assert_ptr_equal((char *)sbrk(0), low);
		rig_free(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_valid),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_fallocate_grows_and_cuts),
		cmocka_unit_test(test_fallocate_verify),
		cmocka_unit_test(test_no_fallocate),
		cmocka_unit_test(test_brk_goes_up_and_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
