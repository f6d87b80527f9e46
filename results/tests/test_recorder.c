/*
 * recorder: what is flushed is in the store, what is ended is whole, what fails is said.
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

#include "results/tests/server.h"

static struct zm_recorder *begin(struct zm_store *store)
{
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder = NULL;
	struct zm_why why = { "" };

	if (zm_recorder_begin(store, &record, &recorder, &why))
		fail_msg("%s", why.text);
	return recorder;
}

static uint32_t declare(struct zm_recorder *recorder, const char *metric, enum zm_kind kind)
{
	uint32_t series = 0;

	assert_int_equal(zm_recorder_series(recorder,
					    &(struct zm_series_desc){ .source = "meminfo",
								      .metric = metric,
								      .unit = "kB",
								      .kind = kind,
								      .scope = ZM_SCOPE_HOST },
					    &series),
			 0);
	return series;
}

static void a_run_becomes_rows(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_recorder *recorder = begin(store);
	uint32_t used = declare(recorder, "meminfo.Memused", ZM_GAUGE);
	uint32_t latency = declare(recorder, "latency", ZM_HIST);
	struct zm_hist *hist = calloc(1, sizeof(*hist));
	struct zm_result result = { .metric = "ops",
				    .unit = "ops/s",
				    .source = "page_fault1",
				    .is_primary = true,
				    .value = 1.5,
				    .count = 3 };

	assert_int_equal(zm_recorder_run_id(recorder), 1);
	for (uint64_t i = 0; i < 30; i++) {
		zm_recorder_put_u64(recorder, used, i * 1000, 100 + i, 0);
		hist->count = i;
		zm_recorder_put_hist(recorder, latency, i * 1000, hist, 0);
		if (i % 10 == 5)
			assert_int_equal(zm_recorder_flush(recorder, NULL), 0);
	}
	assert_int_equal(zm_recorder_phase(recorder, ZM_PHASE_MEASURE, 0, 29000), 0);
	assert_int_equal(zm_recorder_task(recorder, 0, 100, 1, 0), 0);
	assert_int_equal(zm_recorder_task(recorder, 0, 101, 1, 0), 0); /* the last word counts */
	assert_int_equal(zm_recorder_result(recorder, &result), 0);
	assert_int_equal(zm_recorder_result(recorder, &result), -EEXIST);
	assert_int_equal(zm_recorder_note(recorder, "skew", "a sentence"), 0);
	assert_int_equal(zm_recorder_absent(recorder, "perf-stat", "no PMU"), 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM chunk"), 3);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_RUNNING);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM chunk"), 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM series"), 2);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM timebase"), 1);
	assert_int_equal(fixture_count(store, "SELECT nr FROM timebase"), 30);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_OK);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM phase"), 1);
	assert_int_equal(fixture_count(store, "SELECT pid FROM task"), 101);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM result"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM note"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM absent"), 1);
	zm_store_close(store);
	free(hist);
}

static void figures_are_finite(void **state)
{
	static const double bad[] = { NAN, HUGE_VAL, -HUGE_VAL };
	struct zm_store *store = fixture_open(*state, true);
	struct zm_recorder *recorder = begin(store);
	struct zm_result result = { .metric = "m", .unit = "", .source = "s" };

	for (size_t i = 0; i < 3; i++) {
		result.value = bad[i];
		result.count = 0;
		assert_int_equal(zm_recorder_result(recorder, &result), -EINVAL);
		result.value = 0;
		result.count = bad[i];
		assert_int_equal(zm_recorder_result(recorder, &result), -EINVAL);
	}
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM result"), 0);
	zm_store_close(store);
}

/* Ten times as many readings as there is room for, without a flush asked for. */
static void a_full_memory_flushes_by_itself(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_recorder *recorder = begin(store);
	uint32_t used = declare(recorder, "meminfo.Memused", ZM_GAUGE);
	const uint64_t nr = 10 * ZM_RECORDER_PENDING + 3;

	for (uint64_t i = 0; i < nr; i++)
		zm_recorder_put_u64(recorder, used, i, i, 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM chunk"), 10);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	assert_int_equal(fixture_count(store, "SELECT nr FROM timebase"), nr);
	zm_store_close(store);
}

static void what_repeats_is_one_row(void **state)
{
	struct zm_store *store = fixture_open(*state, true);

	for (unsigned int i = 0; i < 3; i++) {
		struct zm_run_record record = fixture_record();
		struct zm_recorder *recorder;

		record.repeat = i;
		assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
		(void)declare(recorder, "meminfo.Memused", ZM_GAUGE);
		assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	}
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM run"), 3);
	assert_int_equal(fixture_count(store, "SELECT count(DISTINCT uuid) FROM run"), 3);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM invocation"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM machine"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM boot"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM inventory"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM cell"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM params"), 1);
	zm_store_close(store);
}

