/*
 * import: a run arrives whole or not at all, once, and as it was.
 *
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include "results/import.h"
#include "results/series.h"
#include "results/tests/server.h"

static struct zm_store *open_other(const struct fixture *fixture, bool for_writing)
{
	struct fixture other = *fixture;

	(void)snprintf(other.path, sizeof(other.path), "%s/other.db", fixture->folder);
	return fixture_open(&other, for_writing);
}

/* Begins a run with one series of three readings, flushed. */
static struct zm_recorder *begin(struct zm_store *store, const char *uuid)
{
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;
	uint32_t series;

	record.uuid = uuid;
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	assert_int_equal(zm_recorder_series(recorder,
					    &(struct zm_series_desc){
						    .source = "s", .metric = "m", .unit = "kB" },
					    &series),
			 0);
	for (uint64_t i = 0; i < 3; i++)
		zm_recorder_put_u64(recorder, series, i * 10, 100 + i, 0);
	assert_int_equal(zm_recorder_phase(recorder, ZM_PHASE_IDLE, 0, 20), 0);
	assert_int_equal(zm_recorder_note(recorder, "skew", "a note"), 0);
	assert_int_equal(zm_recorder_flush(recorder, NULL), 0);
	return recorder;
}

static void end(struct zm_recorder *recorder)
{
	struct zm_result result = { .metric = "ops", .unit = "ops/s", .source = "s", .value = 1.5 };

	assert_int_equal(zm_recorder_result(recorder, &result), 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
}

static int check_series(void *context, const struct zm_series *series)
{
	size_t *nr = context;

	++*nr;
	assert_string_equal(series->desc.metric, "m");
	assert_int_equal(series->nr, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_true(series->t_ns[i] == i * 10 && series->readings->values[i] == 100 + i);
	return 0;
}

static void check_run(struct zm_store *store, uint64_t run)
{
	const struct zm_series_filter all = { .scope = -1 };
	size_t nr = 0;

	assert_int_equal(zm_series_read(store, run, &all, check_series, &nr, NULL, NULL), 0);
	assert_int_equal(nr, 1);
}

static struct zm_import import(const struct fixture *fixture, struct zm_store *into)
{
	struct zm_store *from = open_other(fixture, false);
	struct zm_import counts;
	struct zm_why why = { "" };

	if (zm_import_store(into, from, &counts, &why))
		fail_msg("%s", why.text);
	zm_store_close(from);
	return counts;
}

static void twice_is_once(void **state)
{
	struct zm_store *other = open_other(*state, true), *store = fixture_open(*state, true);
	struct zm_import counts;

	for (unsigned int i = 0; i < 120; i++) /* more than one transaction's */
		end(begin(other, NULL));
	end(begin(store, NULL));
	counts = import(*state, store);
	assert_int_equal(counts.nr_new, 120);
	counts = import(*state, store);
	assert_int_equal(counts.nr_new, 0);
	assert_int_equal(counts.nr_there, 120);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM run"), 121);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM result"), 121);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM note"), 121);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM series"), 121);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM metric"), 2);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM invocation"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM run WHERE owner_pid NOTNULL"),
			 0);
	check_run(store, 121);
	zm_store_close(other);
	zm_store_close(store);
}

static void what_is_under_way_comes_later(void **state)
{
	struct zm_store *other = open_other(*state, true), *store = fixture_open(*state, true);
	struct zm_recorder *recorder = begin(other, NULL);
	struct zm_import counts = import(*state, store);

	assert_int_equal(counts.nr_under_way, 1);
	assert_int_equal(counts.nr_new, 0);
	end(recorder);
	counts = import(*state, store);
	assert_int_equal(counts.nr_new, 1);
	check_run(store, 1);
	zm_store_close(other);
	zm_store_close(store);
}

/* A killed run is put together on its way; the whole one, when it comes, takes its place. */
static void a_better_end_replaces_a_worse(void **state)
{
	static const char uuid[] = "aaaaaaaa-0000-4000-8000-000000000001";
	struct zm_store *store = fixture_open(*state, true), *other;
	struct zm_import counts;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)begin(open_other(*state, true), uuid);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	counts = import(*state, store);
	assert_int_equal(counts.nr_new, 1);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_INTERRUPTED);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM chunk"), 0);
	check_run(store, 1);
	other = open_other(*state, true);
	assert_int_equal(zm_db_run(zm_store_db(other), NULL, "DELETE FROM run", ZM_BIND_NONE), 0);
	end(begin(other, uuid));
	counts = import(*state, store);
	assert_int_equal(counts.nr_replaced, 1);
	assert_int_equal(counts.nr_new, 0);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_OK);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM series"), 1);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM timebase"), 1);
	counts = import(*state, store);
	assert_int_equal(counts.nr_there, 1);
	zm_store_close(other);
	zm_store_close(store);
}

/* What a store from elsewhere holds does no harm here. */
static void a_damaged_store_harms_nothing(void **state)
{
	static const char *const damages[] = {
		"UPDATE series SET timebase = 99",
		"UPDATE series SET data = x'01'",
		"UPDATE timebase SET nr = 1099511627776",
		"UPDATE metric SET kind = 77",
		"UPDATE run SET status = 99",
		"UPDATE phase SET phase = 1000",
	};
	struct zm_store *store = fixture_open(*state, true);

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct zm_store *other = open_other(*state, true);

		end(begin(other, NULL));
		assert_int_equal(zm_db_script(zm_store_db(other), NULL, "PRAGMA foreign_keys = 0"),
				 0);
		assert_int_equal(zm_db_script(zm_store_db(other), NULL, damages[i]), 0);
		zm_store_close(other);
		(void)import(*state, store);
		assert_int_equal(
			fixture_count(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	}
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM run"),
			 sizeof(damages) / sizeof(damages[0]));
	zm_store_close(store);
}

ON_SERVER(twice_is_once)
ON_SERVER(what_is_under_way_comes_later)
ON_SERVER(a_better_end_replaces_a_worse)

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(twice_is_once),
		TEST(what_is_under_way_comes_later),
		TEST(a_better_end_replaces_a_worse),
		TEST(a_damaged_store_harms_nothing),
		TEST_ON_SERVER(twice_is_once),
		TEST_ON_SERVER(what_is_under_way_comes_later),
		TEST_ON_SERVER(a_better_end_replaces_a_worse),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
