/*
 * query: what was recorded is read back, of a run that has ended and of one under way alike.
 *
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "results/query.h"
#include "results/series.h"
#include "results/tests/server.h"

static const struct run {
	const char *uuid, *invocation, *label, *workload, *kernel;
	enum zm_status status;
	uint64_t wall_s; /* after FIXTURE_WALL_NS */
} runs[] = {
	{ "aaaa1111-0000-4000-8000-000000000001", "i1", "base", "page_fault1", "6.18.0",
	  ZM_STATUS_OK, 10 },
	{ "aaaa2222-0000-4000-8000-000000000002", "i1", "base", "page_fault2", "6.18.0",
	  ZM_STATUS_FAILED, 20 },
	{ "bbbb0000-0000-4000-8000-000000000003", "i2", "new", "page_fault1", "6.19.0-rc1",
	  ZM_STATUS_OK, 40 },
	{ "1234abcd-0000-4000-8000-000000000004", "i3", NULL, "null", "6.19.0-rc1",
	  ZM_STATUS_SKIPPED, 30 },
	{ "cccc0000-0000-4000-8000-000000000005", "i4", "3", "null", "6.19.0-rc1", ZM_STATUS_OK,
	  5 },
};
#define NR_RUNS (sizeof(runs) / sizeof(runs[0]))

static struct zm_store *make_history(const struct fixture *fixture)
{
	struct zm_store *store = fixture_open(fixture, true);

	for (size_t i = 0; i < NR_RUNS; i++) {
		struct zm_run_record record = fixture_record();
		struct zm_recorder *recorder;

		record.uuid = runs[i].uuid;
		record.invocation = runs[i].invocation;
		record.label = runs[i].label;
		record.workload = runs[i].workload;
		record.kernel = runs[i].kernel;
		record.wall_ns = FIXTURE_WALL_NS + runs[i].wall_s * 1000000000;
		assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
		assert_int_equal(zm_recorder_end(recorder, runs[i].status, "why not", NULL), 0);
	}
	return store;
}

static int note_id(void *context, const struct zm_run_info *run)
{
	char *ids = context;
	size_t length = strlen(ids);

	(void)snprintf(ids + length, 16 - length, "%llu", (unsigned long long)run->id);
	return 0;
}

static void filters_choose(void **state)
{
	static const struct {
		struct zm_run_filter filter;
		const char *ids;
	} cases[] = {
		{ { .status = -1 }, "34215" },
		{ { .status = -1, .limit = 2 }, "34" },
		{ { .status = ZM_STATUS_OK }, "315" },
		{ { .status = ZM_STATUS_OK, .limit = 2 }, "31" },
		{ { .status = -1, .workload = "page_fault*" }, "321" },
		{ { .status = -1, .workload = "page_fault" }, "" },
		{ { .status = -1, .label = "base" }, "21" },
		{ { .status = -1, .label = "*" }, "3215" },
		{ { .status = -1, .kernel = "6.19*" }, "345" },
		{ { .status = -1, .invocation = "i1" }, "21" },
		{ { .status = -1, .invocation = "i9" }, "" },
		{ { .status = -1, .cell = "{\"nr_task\":\"2\"}", .limit = 1 }, "3" },
		{ { .status = -1, .since_ns = FIXTURE_WALL_NS + 20000000000 }, "342" },
	};
	struct zm_store *store = make_history(*state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char ids[16] = "";

		assert_int_equal(zm_query_runs(store, &cases[i].filter, note_id, ids, NULL), 0);
		assert_string_equal(ids, cases[i].ids);
	}
	zm_store_close(store);
}

