/* null: steps do as many operations as was chosen, and the figures are per operation and per step. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/tests/rig.h"

extern const struct zm_workload wl_workloads_null;

static void test_steps(void **state)
{
	static const struct {
		const char *options;
		uint64_t n;
		int64_t done;
	} cases[] = {
		{ "", 1000, 1 },
		{ "step_ops=1", 1000, 1 },
		{ "step_ops=7", 1000, 7 },
		{ "step_ops=1048576", 1000, 1000 },
		{ "step_ops=1000", 1000, 1000 },
	};
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_start(&rig, &wl_workloads_null, ZM_TASK_THREAD, 1, cases[i].options);
		assert_int_equal(rig_step(&rig, 0, cases[i].n), cases[i].done);
		rig_stop(&rig);
		rig_free(&rig);
	}
}

static void test_figures(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig, &wl_workloads_null, ZM_TASK_PROCESS, 2, "step_ops=10");
	rig_do(&rig, 0, 300);
	rig_do(&rig, 1, 100);
	rig_stop(&rig);
	rig_report(&rig, 2000);
	rig_assert_all_reported(&rig);
	assert_true(rig_figure(&rig, "null.throughput")->value == 400 / 2e-6);
	assert_true(rig_figure(&rig, "null.ns_per_op")->value == 10.0); /* 2 tasks, 2,000 ns each */
	assert_true(rig_figure(&rig, "null.ns_per_step")->value == 100.0);
	rig_free(&rig);
}

static void test_is_valid(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	if (zm_workload_validate(&wl_workloads_null, &why) < 0)
		fail_msg("%s", why.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_valid),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
