/* skeleton: what is there to be copied is a good workload, and does what its first comment says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/tests/rig.h"

extern const struct zm_workload wl_workloads_skeleton;

static void test_is_valid(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	if (zm_workload_validate(&wl_workloads_skeleton, &why) < 0)
		fail_msg("%s", why.text);
	assert_string_equal(wl_workloads_skeleton.name, "skeleton");
}

static void run_it(enum zm_task_kind kind, const char *options)
{
	struct rig rig;

	rig_start(&rig, &wl_workloads_skeleton, kind, 3, options);
	for (unsigned int task = 0; task < 3; task++)
		rig_do(&rig, task, 250 * (task + 1));
	assert_int_equal(rig.slots[2].counters[0], 7); /* 750 bytes of 100 */
	rig_stop(&rig);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	assert_true(rig_figure(&rig, "skeleton.per_task")->value == 500.0);
	rig_free(&rig);
}

static void test_runs(void **state)
{
	(void)state;
	run_it(ZM_TASK_PROCESS, "size=100");
	run_it(ZM_TASK_THREAD, "size=100 order=down");
}

static void test_check_refuses(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_workloads_skeleton, ZM_TASK_PROCESS, 1, NULL);
	assert_int_equal(rig_set_options(&rig, "size=101 order=down"), 0);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_non_null(strstr(rig.why.text, "size=101"));
	rig_free(&rig);
}

static void test_verify_finds_what_was_not_done(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig, &wl_workloads_skeleton, ZM_TASK_PROCESS, 2, "size=100");
	rig_do(&rig, 0, 10);
	rig.run.nr_tasks = 1; /* the second task is never torn down */
	rig_teardown(&rig);
	rig.run.nr_tasks = 2;
	assert_int_equal(rig_verify(&rig), -EBADMSG);
	rig.run.workload->teardown(&rig.tasks[1]);
	rig_cleanup(&rig);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_valid),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_check_refuses),
		cmocka_unit_test(test_verify_finds_what_was_not_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
