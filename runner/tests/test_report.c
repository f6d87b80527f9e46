/* report: names filled in, nothing twice, nothing that is not a number, nothing forgotten. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/report.h"

static const struct {
	const char *name;
	unsigned int nr_units;
	const char *filled;
} names[] = {
	{ "plain", 7, "plain" },
	{ "will-it-scale.{n}.processes", 16, "will-it-scale.16.processes" },
	{ "{n}", 1, "1" },
	{ "x{n}", 4294967295u, "x4294967295" },
	{ "{m}", 1, "{m}" },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *filled = zm_report_name(names[i].name, names[i].nr_units);

		assert_string_equal(filled, names[i].filled);
		free(filled);
	}
}

static const struct zm_metric rows[] = {
	{ .name = "a.{n}", .unit = "x" },
	{ .name = "b", .unit = "x" },
	{ .name = "threads-only", .unit = "x", .kinds = ZM_TASK_THREAD },
	{ .name = "maybe", .unit = "x", .is_optional = true },
	{ .name = NULL },
};

static void test_add(void **state)
{
	struct zm_report report;

	(void)state;
	zm_report_init(&report, NULL, 3);
	assert_int_equal(zm_report_add(&report, &rows[0], 1.5, 3, 2), 0);
	assert_int_equal(zm_report_add(&report, &rows[0], 2.5, 3, 2), -EEXIST);
	assert_int_equal(zm_report_add(&report, &rows[1], NAN, 3, 2), -EDOM);
	assert_int_equal(zm_report_add(&report, &rows[1], INFINITY, 3, 2), -EDOM);
	assert_int_equal(report.nr_figures, 1);
	assert_string_equal(report.figures[0].name, "a.3");
	assert_true(zm_report_find(&report, &rows[0])->value == 1.5);
	assert_null(zm_report_find(&report, &rows[1]));
	zm_report_release(&report);
	zm_report_release(&report);
}

/* A monitor makes a row of a CPU's idle states while it reports; the row is gone afterwards. */
static void test_passing_row(void **state)
{
	struct zm_report report;
	struct zm_metric row = { .name = "idle", .unit = "%", .better = ZM_BETTER_LESS };

	(void)state;
	zm_report_init(&report, NULL, 1);
	assert_int_equal(zm_report_add(&report, &row, 1, 1, 1), 0);
	row = (struct zm_metric){ .name = NULL, .is_primary = true };
	assert_string_equal(report.figures[0].name, "idle");
	assert_string_equal(report.figures[0].metric.unit, "%");
	assert_false(report.figures[0].metric.is_primary);
	assert_int_equal(report.figures[0].metric.better, ZM_BETTER_LESS);
	zm_report_release(&report);
}

static void test_check(void **state)
{
	const struct zm_workload workload = { .name = "w", .metrics = rows };
	const struct zm_workload silent = { .name = "s" };
	struct zm_report report;
	struct zm_why why;

	(void)state;
	zm_report_init(&report, NULL, 1);
	assert_int_equal(zm_report_check(&report, &silent, ZM_TASK_PROCESS, &why), 0);
	assert_int_equal(zm_report_add(&report, &rows[0], 1, 1, 1), 0);
	assert_int_equal(zm_report_check(&report, &workload, ZM_TASK_PROCESS, &why), -ENODATA);
	assert_non_null(strstr(why.text, "w did not report b"));
	assert_int_equal(zm_report_add(&report, &rows[1], 1, 1, 1), 0);
	assert_int_equal(zm_report_check(&report, &workload, ZM_TASK_PROCESS, &why), 0);
	assert_int_equal(zm_report_check(&report, &workload, ZM_TASK_THREAD, &why), -ENODATA);
	assert_non_null(strstr(why.text, "threads-only"));
	zm_report_release(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_passing_row),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
