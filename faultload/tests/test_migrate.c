/* migrate: calls counted, the figure of them, what is refused; on one node pages move to where they are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "workloads/base/tests/tree.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_migrate;

#define MIB (UINT64_C(1) << 20)

static void test_is_valid(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	if (zm_workload_validate(&wl_faultload_migrate, &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(wl_faultload_migrate.need.min_nodes, 2);
}

/* Half of the memory by the nodes that have some; `size` counts for all that are listed. */
static void test_unit(void **state)
{
	static const struct {
		const char *has_memory, *options;
		uint64_t task_bytes;
	} cases[] = {
		{ "0-1\n", "", 256 * MIB },
		{ "0,2-4\n", "", 128 * MIB },
		{ "0-1\n", "unit_size=5M", 5 * MIB },
		{ "0-1\n", "size=8M", 8 * MIB },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tree tree;
		struct rig rig;

		tree_make(&tree);
		tree_write(&tree, "proc/meminfo", "MemTotal: 1048576 kB\n");
		tree_write(&tree, "sys/devices/system/node/has_memory", cases[i].has_memory);
		rig_init(&rig, &wl_faultload_migrate, ZM_TASK_PROCESS, 1, tree.path);
		assert_int_equal(rig_set_options(&rig, cases[i].options), 0);
		assert_int_equal(rig_check(&rig), 0);
		assert_int_equal(rig_footprint(&rig).task_bytes, cases[i].task_bytes);
		rig_free(&rig);
		tree_remove(&tree);
	}
}

static void test_refuses(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_migrate, ZM_TASK_PROCESS, 2, NULL);
	assert_int_equal(rig_check(&rig), -EINVAL);
	assert_non_null(strstr(rig.why.text, "nr_task=1"));
	rig_free(&rig);
}

static void test_calls(void **state)
{
	uint64_t page;
	struct rig rig;

	(void)state;
	rig_init(&rig, &wl_faultload_migrate, ZM_TASK_PROCESS, 1, NULL);
	if (!zm_sysroot_has(&rig.root, "sys/devices/system/node/has_memory")) {
		rig_free(&rig);
		skip();
	}
	page = rig.run.page_bytes;
	rig_must(&rig, rig_set_options(&rig, "unit_size=2M"), "options");
	rig_must(&rig, rig_check(&rig), "check");
	rig_must(&rig, rig_prepare(&rig), "prepare");
	if (rig_setup(&rig, 0) == -EPERM) { /* a container that lets nobody choose nodes */
		rig_teardown(&rig);
		rig_free(&rig);
		skip();
	}
	rig_run(&rig, 0, 5);
	assert_true(rig_ops(&rig, 0) >= 5);
	assert_in_range(rig.slots[0].counters[0], 0, rig_ops(&rig, 0) * 2 * MIB / page);
	rig_stop(&rig);
	rig_report(&rig, 1000000000);
	rig_assert_all_reported(&rig);
	assert_true(fabs(rig_figure(&rig, "vm-scalability.migrate_mbps")->value -
			 (double)rig_ops(&rig, 0) * 2 * MIB / 1e6) < 1e-6);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_valid),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
