/*
 * cutter: rounds of reading and giving up, in what order, and what they come to.
 *
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>

#include "faultload/cutter.h"
#include "faultload/scratch.h"
#include "faultload/tests/crew.h"

extern const struct zm_workload wl_faultload_truncate, wl_faultload_truncate_seq;

static const struct zm_workload *const both[] = { &wl_faultload_truncate,
						  &wl_faultload_truncate_seq };

#define S   UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)

static void test_are_valid(void **state)
{
	(void)state;
	for (size_t w = 0; w < 2; w++) {
		struct zm_why why = { "" };

		if (zm_workload_validate(both[w], &why) < 0)
			fail_msg("%s", why.text);
	}
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

/* A round of a task is its part in blocks; all of them have had as many, give or take the last. */
static void test_rounds(void **state)
{
	(void)state;
	for (size_t w = 0; w < 2; w++) {
		const struct zm_cutter_run *shared;
		unsigned int nr_files = count_files();
		struct rig rig;

		rig_start(&rig, both[w], ZM_TASK_THREAD, 3, "unit_size=6M");
		shared = rig.run.state;
		assert_int_equal(shared->area_bytes, 2 * MIB);
		crew_run(&rig, 4 * 512);
		for (unsigned int i = 0; i < 3; i++) {
			assert_true(rig_ops(&rig, i) % 512 == 0);
			assert_in_range(rig_ops(&rig, i) / 512, shared->nr_rounds,
					shared->nr_rounds + 1);
		}
		assert_true(shared->nr_rounds >= 3);
		for (uint64_t i = 0; i < shared->nr_rounds; i++) {
			assert_true(shared->log[i].fill_s > 0 && shared->log[i].cut_s > 0);
			assert_true(i == 0 || shared->log[i].end_ns > shared->log[i - 1].end_ns);
		}
		rig_stop(&rig);
		rig_free(&rig);
		assert_int_equal(count_files(), nr_files);
	}
}

/* Figures of two rounds in the window, worked out by hand; a third has ended before it. */
static void test_figures(void **state)
{
	static const struct {
		const char *name;
		double value;
		bool is_of_seq;
	} cases[] = {
		{ "vm-scalability.throughput", 1024 * (1 / 0.5 + 1 / 0.25) / 2, false },
		{ "vm-scalability.median", 1024 * (1 / 0.5 + 1 / 0.25) / 2, false },
		{ "vm-scalability.stddev%", 100 / 3.0, false },
		{ "vm-scalability.median_stddev%", 100 / 3.0, false },
		{ "vm-scalability.workload", 2 * 1024, false },
		{ "vm-scalability.true_throughput", 2 * 1024 / 10.0, false },
		{ "vm-scalability.populate_time", 1.5, false },
		{ "vm-scalability.free_time", 0.375, false },
		{ "vm-scalability.throughput_fault", 1024 * (1 / 1.0 + 1 / 2.0) / 2, true },
		{ "vm-scalability.median_fault", 1024 * (1 / 1.0 + 1 / 2.0) / 2, true },
		{ "vm-scalability.stddev_fault%", 100 / 3.0, true },
		{ "vm-scalability.median_fault_stddev%", 100 / 3.0, true },
	};
	static struct zm_cutter_run shared;
	static struct zm_report report;

	(void)state;
	memset(&shared, 0, sizeof(shared));
	shared.area_bytes = MIB / 2; /* of two tasks */
	shared.log[0] = (struct zm_cutter_round){ 4 * S, 9, 9 };
	shared.log[1] = (struct zm_cutter_round){ 6 * S, 1, 0.5 };
	shared.log[2] = (struct zm_cutter_round){ 9 * S, 2, 0.25 };
	shared.nr_rounds = 3;
	for (size_t w = 0; w < 2; w++) {
		struct zm_run run = { .workload = both[w], .nr_tasks = 2, .state = &shared };
		const uint64_t ops[2] = { 256, 256 };
		struct zm_window window = {
			.run = &run, .t0_ns = 5 * S, .t1_ns = 15 * S, .ops = ops
		};
		size_t nr = 0;

		report.nr_figures = 0;
		assert_int_equal(zm_cutter_report(&window, &report), 0);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			const struct rig_figure *figure = NULL;

			for (size_t k = 0; k < report.nr_figures; k++)
				if (strcmp(report.figures[k].metric->name, cases[i].name) == 0)
					figure = &report.figures[k];
			if (!figure && cases[i].is_of_seq && w == 0)
				continue;
			assert_non_null(figure);
			if (fabs(figure->value - cases[i].value) > 1e-9 * cases[i].value)
				fail_msg("%s: %.12g, expected %.12g", cases[i].name, figure->value,
					 cases[i].value);
			nr++;
		}
		assert_int_equal(nr, report.nr_figures);
	}
}

/* A window in which nothing ended is said so, with the mend. */
static void test_no_round(void **state)
{
	static struct zm_cutter_run shared;
	struct zm_run run = { .workload = both[0], .nr_tasks = 1, .state = &shared };
	const uint64_t ops[1] = { 0 };
	struct zm_window window = { .run = &run, .t0_ns = S, .t1_ns = 2 * S, .ops = ops };
	struct zm_report report = { .nr_figures = 0 };

	(void)state;
	assert_int_equal(zm_cutter_report(&window, &report), -ENODATA);
	assert_non_null(strstr(report.why, "no round ended in the window of 1.0 s"));
	assert_int_equal(report.nr_figures, 0);
}

/* Files in memory cannot be as long as all of it. */
static void test_in_memory(void **state)
{
	struct zm_footprint need;
	struct rig rig;

	(void)state;
	if (!zm_scratch_is_memory("/dev/shm"))
		skip();
	rig_init(&rig, both[0], ZM_TASK_PROCESS, 2, NULL);
	assert_int_equal(rig_set_options(&rig, "dir=/dev/shm"), 0);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_non_null(strstr(rig.why.text, "dir=/dev/shm"));
	assert_int_equal(rig_set_options(&rig, "unit_size=8M"), 0);
	assert_int_equal(rig_check(&rig), 0);
	need = rig_footprint(&rig);
	assert_int_equal(need.disk_bytes, 8 * MIB);
	assert_int_equal(need.task_bytes / MIB, 4);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_valid), cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_figures),   cmocka_unit_test(test_no_round),
		cmocka_unit_test(test_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
