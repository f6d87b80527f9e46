/* digest: figures with their spread, whatever way the tasks were read and however the run ended. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "results/digest.h"
#include "results/tests/fixture.h"

#define S UINT64_C(1000000000)

static void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
		fail_msg("%.17g is not %.17g", value, wanted);
}

static uint32_t declare(struct zm_recorder *recorder, const char *source, const char *metric,
			const char *unit, enum zm_kind kind, enum zm_scope scope, uint32_t id)
{
	uint32_t series = 0;

	assert_int_equal(zm_recorder_series(recorder,
					    &(struct zm_series_desc){ .source = source,
								      .metric = metric,
								      .unit = unit,
								      .kind = kind,
								      .scope = scope,
								      .scope_id = id },
					    &series),
			 0);
	return series;
}

/* A launch with a steady 1,000 operations a second in all, but `more` in its last second. */
static void launch(struct zm_store *store, unsigned int repeat, uint64_t more,
		   enum zm_status status, bool has_window)
{
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;
	uint32_t ops[2], used, irqs;
	struct zm_result result = { .metric = "rate",
				    .unit = "ops/s",
				    .source = "page_fault1",
				    .value = 1000 + (double)more / 4,
				    .count = 4000 + (double)more,
				    .interval_ns = 4 * S };

	record.repeat = repeat;
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	for (uint32_t i = 0; i < 2; i++)
		ops[i] = declare(recorder, ZM_SOURCE_ENGINE, ZM_SERIES_TASK_OPS, "op", ZM_COUNT,
				 ZM_SCOPE_TASK, i);
	used = declare(recorder, "memused", "meminfo.Memused", "kB", ZM_GAUGE, ZM_SCOPE_HOST, 0);
	irqs = declare(recorder, "vmstat", "vmstat.in", "interrupts", ZM_COUNT, ZM_SCOPE_HOST, 0);
	for (uint64_t t = 0; t <= 5; t++) {
		zm_recorder_put_u64(recorder, ops[0], t * S, t * 400 + (t == 5 ? more : 0), 0);
		zm_recorder_put_u64(recorder, ops[1], t * S, t * 600, 0);
		zm_recorder_put_u64(recorder, used, t * S, 100 + t, 0);
		zm_recorder_put_u64(recorder, irqs, t * S, t * t, t == 3 ? ZM_FLAG_PARTIAL : 0);
	}
	assert_int_equal(zm_recorder_phase(recorder, ZM_PHASE_WARMUP, 0, S), 0);
	if (has_window) {
		assert_int_equal(zm_recorder_phase(recorder, ZM_PHASE_MEASURE, S, 5 * S), 0);
		assert_int_equal(zm_recorder_result(recorder, &result), 0);
		result.metric = "per op";
		result.unit = "ns";
		assert_int_equal(zm_recorder_result(recorder, &result), 0);
		result.metric = "vmstat.in";
		result.unit = "interrupts/s";
		assert_int_equal(zm_recorder_result(recorder, &result), 0);
	}
	assert_int_equal(zm_recorder_end(recorder, status, "why", NULL), 0);
}

static void figures_have_their_spread(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_digest *digest;

	launch(store, 0, 100, ZM_STATUS_OK, true);
	assert_int_equal(zm_digest_make(store, 1, NULL, &digest, NULL), 0);
	assert_true(digest->is_measured);
	assert_int_equal(digest->view->nr_results, 3);
	assert_int_equal(digest->figures[0].within.nr, 4);
	assert_near(digest->figures[0].within.min, 1000);
	assert_near(digest->figures[0].within.max, 1100);
	assert_near(digest->figures[0].within.mean, 1025);
	assert_int_equal(digest->figures[1].within.nr, 0); /* not a rate of the operations */
	assert_int_equal(digest->figures[2].within.nr, 4);
	assert_near(digest->figures[2].within.min, 3);
	assert_near(digest->figures[2].within.max, 9);
	assert_int_equal(digest->launches.nr, 1);
	assert_true(isnan(digest->launches.between));
	zm_digest_free(digest);
	zm_store_close(store);
}

static void metrics_are_of_the_window(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_digest *digest;
	const struct zm_digest_metric *ops, *used, *irqs;
	char unit[32];

	launch(store, 0, 0, ZM_STATUS_OK, true);
	assert_int_equal(zm_digest_make(store, 1, NULL, &digest, NULL), 0);
	ops = zm_digest_metric(digest, ZM_SERIES_TASK_OPS);
	used = zm_digest_metric(digest, "meminfo.Memused");
	irqs = zm_digest_metric(digest, "vmstat.in");
	assert_int_equal(ops->nr_scopes, 2);
	assert_near(ops->scopes[0].value, 400);
	assert_near(ops->scopes[1].count, 2400);
	assert_near(ops->total, 1000);
	assert_near(ops->over_scopes.min, 400);
	assert_string_equal(zm_digest_unit(unit, sizeof(unit), &ops->desc), "ops/s");
	assert_near(used->scopes[0].value, 103); /* of 101 … 105 */
	assert_int_equal(used->scopes[0].nr_readings, 5);
	assert_near(irqs->scopes[0].value, 6);
	assert_near(irqs->scopes[0].count, 24);
	assert_int_equal(irqs->scopes[0].flags, ZM_FLAG_PARTIAL);
	assert_int_equal(digest->rate_curve.nr, 10);
	assert_near(digest->rate_curve.y[0], 1000);
	assert_int_equal(digest->used_curve.nr, 6);
	assert_near(digest->used_curve.y[5], 105 * 1024);
	zm_digest_free(digest);
	zm_store_close(store);
}

