/*
 * area_files: vm-scalability's cases over files: what they touch, what they fault, and what is left.
 *
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "faultload/scratch.h"
#include "faultload/usemem.h"
#include "workloads/tests/rig.h"
#include "workloads/base/tests/tree.h"

extern const struct zm_workload wl_faultload_lru_file_mmap_read;
extern const struct zm_workload wl_faultload_lru_file_mmap_read_rand;
extern const struct zm_workload wl_faultload_lru_shm, wl_faultload_lru_shm_rand;
extern const struct zm_workload wl_faultload_mmap_pread_seq, wl_faultload_mmap_pread_rand;
extern const struct zm_workload wl_faultload_shm_pread_seq, wl_faultload_shm_pread_rand;

static const struct zm_workload *const all[] = {
	&wl_faultload_lru_file_mmap_read,
	&wl_faultload_lru_file_mmap_read_rand,
	&wl_faultload_lru_shm,
	&wl_faultload_lru_shm_rand,
	&wl_faultload_mmap_pread_seq,
	&wl_faultload_mmap_pread_rand,
	&wl_faultload_shm_pread_seq,
	&wl_faultload_shm_pread_rand,
};

#define NR_ALL    (sizeof(all) / sizeof(all[0]))
#define MIB       (UINT64_C(1) << 20)
#define MIB_WORDS (MIB / ZM_WORD_BYTES)

static const struct zm_area_case *own_of(const struct zm_workload *workload)
{
	return workload->own;
}

static bool can_run(const struct zm_workload *workload)
{
	return !own_of(workload)->is_shm || zm_scratch_is_memory("/dev/shm");
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

static ino_t file_of(const struct rig *rig, unsigned int index, off_t *ret_size)
{
	const struct zm_usemem_task *task = rig->tasks[index].state;
	struct stat st;

	assert_int_equal(fstat(task->fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	*ret_size = st.st_size;
	return st.st_ino;
}

/* Rounds by steps of any length; a file of its own each, or one; as long as a task goes. */
static void check_rounds(const struct zm_workload *workload)
{
	const struct zm_area_case *own = workload->own;
	uint64_t area = own->is_whole ? 2 * MIB : MIB;
	uint64_t words = area / ZM_WORD_BYTES;
	off_t sizes[2];
	struct rig rig;

	rig_start(&rig, workload, ZM_TASK_PROCESS, 2, "unit_size=2M");
	assert_int_equal(file_of(&rig, 0, &sizes[0]) == file_of(&rig, 1, &sizes[1]), own->is_one);
	assert_int_equal(sizes[0], area);
	assert_int_equal(sizes[1], area);
	rig_do(&rig, 0, 2 * words + 5);
	rig_do(&rig, 1, 3);
	assert_int_equal(rig.slots[0].counters[ZM_VMSCAL_ROUNDS], 2);
	assert_int_equal(rig_ops(&rig, 0), 2 * words + 5);
	(void)file_of(&rig, 0, &sizes[0]);
	assert_int_equal(sizes[0], area);
	rig_stop(&rig);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	rig_free(&rig);
}

static void test_rounds(void **state)
{
	(void)state;
	for (size_t w = 0; w < NR_ALL; w++)
		if (can_run(all[w]))
			check_rounds(all[w]);
}

/* What is available falls while a run is prepared: what a task maps is there nevertheless. */
static void test_memory_falls(void **state)
{
	(void)state;
	for (size_t w = 0; w < NR_ALL; w++) {
		const struct zm_usemem_run *shared;
		struct tree tree;
		struct rig rig;
		off_t size;

		if (!can_run(all[w]))
			continue;
		tree_make(&tree);
		tree_write(&tree, "proc/meminfo", "MemTotal: 8192 kB\nMemAvailable: 16 kB\n");
		rig_init(&rig, all[w], ZM_TASK_PROCESS, 2, tree.path);
		shared = rig.run.state;
		rig_must(&rig, rig_check(&rig), "check");
		rig_must(&rig, rig_prepare(&rig), "prepare");
		tree_write(&tree, "proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 8 kB\n");
		rig_must(&rig, rig_setup(&rig, 0), "setup");
		(void)file_of(&rig, 0, &size);
		assert_true(shared->vmscal.area_bytes >= 2 * MIB);
		assert_int_equal(size, shared->vmscal.area_bytes);
		rig.stop = 1;
		rig_teardown(&rig);
		rig_cleanup(&rig);
		rig_free(&rig);
		tree_remove(&tree);
	}
}

