/*
 * usemem: vm-scalability's anonymous cases against a model: words counted, faults, copies, figures,
 * and what is there afterwards.
 *
 * timeout: 120
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/wait.h>

#include "faultload/cow.h"
#include "faultload/hugepool.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_anon_w_seq, wl_faultload_anon_w_rand;
extern const struct zm_workload wl_faultload_anon_r_seq, wl_faultload_anon_r_rand;
extern const struct zm_workload wl_faultload_anon_cow_seq, wl_faultload_anon_cow_rand;
extern const struct zm_workload wl_faultload_anon_w_seq_hugetlb, wl_faultload_anon_w_rand_hugetlb;
extern const struct zm_workload wl_faultload_anon_cow_seq_hugetlb;
extern const struct zm_workload wl_faultload_anon_cow_rand_hugetlb;
extern const struct zm_workload wl_faultload_mlock;

static const struct zm_workload *const all[] = {
	&wl_faultload_anon_w_seq,           &wl_faultload_anon_w_rand,
	&wl_faultload_anon_r_seq,           &wl_faultload_anon_r_rand,
	&wl_faultload_anon_cow_seq,         &wl_faultload_anon_cow_rand,
	&wl_faultload_anon_w_seq_hugetlb,   &wl_faultload_anon_w_rand_hugetlb,
	&wl_faultload_anon_cow_seq_hugetlb, &wl_faultload_anon_cow_rand_hugetlb,
};

#define NR_ALL (sizeof(all) / sizeof(all[0]))

#define MIB       (UINT64_C(1) << 20)
#define MIB_WORDS (MIB / ZM_WORD_BYTES)

static const struct zm_area_case *own_of(const struct zm_workload *workload)
{
	return workload->own;
}

static void test_are_valid(void **state)
{
	(void)state;
	for (size_t w = 0; w < NR_ALL; w++) {
		struct zm_why why = { "" };

		if (zm_workload_validate(all[w], &why) < 0)
			fail_msg("%s: %s", all[w]->name, why.text);
	}
}

/* Rounds over an area of 1 MiB, by steps of any length. */
static void test_steps(void **state)
{
	(void)state;
	for (size_t w = 0; w < 4; w++) {
		const struct zm_usemem_task *task;
		struct rig rig;
		uint64_t left;

		rig_start(&rig, all[w], ZM_TASK_PROCESS, 2, "unit_size=2M thp=never");
		task = rig.tasks[0].state;
		rig_do(&rig, 0, 1);
		if (own_of(all[w])->is_random) { /* short at first, while most words fault */
			assert_int_equal(rig_step(&rig, 0, MIB_WORDS), 512);
			rig_do(&rig, 0, 4 * MIB / rig.run.page_bytes);
		}
		left = MIB_WORDS - rig_ops(&rig, 0);
		assert_int_equal(rig_step(&rig, 0, MIB_WORDS), left);
		assert_int_equal(task->walk.done, MIB_WORDS);
		assert_int_equal(rig.slots[0].counters[ZM_VMSCAL_ROUNDS], 1);
		rig_do(&rig, 0, 2 * MIB_WORDS + 777);
		assert_int_equal(rig.slots[0].counters[ZM_VMSCAL_ROUNDS], 3);
		assert_int_equal(task->walk.done, 777);
		rig_do(&rig, 1, 5);
		assert_int_equal(rig_ops(&rig, 0), 3 * MIB_WORDS + 777);
		rig_stop(&rig);
		rig_report(&rig, 1000000000);
		rig_assert_all_reported(&rig);
		rig_free(&rig);
	}
}

/* A sequential round faults once for each page; a random one never more often than there are pages. */
static void test_faults(void **state)
{
	(void)state;
	if (rig_is_watched())
		skip();
	for (size_t w = 0; w < 4; w++) {
		struct rig rig;
		uint64_t before, faults, nr_pages;
		double least, most;

		rig_start(&rig, all[w], ZM_TASK_PROCESS, 1, "unit_size=8M thp=never");
		nr_pages = 8 * MIB / rig.run.page_bytes;
		before = rig_faults();
		rig_do(&rig, 0, 3 * 8 * MIB_WORDS);
		faults = rig_faults() - before;
		if (own_of(all[w])->is_random) {
			assert_false(all[w]->expect_ops_per_fault(&rig.run, &least, &most));
			assert_in_range(faults, 2 * nr_pages, 3 * nr_pages + 20);
		} else {
			assert_true(all[w]->expect_ops_per_fault(&rig.run, &least, &most));
			assert_true(least == (double)rig.run.page_bytes / 8 && most == least);
			assert_in_range(faults, 3 * nr_pages, 3 * nr_pages + 20);
		}
		rig_stop(&rig);
		rig_free(&rig);
	}
}