static void patterns_narrow(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_digest *digest;

	launch(store, 0, 0, ZM_STATUS_OK, true);
	assert_int_equal(zm_digest_make(store, 1, "vm*", &digest, NULL), 0);
	assert_int_equal(digest->nr_metrics, 1);
	assert_int_equal(digest->rate_curve.nr, 10); /* the curves stay */
	zm_digest_free(digest);
	assert_int_equal(zm_digest_make(store, 2, NULL, &digest, NULL), -ENOENT);
	zm_store_close(store);
}

static void launches_of_a_cell_stand_together(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_digest *digest;

	launch(store, 0, 0, ZM_STATUS_OK, true);
	launch(store, 1, 400, ZM_STATUS_OK, true);
	launch(store, 2, 4000, ZM_STATUS_FAILED, true); /* counts for nothing */
	assert_int_equal(zm_digest_make(store, 1, NULL, &digest, NULL), 0);
	assert_int_equal(digest->figures[0].launches.nr, 2);
	assert_near(digest->figures[0].launches.min, 1000);
	assert_near(digest->figures[0].launches.max, 1100);
	assert_int_equal(digest->launches.nr, 2);
	assert_near(digest->launches.mean, 1050);
	assert_near(digest->launches.between, sqrt(2) * 50 / 1050);
	/* variances 0 and 40,000 with 3 degrees of freedom each */
	assert_near(digest->launches.within, sqrt(20000) / 1050);
	zm_digest_free(digest);
	zm_store_close(store);
}

static void a_run_without_a_window_is_shown_whole(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_digest *digest;

	launch(store, 0, 0, ZM_STATUS_FAILED, false);
	assert_int_equal(zm_digest_make(store, 1, NULL, &digest, NULL), 0);
	assert_false(digest->is_measured);
	assert_near(zm_digest_metric(digest, "vmstat.in")->scopes[0].count, 25);
	assert_int_equal(digest->view->nr_results, 0);
	assert_int_equal(digest->launches.nr, 0);
	zm_digest_free(digest);
	zm_store_close(store);
}

static void an_empty_run_is_shown(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;
	struct zm_digest *digest;

	record.status = ZM_STATUS_SKIPPED;
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_SKIPPED, "no", NULL), 0);
	assert_int_equal(zm_digest_make(store, 1, NULL, &digest, NULL), 0);
	assert_int_equal(digest->nr_metrics, 0);
	assert_int_equal(digest->rate_curve.nr, 0);
	zm_digest_free(digest);
	zm_store_close(store);
}

/* A task read at other moments is brought onto the first one's. */
static void tasks_read_apart_are_added(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_run_record record = fixture_record();
	struct zm_throughput throughput;
	struct zm_recorder *recorder;
	struct zm_interval intervals[8];
	uint32_t ops[2];

	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	for (uint32_t i = 0; i < 2; i++)
		ops[i] = declare(recorder, ZM_SOURCE_ENGINE, ZM_SERIES_TASK_OPS, "op", ZM_COUNT,
				 ZM_SCOPE_TASK, i);
	for (uint64_t t = 0; t <= 4; t++)
		zm_recorder_put_u64(recorder, ops[0], t * S, t * 100, 0);
	zm_recorder_put_u64(recorder, ops[1], S + S / 2, 0, 0);
	zm_recorder_put_u64(recorder, ops[1], 3 * S + S / 2, 200, 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	assert_int_equal(zm_throughput_read(store, 1, &throughput, NULL), 0);
	assert_int_equal(throughput.nr_tasks, 2);
	assert_string_equal(throughput.op, "op");
	assert_int_equal(zm_throughput_intervals(&throughput, 0, 4 * S, intervals), 4);
	assert_near(intervals[0].delta, 100);
	assert_near(intervals[1].delta, 150);
	assert_near(intervals[2].delta, 200);
	assert_near(intervals[3].delta, 150);
	zm_throughput_release(&throughput);
	zm_store_close(store);
}

/* What lies between a regular reading and a border is joined to its neighbour. */
static void short_intervals_are_joined(void **state)
{
	static const struct {
		uint64_t t_ns[7];
		size_t nr, nr_left;
		double deltas[6];
	} cases[] = {
		{ { 0, 100, 200, 300, 301 }, 5, 3, { 1, 1, 2 } },
		{ { 0, 1, 100, 200, 300 }, 5, 3, { 2, 1, 1 } },
		{ { 0, 100, 130, 200, 300 }, 5, 3, { 2, 1, 1 } },
		{ { 0, 100, 200, 300 }, 4, 3, { 1, 1, 1 } },
		{ { 0, 1 }, 2, 1, { 1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_interval intervals[6];

		for (size_t k = 0; k + 1 < cases[i].nr; k++)
			intervals[k] = (struct zm_interval){ .t0_ns = cases[i].t_ns[k],
							     .t1_ns = cases[i].t_ns[k + 1],
							     .delta = 1 };
		assert_int_equal(zm_interval_join_short(intervals, cases[i].nr - 1),
				 cases[i].nr_left);
		for (size_t k = 0; k < cases[i].nr_left; k++)
			assert_near(intervals[k].delta, cases[i].deltas[k]);
	}
	assert_int_equal(zm_interval_join_short(NULL, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(figures_have_their_spread),
		TEST(metrics_are_of_the_window),
		TEST(patterns_narrow),
		TEST(launches_of_a_cell_stand_together),
		TEST(a_run_without_a_window_is_shown_whole),
		TEST(an_empty_run_is_shown),
		TEST(tasks_read_apart_are_added),
		cmocka_unit_test(short_intervals_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