static void words_find_runs(void **state)
{
	static const struct {
		const char *word;
		int error;
		uint64_t run;
	} cases[] = {
		{ "1", 0, 1 },
		{ "last", 0, 3 },
		{ "base", 0, 2 },
		{ "new", 0, 3 },
		{ "bbbb", 0, 3 },
		{ "1234", 0, 4 },
		{ "aaaa2", 0, 2 },
		{ "3", 0, 3 },
		{ "aaaa", -EEXIST, 0 },
		{ "9", -ENOENT, 0 },
		{ "bbb", -ENOENT, 0 },
		{ "", -ENOENT, 0 },
		{ "old", -ENOENT, 0 },
		{ "+1", -ENOENT, 0 },
		{ "cccc0000-0000-4000-8000-000000000005", 0, 5 },
		{ "cccc0000-0000-4000-8000-0000000000056", -ENOENT, 0 },
	};
	struct zm_store *store = make_history(*state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_why why = { "" };
		uint64_t run = 0;
		int error = zm_query_find(store, cases[i].word, &run, &why);

		if (error != cases[i].error || run != cases[i].run)
			fail_msg("%s: %d, run %d: %s", cases[i].word, error, (int)run, why.text);
		assert_int_equal(why.text[0] != '\0', error != 0);
	}
	zm_store_close(store);
}