static void check_copies(const struct zm_workload *workload, const char *options)
{
	const struct zm_usemem_run *shared;
	uint64_t before = rig_child_faults(), nr_pages, rounds;
	struct rig rig;

	rig_start(&rig, workload, ZM_TASK_PROCESS, 1, options);
	shared = rig.run.state;
	nr_pages = shared->vmscal.area_bytes / shared->page_bytes;
	assert_non_null(shared->base);
	assert_true(shared->vmscal.populate_ns > 0);
	rig_run(&rig, 0, 2 * shared->vmscal.area_bytes / ZM_WORD_BYTES + 100);
	rounds = rig.slots[0].counters[ZM_VMSCAL_ROUNDS];
	assert_true(rounds >= 2);
	assert_true(rig_child_faults() - before >= rounds * nr_pages);
	if (!rig_is_watched())
		assert_true(rig_child_faults() - before <= (rounds + 1) * (nr_pages + 200));
	if (own_of(workload)->is_random)
		assert_in_range(shared->vmscal.copy.nr, rounds, rounds + 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	rig_stop(&rig);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	assert_non_null(rig_figure(&rig, "vm-scalability.populate_time"));
	assert_non_null(rig_figure(&rig, "vm-scalability.free_time"));
	rig_free(&rig);
}

static void test_copies(void **state)
{
	(void)state;
	check_copies(&wl_faultload_anon_cow_seq, "unit_size=16M thp=never");
	check_copies(&wl_faultload_anon_cow_rand, "unit_size=16M thp=never");
}

/* Threads share the area: nothing is copied. */
static void test_threads_copy_nothing(void **state)
{
	struct rig rig;
	uint64_t before;

	(void)state;
	rig_start(&rig, &wl_faultload_anon_cow_rand, ZM_TASK_THREAD, 2, "unit_size=8M thp=never");
	before = rig_faults();
	rig_run(&rig, 0, 3 * 8 * MIB_WORDS);
	rig_run(&rig, 1, 10);
	if (!rig_is_watched())
		assert_true(rig_faults() - before < 100);
	rig_stop(&rig);
	rig_free(&rig);
}

/* A parent's area that was written to is found. */
static void test_verify(void **state)
{
	struct zm_usemem_run *shared;
	struct rig rig;

	(void)state;
	rig_start(&rig, &wl_faultload_anon_cow_seq, ZM_TASK_PROCESS, 1, "unit_size=8M thp=never");
	shared = rig.run.state;
	rig_run(&rig, 0, 100);
	rig_teardown(&rig);
	assert_int_equal(rig_verify(&rig), 0);
	memset(shared->base, 1, shared->vmscal.area_bytes);
	assert_int_equal(rig_verify(&rig), -EBADMSG);
	rig_cleanup(&rig);
	rig_free(&rig);
}

/* The parts of a unit: by tasks, by tasks and the parent, or undivided; whole pages always. */
static void test_areas(void **state)
{
	static const struct {
		const struct zm_workload *workload;
		enum zm_task_kind kind;
		unsigned int nr_tasks;
		const char *options;
		uint64_t area;
	} cases[] = {
		{ &wl_faultload_anon_w_seq, ZM_TASK_PROCESS, 4, "unit_size=64M", 16 * MIB },
		{ &wl_faultload_anon_w_seq, ZM_TASK_THREAD, 4, "unit_size=64M", 16 * MIB },
		{ &wl_faultload_anon_cow_seq, ZM_TASK_PROCESS, 3, "unit_size=64M", 16 * MIB },
		{ &wl_faultload_anon_cow_seq, ZM_TASK_THREAD, 3, "unit_size=64M", 64 * MIB },
		{ &wl_faultload_anon_w_seq, ZM_TASK_PROCESS, 1, "unit_size=5000", 4096 },
		{ &wl_faultload_anon_r_seq, ZM_TASK_PROCESS, 2, "unit_size=1T", UINT64_C(1) << 39 },
	};

	(void)state;
	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;

		rig_init(&rig, cases[i].workload, cases[i].kind, cases[i].nr_tasks, NULL);
		assert_int_equal(rig_set_options(&rig, cases[i].options), 0);
		assert_int_equal(rig_check(&rig), 0);
		assert_int_equal(zm_area_bytes(&rig.run), cases[i].area);
		rig_free(&rig);
	}
}

