/* schema: versions go up whole or not at all; what is not ours is left as it is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "results/schema.h"
#include "results/tests/fixture.h"

static const struct zm_migration steps[] = {
	{ .sql = "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)" },
	{ .sql = "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1" },
	{ .sql = "CREATE TABLE b (z INTEGER); INSERT INTO b SELECT x + y FROM a" },
	{ .sql = "CREATE TABLE c (z INTEGER); INSERT INTO nowhere VALUES (1)" },
};

static struct zm_db *open_db(const struct fixture *fixture)
{
	struct zm_why why = { "" };
	struct zm_db *db = NULL;

	if (zm_db_open(fixture->path, ZM_DB_WRITE, &db, &why))
		fail_msg("%s", why.text);
	return db;
}

static int64_t number(struct zm_db *db, const char *sql)
{
	int64_t value = -1;

	assert_int_equal(zm_db_int(db, NULL, sql, ZM_BIND_NONE, &value), 0);
	return value;
}

/* From every version to every later one. */
static void every_step_leads_to_the_last(void **state)
{
	const struct fixture *fixture = *state;

	for (size_t from = 0; from <= 3; from++) {
		struct zm_db *db = open_db(fixture);
		struct zm_why why = { "" };

		if (from) {
			assert_int_equal(zm_schema_apply(db, steps, from, &why), 0);
			assert_int_equal(zm_schema_check(db, from, &why), 0);
			assert_int_equal(zm_schema_check(db, 3, &why), from < 3 ? -ESTALE : 0);
		} else {
			assert_int_equal(zm_schema_check(db, 3, &why), -ENODATA);
		}
		assert_int_equal(zm_schema_apply(db, steps, 3, &why), 0);
		assert_int_equal(zm_schema_check(db, 3, &why), 0);
		assert_int_equal(number(db, "SELECT z FROM b"), 3);
		assert_int_equal(number(db, "PRAGMA user_version"), 3);
		assert_int_equal(zm_schema_apply(db, steps, 3, &why), 0);
		assert_int_equal(number(db, "SELECT count(*) FROM b"), 1);
		zm_db_close(db);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

static void a_step_that_fails_changes_nothing(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_schema_apply(db, steps, 2, &why), 0);
	assert_int_equal(zm_schema_apply(db, steps, 4, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "nowhere"));
	assert_int_equal(number(db, "PRAGMA user_version"), 2);
	assert_int_equal(number(db, "SELECT count(*) FROM sqlite_schema"), 1);
	assert_int_equal(number(db, "SELECT y FROM a"), 2);
	zm_db_close(db);
}

static void a_newer_store_is_refused(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_schema_apply(db, steps, 3, &why), 0);
	assert_int_equal(zm_schema_check(db, 2, &why), -EPROTO);
	assert_non_null(strstr(why.text, "newer zonemark"));
	assert_int_equal(zm_schema_apply(db, steps, 2, &why), -EPROTO);
	assert_int_equal(number(db, "PRAGMA user_version"), 3);
	zm_db_close(db);
}

static void somebody_elses_database_stays(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_db_script(db, &why, "CREATE TABLE recipe (cake TEXT)"), 0);
	assert_int_equal(zm_schema_apply(db, steps, 3, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "not a zonemark store"));
	assert_int_equal(number(db, "SELECT count(*) FROM sqlite_schema"), 1);
	assert_int_equal(number(db, "PRAGMA application_id"), 0);
	zm_db_close(db);
}

static void the_real_migrations_apply(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_schema_apply(db, zm_migrations, zm_nr_migrations, &why), 0);
	assert_int_equal(number(db, "PRAGMA application_id"), ZM_SCHEMA_APPLICATION);
	assert_int_equal(number(db, "PRAGMA user_version"), zm_nr_migrations);
	assert_true(number(db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'") >= 17);
	zm_db_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_step_leads_to_the_last), TEST(a_step_that_fails_changes_nothing),
		TEST(a_newer_store_is_refused),     TEST(somebody_elses_database_stays),
		TEST(the_real_migrations_apply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
