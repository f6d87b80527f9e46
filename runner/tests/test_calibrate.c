/*
 * calibrate: two runs in a store, whose every figure is known, give the ratios that they must; what a run
 * has not got is left out.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "runner/calibrate.h"
#include "workloads/base/clock.h"
#include "workloads/base/tests/tree.h"

#define AT_NS(seconds) ((uint64_t)(seconds)*ZM_NS_PER_S)

/* A run: idle from second 1 to 2, measured from 2 to 12. Its counts and what is above idle are `scale`
 * times those of the other. */
struct maker {
	struct zm_store *store;
	struct zm_recorder *recorder;
	double scale;
};

static void put_count(struct maker *maker, const char *metric, double total)
{
	const struct zm_series_desc desc = {
		.source = "test", .metric = metric, .unit = "", .kind = ZM_COUNT
	};
	uint32_t series;

	assert_int_equal(zm_recorder_series(maker->recorder, &desc, &series), 0);
	zm_recorder_put_u64(maker->recorder, series, AT_NS(1), 5, 0);
	zm_recorder_put_u64(maker->recorder, series, AT_NS(2), 1000, 0);
	zm_recorder_put_u64(maker->recorder, series, AT_NS(12), 1000 + (uint64_t)total, 0);
}

static void put_gauge(struct maker *maker, const char *metric, uint64_t idle, uint64_t busy)
{
	const struct zm_series_desc desc = {
		.source = "test", .metric = metric, .unit = "", .kind = ZM_GAUGE
	};
	uint32_t series;

	assert_int_equal(zm_recorder_series(maker->recorder, &desc, &series), 0);
	zm_recorder_put_u64(maker->recorder, series, AT_NS(1), idle, 0);
	zm_recorder_put_u64(maker->recorder, series, AT_NS(2) - 1, idle, 0);
	zm_recorder_put_u64(maker->recorder, series, AT_NS(2), busy, 0);
	zm_recorder_put_u64(maker->recorder, series, AT_NS(12), busy, 0);
}

/* 2 MiB used before, of them 1 in the lists; in the window the same with 1 to 9 MiB times scale more of the
 * one, and 4 MiB more of the other, which do not count. */
static void put_used(struct maker *maker, double scale)
{
	const struct zm_series_desc used = {
		.source = "test", .metric = "meminfo.Memused", .unit = "kB", .kind = ZM_GAUGE
	};
	const struct zm_series_desc list = { .source = "test",
					     .metric = "pcp.count.node0.Normal",
					     .unit = "pages",
					     .kind = ZM_GAUGE,
					     .scope = ZM_SCOPE_CPU,
					     .scope_id = 1 };
	uint64_t per_mib = (1 << 20) / (uint64_t)sysconf(_SC_PAGESIZE);
	uint32_t of_used, of_list;

	assert_int_equal(zm_recorder_series(maker->recorder, &used, &of_used), 0);
	assert_int_equal(zm_recorder_series(maker->recorder, &list, &of_list), 0);
	for (uint64_t i = 1; i <= 12; i++) {
		uint64_t t_ns = AT_NS(i) - (i == 2);
		uint64_t kb = i <= 2 ? 0 : i == 7 ? 9 * 1024 : 1024;

		zm_recorder_put_u64(maker->recorder, of_list, t_ns, (i <= 2 ? 1U : 5U) * per_mib,
				    0);
		zm_recorder_put_u64(maker->recorder, of_used, t_ns,
				    (i <= 2 ? 2U : 6U) * 1024 + (uint64_t)((double)kb * scale), 0);
	}
}

static void put_result(struct maker *maker, const char *metric, double value)
{
	const struct zm_result result = {
		.metric = metric, .unit = "", .source = "test", .value = value
	};

	assert_int_equal(zm_recorder_result(maker->recorder, &result), 0);
}