static void test_too_small(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_anon_w_seq, ZM_TASK_PROCESS, 8, NULL);
	assert_int_equal(rig_set_options(&rig, "unit_size=8K"), 0);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_non_null(strstr(rig.why.text, "unit_size=8192"));
	rig_free(&rig);
}

/* Without unit_size: half of the memory, or of what a robot's size leaves of it. */
static void test_default_unit(void **state)
{
	struct rig rig;
	uint64_t half;

	(void)state;
	rig_init(&rig, &wl_faultload_anon_w_seq, ZM_TASK_PROCESS, 1, NULL);
	half = zm_area_bytes(&rig.run);
	assert_true(half > 0);
	assert_int_equal(rig_set_options(&rig, "size=512T"), -ERANGE);
	assert_int_equal(rig_set_options(&rig, "size=8T"), 0);
	assert_in_range(zm_area_bytes(&rig.run), half / 2, half + half / 2);
	assert_int_equal(rig_set_options(&rig, "size=16M"), 0);
	assert_true(zm_area_bytes(&rig.run) % (16 * MIB) == 0);
	rig_free(&rig);
}

static uint64_t locked_kb(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long kb = 0;
	char line[256];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		(void)sscanf(line, "VmLck: %llu", &kb);
	(void)fclose(file);
	return kb;
}

/* All of the area is locked when it was written, and none of it when it is unmapped. */
static void test_mlock(void **state)
{
	struct rlimit limit;
	struct rig rig;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	if (rig_is_watched() || (geteuid() != 0 && limit.rlim_cur < 2 * MIB))
		skip();
	rig_start(&rig, &wl_faultload_mlock, ZM_TASK_PROCESS, 1, "unit_size=1M thp=never");
	for (unsigned int round = 1; round <= 3; round++) {
		rig_do(&rig, 0, MIB_WORDS - 1);
		assert_int_equal(locked_kb(), 0);
		rig_do(&rig, 0, 1);
		assert_int_equal(locked_kb(), 1024);
		assert_int_equal(rig.slots[0].counters[ZM_VMSCAL_ROUNDS], round);
	}
	rig_stop(&rig);
	assert_int_equal(locked_kb(), 0);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	assert_non_null(rig_figure(&rig, "vm-scalability.lock_time"));
	rig_free(&rig);
}

/* --- huge pages: as root, where the kernel has them; the machine is put back ------------------- */

#define SURPLUS "proc/sys/vm/nr_overcommit_hugepages"

static void check_hugetlb(const struct zm_workload *workload)
{
	struct zm_sysroot root;
	uint64_t before, after, huge_bytes;
	char options[64], text[24];
	struct rig rig;

	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	huge_bytes = zm_hugepool_default_bytes(&root);
	assert_int_equal(zm_sysroot_read_u64(&root, SURPLUS, &before), 0);
	(void)snprintf(options, sizeof(options), "unit_size=%llu",
		       (unsigned long long)huge_bytes * 8);
	if (workload->round) {
		check_copies(workload, options);
	} else {
		rig_start(&rig, workload, ZM_TASK_PROCESS, 1, options);
		rig_do(&rig, 0, 8 * huge_bytes / ZM_WORD_BYTES + 100);
		assert_int_equal(rig.slots[0].counters[ZM_VMSCAL_ROUNDS], 1);
		rig_stop(&rig);
		rig_free(&rig);
	}
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)before);
	assert_int_equal(zm_sysroot_write(&root, SURPLUS, text), 0);
	assert_int_equal(zm_sysroot_read_u64(&root, "proc/sys/vm/nr_hugepages", &after), 0);
	zm_sysroot_release(&root);
}

static void test_hugetlb(void **state)
{
	struct zm_sysroot root;
	uint64_t huge_bytes;

	(void)state;
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	huge_bytes = zm_hugepool_default_bytes(&root);
	zm_sysroot_release(&root);
	if (geteuid() != 0 || huge_bytes == 0 || huge_bytes > 4 * MIB)
		skip();
	for (size_t w = 0; w < NR_ALL; w++)
		if (own_of(all[w])->is_huge)
			check_hugetlb(all[w]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_valid),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_threads_copy_nothing),
		cmocka_unit_test(test_verify),
		cmocka_unit_test(test_areas),
		cmocka_unit_test(test_too_small),
		cmocka_unit_test(test_default_unit),
		cmocka_unit_test(test_mlock),
		cmocka_unit_test(test_hugetlb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
