/*
 * crowd: one area for all tasks against a model: how long it is, what is in it after a round, and that each
 * round finds it as new.
 *
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "faultload/crowd.h"
#include "faultload/scratch.h"
#include "faultload/tests/crew.h"

extern const struct zm_workload wl_faultload_anon_wx_seq, wl_faultload_anon_wx_rand;
extern const struct zm_workload wl_faultload_anon_rx_seq, wl_faultload_anon_rx_rand;
extern const struct zm_workload wl_faultload_mmap_xread_seq, wl_faultload_mmap_xread_rand;
extern const struct zm_workload wl_faultload_shm_xread_seq, wl_faultload_shm_xread_rand;
extern const struct zm_workload wl_faultload_mremap_xread_rand;

#define MIB (UINT64_C(1) << 20)

static const struct {
	const struct zm_workload *workload;
	uint64_t area; /* of two tasks with 4 MiB of unit_size */
	uint64_t map;
	bool is_for_processes;
} all[] = {
	{ &wl_faultload_anon_wx_seq, 4 * MIB, 4 * MIB, false },
	{ &wl_faultload_anon_wx_rand, 2 * MIB, 2 * MIB, false },
	{ &wl_faultload_anon_rx_seq, 4 * MIB, 4 * MIB, false },
	{ &wl_faultload_anon_rx_rand, 2 * MIB, 2 * MIB, false },
	{ &wl_faultload_mmap_xread_seq, 4 * MIB, 4 * MIB, false },
	{ &wl_faultload_mmap_xread_rand, 2 * MIB, 2 * MIB, false },
	{ &wl_faultload_mremap_xread_rand, 2 * MIB, 20 * MIB, false },
	{ &wl_faultload_shm_xread_seq, 4 * MIB, 4 * MIB, true },
	{ &wl_faultload_shm_xread_rand, 4 * MIB, 4 * MIB, true },
};

#define NR_ALL (sizeof(all) / sizeof(all[0]))

static const struct zm_area_case *own_of(size_t which)
{
	return all[which].workload->own;
}

static bool can_run(size_t which)
{
	return !own_of(which)->is_shm || zm_scratch_is_memory("/dev/shm");
}

static void test_are_valid(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_ALL; i++) {
		struct zm_why why = { "" };

		if (zm_workload_validate(all[i].workload, &why) < 0)
			fail_msg("%s: %s", all[i].workload->name, why.text);
		assert_true((all[i].workload->kinds & ZM_TASK_PROCESS) == all[i].is_for_processes);
	}
}

static uint64_t process_faults(int who)
{
	struct rusage usage;

	assert_int_equal(getrusage(who, &usage), 0);
	return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

/* A written word holds its number; in a sequential round all are. */
static void check_words(const struct rig *rig, const struct zm_crowd_run *shared)
{
	const struct zm_area_case *own = rig->run.workload->own;
	const uint64_t *words = (const uint64_t *)(const void *)shared->usemem.base;
	uint64_t nr_words = shared->usemem.vmscal.area_bytes / ZM_WORD_BYTES;
	uint64_t nr_own = 0;

	for (uint64_t i = 0; i < nr_words; i++) {
		assert_true(words[i] == 0 || (words[i] == i && !own->is_read));
		nr_own += words[i] == i;
	}
	assert_true(own->is_read ? nr_own == 1 : nr_own >= 1);
}

/* A round's pages fault at least once by one thread. */
static void check_threads(size_t which)
{
	const struct zm_crowd_run *shared;
	uint64_t before, nr_words, rounds;
	struct rig rig;

	rig_start(&rig, all[which].workload, ZM_TASK_THREAD, 2,
		  own_of(which)->is_file ? "unit_size=4M" : "unit_size=4M thp=never");
	shared = rig.run.state;
	assert_int_equal(shared->usemem.vmscal.area_bytes, all[which].area);
	assert_int_equal(shared->map_bytes, all[which].map);
	nr_words = all[which].area / ZM_WORD_BYTES;
	before = process_faults(RUSAGE_SELF);
	crew_run(&rig, 3 * nr_words + 1);
	rounds = rig.slots[0].counters[ZM_VMSCAL_ROUNDS];
	assert_true(rounds >= 3);
	assert_in_range(rig_ops(&rig, 0), rounds * nr_words, (rounds + 1) * nr_words);
	assert_in_range(rig.slots[1].counters[ZM_VMSCAL_ROUNDS], rounds - 1, rounds + 1);
	if (!own_of(which)->is_file)
		assert_true(process_faults(RUSAGE_SELF) - before >=
			    3 * all[which].area / rig.run.page_bytes * 9 / 10);
	assert_int_equal(shared->map_bytes, all[which].map);
	check_words(&rig, shared);
	rig_stop(&rig);
	assert_null(shared->usemem.base);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	rig_free(&rig);
}

static void test_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_ALL; i++)
		if (can_run(i))
			check_threads(i);
}

/* Each round's child faults on its own; the file is emptied by whoever comes last. */
static void test_processes(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_ALL; i++) {
		const struct zm_crowd_run *shared;
		uint64_t rounds, before;
		struct rig rig;

		if (!all[i].is_for_processes || !can_run(i))
			continue;
		rig_start(&rig, all[i].workload, ZM_TASK_PROCESS, 2, "unit_size=4M");
		shared = rig.run.state;
		before = process_faults(RUSAGE_CHILDREN);
		crew_run(&rig, 2 * all[i].area / ZM_WORD_BYTES + 1);
		rounds = rig.slots[0].counters[ZM_VMSCAL_ROUNDS];
		assert_true(rounds >= 2);
		assert_true(process_faults(RUSAGE_CHILDREN) > before);
		assert_in_range(shared->usemem.vmscal.free.nr, rounds, 4 * rounds + 4);
		rig_stop(&rig);
		rig_report(&rig, 1000000000);
		rig_assert_all_reported(&rig);
		assert_null(rig_figure(&rig, "vm-scalability.copy_time"));
		rig_free(&rig);
	}
}

/* What is there once is counted once, however many go over it. */
static void test_footprint(void **state)
{
	static const struct {
		const struct zm_workload *workload;
		enum zm_task_kind kind;
		uint64_t shared, task; /* MiB, without page tables */
	} cases[] = {
		{ &wl_faultload_anon_wx_seq, ZM_TASK_THREAD, 64, 0 },
		{ &wl_faultload_anon_wx_rand, ZM_TASK_THREAD, 16, 0 },
		{ &wl_faultload_anon_rx_seq, ZM_TASK_THREAD, 0, 0 },
		{ &wl_faultload_mmap_xread_seq, ZM_TASK_THREAD, 0, 0 },
		{ &wl_faultload_shm_xread_seq, ZM_TASK_THREAD, 64, 0 },
		{ &wl_faultload_shm_xread_seq, ZM_TASK_PROCESS, 64, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_footprint need;
		struct rig rig;

		rig_init(&rig, cases[i].workload, cases[i].kind, 4, NULL);
		assert_int_equal(rig_set_options(&rig, "unit_size=64M"), 0);
		need = rig_footprint(&rig);
		assert_int_equal(need.shared_bytes / MIB, cases[i].shared);
		assert_int_equal(need.task_bytes / MIB, cases[i].task);
		rig_free(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_valid),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_footprint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
