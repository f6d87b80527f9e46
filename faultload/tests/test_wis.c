/* wis: the sums are will-it-scale's, under its names, for each kind its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "faultload/wis.h"
#include "workloads/tests/rig.h"

static void report(enum zm_task_kind kind, struct zm_report *ret_report)
{
	static const uint64_t ops[] = { 1000, 3000, 500 };
	struct zm_workload workload = { .name = "test", .metrics = zm_wis_metrics };
	struct zm_run run = { .workload = &workload, .kind = kind, .nr_tasks = 3 };
	struct zm_window window = { .run = &run, .t0_ns = 500, .t1_ns = 1500000500, .ops = ops };

	ret_report->nr_figures = 0;
	assert_int_equal(zm_wis_report(&window, ret_report), 0);
}

static void assert_figure(const struct rig_figure *figure, const char *name, double value)
{
	assert_string_equal(figure->metric->name, name);
	assert_string_equal(figure->metric->unit, "ops/s");
	assert_true(figure->value == value);
	assert_true(figure->count == 4500.0);
	assert_int_equal(figure->interval_ns, 1500000000);
}

static void test_processes(void **state)
{
	struct zm_report figures;

	(void)state;
	report(ZM_TASK_PROCESS, &figures);
	assert_int_equal(figures.nr_figures, 3);
	assert_figure(&figures.figures[0], "will-it-scale.{n}.processes", 3000);
	assert_figure(&figures.figures[1], "will-it-scale.per_process_ops", 1000);
	assert_figure(&figures.figures[2], "will-it-scale.workload", 3000);
}

static void test_threads(void **state)
{
	struct zm_report figures;

	(void)state;
	report(ZM_TASK_THREAD, &figures);
	assert_int_equal(figures.nr_figures, 3);
	assert_figure(&figures.figures[0], "will-it-scale.{n}.threads", 3000);
	assert_figure(&figures.figures[1], "will-it-scale.per_thread_ops", 1000);
	assert_figure(&figures.figures[2], "will-it-scale.workload", 3000);
}

static void test_lists_differ_in_the_unit(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; zm_wis_metrics[i].name; i++) {
		assert_string_equal(zm_wis_metrics[i].name, zm_wis_page_metrics[i].name);
		assert_string_equal(zm_wis_page_metrics[i].unit, "pages/s");
	}
	assert_null(zm_wis_page_metrics[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_lists_differ_in_the_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