/* A sequential walk's faults lie within what is said, in a first round as well as in later ones. */
static void test_faults(void **state)
{
	(void)state;
	if (rig_is_watched())
		skip();
	for (size_t w = 0; w < NR_ALL; w++) {
		double least, most, ratio;
		uint64_t before;
		struct rig rig;

		if (own_of(all[w])->is_random || !can_run(all[w]))
			continue;
		rig_start(&rig, all[w], ZM_TASK_PROCESS, 1, "unit_size=16M");
		assert_true(all[w]->expect_ops_per_fault(&rig.run, &least, &most));
		for (int round = 0; round < 3; round++) {
			before = rig_faults();
			rig_do(&rig, 0, 16 * MIB_WORDS);
			ratio = (double)(16 * MIB_WORDS) / (double)(rig_faults() - before);
			if (ratio < least * 0.98 || ratio > most * 1.02)
				fail_msg("%s, round %d: %g words a fault, %g to %g expected",
					 all[w]->name, round, ratio, least, most);
		}
		rig_stop(&rig);
		rig_free(&rig);
	}
}

/* What is read of a hole in tmpfs takes memory while the round lasts, and none after it. */
static void test_shm_is_emptied(void **state)
{
	const struct zm_usemem_task *task;
	struct rig rig;
	struct stat st;

	(void)state;
	if (!can_run(&wl_faultload_lru_shm))
		skip();
	rig_start(&rig, &wl_faultload_lru_shm, ZM_TASK_PROCESS, 1, "unit_size=4M");
	task = rig.tasks[0].state;
	rig_do(&rig, 0, 4 * MIB_WORDS);
	assert_int_equal(fstat(task->fd, &st), 0);
	assert_int_equal(st.st_blocks * 512, 4 * MIB);
	rig_do(&rig, 0, 1); /* the next round */
	assert_int_equal(fstat(task->fd, &st), 0);
	assert_true(st.st_blocks * 512 < 4 * (int64_t)MIB);
	rig_stop(&rig);
	rig_free(&rig);
}

static void test_footprint(void **state)
{
	static const struct {
		const struct zm_workload *workload;
		uint64_t shared, task, disk; /* MiB, without page tables */
	} cases[] = {
		{ &wl_faultload_lru_file_mmap_read, 0, 0, 0 },
		{ &wl_faultload_lru_shm, 0, 16, 64 },
		{ &wl_faultload_mmap_pread_seq, 0, 0, 0 },
		{ &wl_faultload_shm_pread_rand, 64, 0, 64 },
	};

	(void)state;
	if (zm_scratch_is_memory(NULL))
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_footprint need;
		struct rig rig;

		rig_init(&rig, cases[i].workload, ZM_TASK_PROCESS, 4, NULL);
		assert_int_equal(rig_set_options(&rig, "unit_size=64M"), 0);
		need = rig_footprint(&rig);
		assert_int_equal(need.shared_bytes / MIB, cases[i].shared);
		assert_int_equal(need.task_bytes / MIB, cases[i].task);
		assert_int_equal(need.disk_bytes / MIB, cases[i].disk);
		rig_free(&rig);
	}
}

static void test_check_refuses(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_lru_shm, ZM_TASK_PROCESS, 1, NULL);
	assert_int_equal(rig_set_options(&rig, "dir=/nowhere"), 0);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_non_null(strstr(rig.why.text, "dir=/nowhere"));
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_valid),      cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_memory_falls),   cmocka_unit_test(test_faults),
		cmocka_unit_test(test_shm_is_emptied), cmocka_unit_test(test_footprint),
		cmocka_unit_test(test_check_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
