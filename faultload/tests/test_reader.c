/* reader: rounds by steps of any length, of a file of one's own and of a pair's; what is read, and
 * what stays in memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "faultload/reader.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_lru_file_readonce, wl_faultload_lru_file_readtwice;

#define BLOCKS 256 /* of 4 KiB in 1 MiB */

static void test_are_valid(void **state)
{
	const struct zm_workload *const both[] = { &wl_faultload_lru_file_readonce,
						   &wl_faultload_lru_file_readtwice };

	(void)state;
	for (size_t w = 0; w < 2; w++) {
		struct zm_why why = { "" };

		if (zm_workload_validate(both[w], &why) < 0)
			fail_msg("%s", why.text);
	}
}

static ino_t file_of(const struct rig *rig, unsigned int index)
{
	const struct zm_reader *reader = rig->tasks[index].state;
	struct stat st;

	assert_int_equal(fstat(reader->fd, &st), 0);
	assert_int_equal(st.st_size, 1 << 20);
	return st.st_ino;
}

static void check_rounds(const struct zm_workload *workload, unsigned int nr_tasks,
			 const char *options)
{
	const struct zm_reader *reader;
	struct rig rig;

	rig_start(&rig, workload, ZM_TASK_THREAD, nr_tasks, options);
	reader = rig.tasks[1].state;
	assert_int_equal(rig_step(&rig, 1, 1), 1);
	assert_int_equal(rig_step(&rig, 1, 1000), BLOCKS - 1);
	assert_int_equal(rig.slots[1].counters[ZM_VMSCAL_ROUNDS], 1);
	rig_do(&rig, 1, 3 * BLOCKS + 7);
	assert_int_equal(rig.slots[1].counters[ZM_VMSCAL_ROUNDS], 4);
	assert_int_equal(reader->done, 7 * 4096);
	assert_int_equal(lseek(reader->fd, 0, SEEK_CUR), 7 * 4096);
	for (unsigned int i = 0; i < nr_tasks; i++)
		rig_do(&rig, i, 1);
	rig_stop(&rig);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	rig_free(&rig);
}

static void test_rounds(void **state)
{
	(void)state;
	check_rounds(&wl_faultload_lru_file_readonce, 2, "unit_size=2M");
	check_rounds(&wl_faultload_lru_file_readtwice, 4, "unit_size=2M");
}

static void test_whose_file(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig, &wl_faultload_lru_file_readonce, ZM_TASK_THREAD, 2, "unit_size=2M");
	assert_true(file_of(&rig, 0) != file_of(&rig, 1));
	rig_do(&rig, 0, 1);
	rig_stop(&rig);
	rig_free(&rig);

	rig_start(&rig, &wl_faultload_lru_file_readtwice, ZM_TASK_THREAD, 4, "unit_size=2M");
	assert_int_equal(file_of(&rig, 0), file_of(&rig, 1));
	assert_int_equal(file_of(&rig, 2), file_of(&rig, 3));
	assert_true(file_of(&rig, 0) != file_of(&rig, 2));
	rig_do(&rig, 0, 5);
	rig_do(&rig, 1, 3); /* each has its own position */
	assert_int_equal(((struct zm_reader *)rig.tasks[0].state)->done, 5 * 4096);
	assert_int_equal(((struct zm_reader *)rig.tasks[1].state)->done, 3 * 4096);
	rig_stop(&rig);
	rig_free(&rig);
}

/* Nothing is mapped: as many tasks as anybody wants, however long their files. */
static void test_footprint(void **state)
{
	const struct zm_workload *const both[] = { &wl_faultload_lru_file_readonce,
						   &wl_faultload_lru_file_readtwice };

	(void)state;
	for (size_t w = 0; w < 2; w++) {
		struct zm_footprint footprint;
		struct rig rig;

		rig_init(&rig, both[w], ZM_TASK_PROCESS, 4, NULL);
		rig_must(&rig, rig_set_options(&rig, "unit_size=4T"), "unit_size");
		footprint = rig_footprint(&rig);
		assert_true(footprint.task_bytes < 1 << 16);
		assert_true(footprint.shared_bytes < 1 << 16);
		rig_free(&rig);
	}
}

static void test_verify(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig, &wl_faultload_lru_file_readonce, ZM_TASK_THREAD, 1, "unit_size=1M");
	rig_teardown(&rig);
	assert_int_equal(rig_verify(&rig), -EBADMSG); /* nothing was read */
	rig_cleanup(&rig);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_valid),  cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_whose_file), cmocka_unit_test(test_footprint),
		cmocka_unit_test(test_verify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