static void record_all(struct zm_recorder *recorder)
{
	struct zm_result result = { .metric = "page_fault1.ops",
				    .unit = "pages/s",
				    .source = "page_fault1",
				    .better = ZM_BETTER_MORE,
				    .value = 300.25,
				    .count = 3002.5,
				    .interval_ns = 10000000000 };

	assert_int_equal(zm_recorder_phase(recorder, ZM_PHASE_IDLE, 100, 200), 0);
	assert_int_equal(zm_recorder_phase(recorder, ZM_PHASE_MEASURE, 200, 300), 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(zm_recorder_task(recorder, (unsigned int)i, 1000 + i, i % 2, -1),
				 0);
	assert_int_equal(zm_recorder_result(recorder, &result), 0);
	result.metric = "ops";
	result.is_primary = true;
	assert_int_equal(zm_recorder_result(recorder, &result), 0);
	assert_int_equal(zm_recorder_note(recorder, "disturbed", "by \"others\""), 0);
	assert_int_equal(zm_recorder_note(recorder, "skew", "late"), 0);
	assert_int_equal(zm_recorder_absent(recorder, "perf-stat", "no PMU"), 0);
}

static void check_all(struct zm_store *store)
{
	struct zm_run_view *view;
	struct zm_pool pool = { 0 };
	struct zm_result primary;

	assert_int_equal(zm_query_run(store, 1, &view, NULL), 0);
	assert_string_equal(view->info.workload, "page_fault1");
	assert_string_equal(view->info.machine, "0123456789abcdef");
	assert_true(view->info.wall_ns == FIXTURE_WALL_NS);
	assert_true(view->info.start_ns == 1000000000);
	assert_string_equal(view->inventory, fixture_record().inventory);
	assert_int_equal(view->nr_phases, 2);
	assert_true(zm_run_view_phase(view, ZM_PHASE_MEASURE)->t1_ns == 300);
	assert_null(zm_run_view_phase(view, ZM_PHASE_DRAIN));
	assert_int_equal(view->nr_tasks, 40);
	assert_int_equal(view->tasks[39].pid, 1039);
	assert_int_equal(view->tasks[39].node, -1);
	assert_int_equal(view->nr_results, 2);
	assert_true(zm_run_view_result(view, "ops")->value == 300.25);
	assert_int_equal(zm_run_view_result(view, "ops")->better, ZM_BETTER_MORE);
	assert_null(zm_run_view_result(view, "nothing"));
	assert_int_equal(view->nr_notes, 2);
	assert_string_equal(view->notes[0].text, "by \"others\"");
	assert_int_equal(view->nr_absents, 1);
	assert_string_equal(view->absents[0].kind, "perf-stat");
	zm_run_view_free(view);
	assert_int_equal(zm_query_primary(store, 1, &pool, &primary, NULL), 0);
	assert_string_equal(primary.metric, "ops");
	zm_pool_release(&pool);
	assert_int_equal(zm_query_run(store, 2, &view, NULL), -ENOENT);
}

static void a_run_comes_back(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;

	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	record_all(recorder);
	assert_int_equal(zm_recorder_flush(recorder, NULL), 0);
	check_all(store);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	check_all(store);
	zm_store_close(store);
}

struct seen {
	size_t nr;
	char names[256];
};

static int see(void *context, const struct zm_series *series)
{
	struct seen *seen = context;
	size_t length = strlen(seen->names);
	struct zm_hist *hist;

	seen->nr++;
	(void)snprintf(seen->names + length, sizeof(seen->names) - length, "%s/%u ",
		       series->desc.metric, series->desc.scope_id);
	assert_int_equal(series->nr, 12);
	for (size_t i = 0; i < series->nr; i++) {
		assert_true(series->t_ns[i] == 10 * i);
		switch (series->desc.kind) {
		case ZM_COUNT:
			assert_true(series->readings->values[i] == UINT64_MAX - 100 + i);
			break;
		case ZM_GAUGE:
			assert_true(zm_readings_f64(series->readings, i) == 0.5 * (double)i);
			break;
		case ZM_HIST:
			hist = calloc(1, sizeof(*hist));
			assert_int_equal(zm_readings_hist(series->readings, i, hist), 0);
			assert_int_equal(hist->count, i);
			free(hist);
			break;
		}
		assert_int_equal(series->readings->flags ? series->readings->flags[i] : 0,
				 series->desc.kind == ZM_GAUGE && i == 5 ? ZM_FLAG_LATE : 0);
	}
	return 0;
}

static void put_series(struct zm_recorder *recorder)
{
	const struct zm_series_desc descs[] = {
		{ .source = "vmstat",
		  .metric = "a.count",
		  .unit = "",
		  .kind = ZM_COUNT,
		  .scope = ZM_SCOPE_CPU,
		  .scope_id = 1 },
		{ .source = "meminfo",
		  .metric = "a.gauge",
		  .unit = "kB",
		  .kind = ZM_GAUGE,
		  .is_float = true },
		{ .source = "null",
		  .metric = "b.hist",
		  .unit = "ns",
		  .kind = ZM_HIST,
		  .scope = ZM_SCOPE_TASK,
		  .scope_id = 7 },
	};
	struct zm_hist *hist = calloc(1, sizeof(*hist));
	uint32_t numbers[3];

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(zm_recorder_series(recorder, &descs[i], &numbers[i]), 0);
	for (uint64_t i = 0; i < 12; i++) {
		zm_recorder_put_u64(recorder, numbers[0], 10 * i, UINT64_MAX - 100 + i, 0);
		zm_recorder_put_f64(recorder, numbers[1], 10 * i, 0.5 * (double)i,
				    i == 5 ? ZM_FLAG_LATE : 0);
		hist->count = i;
		zm_recorder_put_hist(recorder, numbers[2], 10 * i, hist, 0);
		if (i == 4)
			assert_int_equal(zm_recorder_flush(recorder, NULL), 0);
	}
	free(hist);
	assert_int_equal(zm_recorder_flush(recorder, NULL), 0);
}

static void check_series(struct zm_store *store)
{
	static const struct {
		struct zm_series_filter filter;
		const char *names;
	} cases[] = {
		{ { .scope = -1 }, "a.count/1 a.gauge/0 b.hist/7 " },
		{ { .scope = -1, .metric = "a.*" }, "a.count/1 a.gauge/0 " },
		{ { .scope = ZM_SCOPE_TASK }, "b.hist/7 " },
		{ { .scope = -1, .source = "meminfo" }, "a.gauge/0 " },
		{ { .scope = -1, .source = "mem" }, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen seen = { 0 };
		size_t nr_damaged = 1;

		assert_int_equal(
			zm_series_read(store, 1, &cases[i].filter, see, &seen, &nr_damaged, NULL),
			0);
		assert_string_equal(seen.names, cases[i].names);
		assert_int_equal(nr_damaged, 0);
	}
}

static void series_come_back(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;

	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	put_series(recorder);
	check_series(store); /* under way */
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	check_series(store);
	zm_store_close(store);
}

/* Whatever one column holds, the run is shown without the series that it spoils. */
static void a_damaged_series_is_left_out(void **state)
{
	static const char *const damages[] = {
		"UPDATE series SET data = x'' WHERE id = 1",
		"UPDATE series SET data = x'00' WHERE id = 1",
		"UPDATE series SET data = x'0128b52ffd' WHERE id = 1",
		"UPDATE series SET data = x'00000005' WHERE id = 1",
		"UPDATE series SET scope = 99 WHERE id = 1",
		"UPDATE series SET timebase = 77 WHERE id = 1",
		"UPDATE metric SET kind = -1 WHERE id = 1",
		"UPDATE timebase SET nr = -1",
		"UPDATE timebase SET nr = 4611686018427387904",
		"UPDATE timebase SET nr = 13",
		"UPDATE timebase SET data = x'01'",
	};

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		const struct fixture *fixture = *state;
		const struct zm_series_filter all = { .scope = -1 };
		struct zm_store *store = fixture_open(fixture, true);
		struct zm_run_record record = fixture_record();
		struct zm_recorder *recorder;
		struct seen seen = { 0 };
		size_t nr_damaged = 0;

		assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
		put_series(recorder);
		assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
		assert_int_equal(zm_db_script(zm_store_db(store), NULL, "PRAGMA foreign_keys = 0"),
				 0);
		assert_int_equal(zm_db_script(zm_store_db(store), NULL, damages[i]), 0);
		assert_int_equal(zm_series_read(store, 1, &all, see, &seen, &nr_damaged, NULL), 0);
		assert_true(nr_damaged >= 1);
		assert_int_equal(seen.nr + nr_damaged, 3);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

static struct zm_series as_series(struct zm_readings *readings, const uint64_t *t_ns,
				  const uint64_t *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(zm_readings_add(readings, values[i], 0), 0);
	return (struct zm_series){ .nr = nr, .t_ns = t_ns, .readings = readings };
}

static void intervals_are_differences(void **state)
{
	/* a reset between 30 and 40; two readings at 60; values that a double cannot hold */
	const uint64_t t_ns[] = { 10, 20, 30, 40, 50, 60, 60, 70 };
	const uint64_t values[] = {
		0, 5, 11, 2, (1ull << 60) + 1, (1ull << 60) + 2, 1ull << 61, 1ull << 61
	};
	struct zm_readings readings = { .form = ZM_FORM_U64 };
	struct zm_series series = as_series(&readings, t_ns, values, 8);
	struct zm_interval intervals[8];
	uint64_t covered_ns = 1;

	(void)state;
	assert_int_equal(zm_series_intervals(&series, 0, 100, intervals), 5);
	assert_true(intervals[0].delta == 5 && intervals[1].delta == 6);
	assert_true(intervals[2].t0_ns == 40 && intervals[3].delta == 1);
	assert_true(intervals[4].delta == 0 && intervals[4].t0_ns == 60);
	assert_true(zm_interval_rate(&intervals[1]) == 6e8);
	assert_int_equal(zm_series_intervals(&series, 11, 39, intervals), 1);
	assert_int_equal(zm_series_intervals(&series, 61, 99, intervals), 0);
	assert_true(zm_series_total(&series, 10, 30, &covered_ns) == 11);
	assert_int_equal(covered_ns, 20);
	assert_true(zm_series_total(&series, 30, 40, &covered_ns) == 0);
	assert_int_equal(covered_ns, 0);
	zm_readings_release(&readings);
}

static void means_are_weighted_by_time(void **state)
{
	const uint64_t t_ns[] = { 0, 10, 20, 100 };
	const uint64_t values[] = { 10, 10, 30, 30 };
	struct zm_readings readings = { .form = ZM_FORM_U64 };
	struct zm_series series = as_series(&readings, t_ns, values, 4);

	(void)state;
	assert_true(zm_series_mean(&series, 0, 100) == (100.0 + 200 + 2400) / 100);
	assert_true(zm_series_mean(&series, 10, 20) == 20);
	assert_true(zm_series_mean(&series, 5, 15) == 10);
	assert_true(isnan(zm_series_mean(&series, 30, 90)));
	zm_readings_release(&readings);
}

ON_SERVER(filters_choose)
ON_SERVER(words_find_runs)
ON_SERVER(a_run_comes_back)
ON_SERVER(series_come_back)

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(filters_choose),
		TEST(words_find_runs),
		TEST(a_run_comes_back),
		TEST(series_come_back),
		TEST(a_damaged_series_is_left_out),
		cmocka_unit_test(intervals_are_differences),
		cmocka_unit_test(means_are_weighted_by_time),
		TEST_ON_SERVER(filters_choose),
		TEST_ON_SERVER(words_find_runs),
		TEST_ON_SERVER(a_run_comes_back),
		TEST_ON_SERVER(series_come_back),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