static void resume_finds_what_ended_well(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;
	char uuid[37] = "", short_buf[36];

	for (unsigned int i = 0; i < 2; i++) {
		record.repeat = i;
		assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
		assert_int_equal(zm_store_has_run(store, record.invocation, record.cell, i), 0);
		assert_int_equal(
			zm_recorder_end(recorder, i ? ZM_STATUS_FAILED : ZM_STATUS_OK, "x", NULL),
			0);
		assert_int_equal(zm_store_has_run(store, record.invocation, record.cell, i), !i);
	}
	assert_int_equal(zm_store_has_run(store, record.invocation, "{}", 0), 0);
	assert_int_equal(zm_store_last_invocation(store, record.command_line, uuid, sizeof(uuid)),
			 0);
	assert_string_equal(uuid, record.invocation);
	assert_int_equal(zm_store_last_invocation(store, "zonemark run null", uuid, sizeof(uuid)),
			 -ENOENT);
	assert_int_equal(
		zm_store_last_invocation(store, record.command_line, short_buf, sizeof(short_buf)),
		-ENOBUFS);
	record.invocation = "33333333-3333-4333-8333-333333333333";
	record.wall_ns += 1;
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	assert_int_equal(zm_store_last_invocation(store, record.command_line, uuid, sizeof(uuid)),
			 0);
	assert_string_equal(uuid, record.invocation);
	zm_store_close(store);
}

static void a_skipped_run_has_its_reason(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;

	record.status = ZM_STATUS_SKIPPED;
	record.reason = "no SCTP here";
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_SKIPPED, record.reason, NULL), 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM run WHERE status = 4 AND reason"
					      " = 'no SCTP here' AND owner_pid IS NULL"),
			 1);
	zm_store_close(store);
}

/* Somebody else has taken us for dead: nothing more may be added to what is closed. */
static void a_run_that_was_closed_takes_nothing_more(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_recorder *recorder = begin(store);
	uint32_t used = declare(recorder, "meminfo.Memused", ZM_GAUGE);
	struct zm_why why = { "" };

	zm_recorder_put_u64(recorder, used, 1, 1, 0);
	assert_int_equal(zm_recorder_flush(recorder, NULL), 0);
	assert_int_equal(
		zm_db_run(zm_store_db(store), NULL, "UPDATE run SET status = 3", ZM_BIND_NONE), 0);
	zm_recorder_put_u64(recorder, used, 2, 2, 0);
	assert_int_equal(zm_recorder_flush(recorder, &why), -ESTALE);
	assert_non_null(strstr(why.text, "closed"));
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), -ESTALE);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_INTERRUPTED);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM chunk"), 1);
	zm_store_close(store);
}

static void nothing_is_fine(void **state)
{
	(void)state;
	assert_int_equal(zm_recorder_end(NULL, ZM_STATUS_OK, NULL, NULL), 0);
	zm_store_close(NULL);
}

ON_SERVER(a_run_becomes_rows)
ON_SERVER(figures_are_finite)
ON_SERVER(a_full_memory_flushes_by_itself)
ON_SERVER(what_repeats_is_one_row)
ON_SERVER(resume_finds_what_ended_well)
ON_SERVER(a_skipped_run_has_its_reason)
ON_SERVER(a_run_that_was_closed_takes_nothing_more)

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_run_becomes_rows),
		TEST(figures_are_finite),
		TEST(a_full_memory_flushes_by_itself),
		TEST(what_repeats_is_one_row),
		TEST(resume_finds_what_ended_well),
		TEST(a_skipped_run_has_its_reason),
		TEST(a_run_that_was_closed_takes_nothing_more),
		cmocka_unit_test(nothing_is_fine),
		TEST_ON_SERVER(a_run_becomes_rows),
		TEST_ON_SERVER(figures_are_finite),
		TEST_ON_SERVER(a_full_memory_flushes_by_itself),
		TEST_ON_SERVER(what_repeats_is_one_row),
		TEST_ON_SERVER(resume_finds_what_ended_well),
		TEST_ON_SERVER(a_skipped_run_has_its_reason),
		TEST_ON_SERVER(a_run_that_was_closed_takes_nothing_more),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