static uint64_t make_run(struct zm_store *store, const char *workload, double scale)
{
	const struct zm_run_record record = {
		.invocation = "11111111-1111-4111-8111-111111111111",
		.command_line = "zonemark calibrate kbuild",
		.workload = workload,
		.params = "{}",
		.cell = "{}",
		.status = ZM_STATUS_RUNNING,
		.nr_tasks = 1,
		.kind = "process",
		.inventory = "{}",
		.machine_id = "0123456789abcdef",
		.boot_id = "22222222-2222-4222-8222-222222222222",
		.kernel = "6.18.0",
		.version = "0.1.0",
		.wall_ns = UINT64_C(1777636800000000000),
		.start_ns = 1,
	};
	struct maker maker = { .store = store, .scale = scale };
	struct zm_why why;
	uint64_t id;

	if (zm_recorder_begin(store, &record, &maker.recorder, &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(zm_recorder_phase(maker.recorder, ZM_PHASE_IDLE, AT_NS(1), AT_NS(2)), 0);
	assert_int_equal(zm_recorder_phase(maker.recorder, ZM_PHASE_MEASURE, AT_NS(2), AT_NS(12)),
			 0);
	put_count(&maker, "proc-vmstat.pgfault", 50000 * scale);
	put_count(&maker, "proc-vmstat.pgalloc_normal", 30000 * scale);
	put_count(&maker, "proc-vmstat.pgalloc_dma32", 10000 * scale);
	put_count(&maker, "pcp.refill", 1000);
	put_count(&maker, "exits.compilers", 100 * scale);
	put_count(&maker, "mpstat.cpu.all.sys", 20000);
	put_count(&maker, "mpstat.cpu.all.usr", 80000);
	put_gauge(&maker, "meminfo.AnonPages", 4096, 4096 + (uint64_t)(102400 * scale));
	put_used(&maker, scale);
	put_result(&maker, "kbuild.user_time_per_iteration", 30 * scale);
	id = zm_recorder_run_id(maker.recorder);
	assert_int_equal(zm_recorder_end(maker.recorder, ZM_STATUS_OK, NULL, &why), 0);
	return id;
}

static void check(const struct zm_calibration *calibration, enum zm_calibrate_figure figure,
		  double real, double ratio)
{
	struct zm_calibrate_result result;

	if (!zm_calibrate_result(calibration, figure, &result))
		fail_msg("%s: not there", zm_calibrate_label(figure));
	if (fabs(result.real - real) > 1e-6 * real || fabs(result.ratio - ratio) > 1e-6)
		fail_msg("%s: %g, ratio %g", zm_calibrate_label(figure), result.real, result.ratio);
	assert_true(result.least <= result.ratio + 1e-9 && result.most >= result.ratio - 1e-9);
}

static void check_figures(const struct zm_calibration *calibration, double ratio)
{
	struct zm_calibrate_result result;

	check(calibration, ZM_CALIBRATE_FAULTS, 5000, ratio);
	check(calibration, ZM_CALIBRATE_ALLOCATIONS, 4000, ratio);
	check(calibration, ZM_CALIBRATE_REFILLS, 20, 1 / ratio);
	check(calibration, ZM_CALIBRATE_SYSTEM_SHARE, 20, 1);
	check(calibration, ZM_CALIBRATE_ANON, 100, ratio);
	check(calibration, ZM_CALIBRATE_USED_PEAK, 9, ratio);
	check(calibration, ZM_CALIBRATE_USED, 17.0 / 9, ratio);
	check(calibration, ZM_CALIBRATE_UNIT_TIME, 0.1, 1 / ratio);
	check(calibration, ZM_CALIBRATE_USER_TIME, 30, ratio);
	assert_false(zm_calibrate_result(calibration, ZM_CALIBRATE_SWITCHES, &result));
}

static void check_json(const struct zm_calibration *calibration)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_t *object;

	assert_non_null(out);
	assert_int_equal(zm_calibrate_print_json(calibration, 0.1, out), 0);
	assert_int_equal(fclose(out), 0);
	object = json_loads(text, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(object, "pairs")), 2);
	assert_int_equal(json_array_size(json_object_get(object, "figures")), 9);
	json_decref(object);
	free(text);
}

static void test_pairs(void **state)
{
	static struct zm_calibration calibration;
	struct zm_store *store = NULL;
	struct zm_why why;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	if (zm_store_open(tree_path(&tree, "store.db"), true, &store, &why) < 0)
		fail_msg("%s", why.text);
	for (size_t i = 0; i < 2; i++) {
		uint64_t real = make_run(store, "kbuild_real", 1);
		uint64_t emulated = make_run(store, "kbuild", 1.5);

		if (zm_calibrate_add(&calibration, store, real, emulated, &why) < 0)
			fail_msg("%s", why.text);
	}
	check_figures(&calibration, 1.5);
	check_json(&calibration);
	assert_true(zm_calibrate_add(&calibration, store, 12345, 1, &why) < 0);
	zm_store_close(store);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_pairs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
