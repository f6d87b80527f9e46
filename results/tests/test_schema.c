/*
 * schema: versions go up whole or not at all; what is not ours is left as it is.
 *
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "results/schema.h"
#include "results/tests/server.h"

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

static struct zm_db_mark mark_of(struct zm_db *db)
{
	struct zm_db_mark mark = { .version = -1 };

	assert_int_equal(zm_db_read_mark(db, &mark, NULL), 0);
	return mark;
}

/* How many tables are there, but for the one that a server's mark is. */
static int64_t nr_tables(struct zm_db *db)
{
	struct zm_db_mark mark = mark_of(db);

	return mark.nr_tables - (zm_db_is_shared(db) && mark.application);
}

/* Closes it, too. */
static void start_anew(const struct fixture *fixture, struct zm_db *db)
{
	bool is_file = !zm_db_is_shared(db);

	if (!is_file)
		assert_int_equal(zm_db_script(db, NULL, "DROP TABLE a, b, zonemark_store"), 0);
	zm_db_close(db);
	if (is_file)
		assert_int_equal(unlink(fixture->path), 0);
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
		assert_int_equal(mark_of(db).version, 3);
		assert_int_equal(zm_schema_apply(db, steps, 3, &why), 0);
		assert_int_equal(number(db, "SELECT count(*) FROM b"), 1);
		start_anew(fixture, db);
	}
}

static void a_step_that_fails_changes_nothing(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_schema_apply(db, steps, 2, &why), 0);
	assert_int_equal(zm_schema_apply(db, steps, 4, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "nowhere"));
	assert_int_equal(mark_of(db).version, 2);
	assert_int_equal(nr_tables(db), 1);
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
	assert_int_equal(mark_of(db).version, 3);
	zm_db_close(db);
}

static void somebody_elses_database_stays(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_db_script(db, &why, "CREATE TABLE recipe (cake TEXT)"), 0);
	assert_int_equal(zm_schema_apply(db, steps, 3, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "not a zonemark store"));
	assert_int_equal(nr_tables(db), 1);
	assert_int_equal(mark_of(db).application, 0);
	zm_db_close(db);
}

static void the_real_migrations_apply(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_schema_apply(db, zm_migrations, zm_nr_migrations, &why), 0);
	assert_int_equal(mark_of(db).application, ZM_SCHEMA_APPLICATION);
	assert_int_equal(mark_of(db).version, zm_nr_migrations);
	assert_true(nr_tables(db) >= 17);
	zm_db_close(db);
}

/* A store that lacks only what this version brought keeps all that it has. */
static void the_last_migration_keeps_what_there_is(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	assert_int_equal(zm_schema_apply(db, zm_migrations, 2, &why), 0);
	assert_int_equal(zm_db_script(db, &why, "INSERT INTO machine (key) VALUES ('m')"), 0);
	assert_int_equal(zm_schema_check(db, zm_nr_migrations, &why), -ESTALE);
	assert_int_equal(zm_schema_apply(db, zm_migrations, zm_nr_migrations, &why), 0);
	assert_int_equal(number(db, "SELECT count(*) FROM machine WHERE key = 'm'"), 1);
	assert_int_equal(number(db, "SELECT count(*) FROM noise"), 0);
	zm_db_close(db);
}

ON_SERVER(every_step_leads_to_the_last)
ON_SERVER(a_step_that_fails_changes_nothing)
ON_SERVER(a_newer_store_is_refused)
ON_SERVER(somebody_elses_database_stays)
ON_SERVER(the_real_migrations_apply)

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_step_leads_to_the_last),
		TEST(a_step_that_fails_changes_nothing),
		TEST(a_newer_store_is_refused),
		TEST(somebody_elses_database_stays),
		TEST(the_real_migrations_apply),
		TEST_ON_SERVER(every_step_leads_to_the_last),
		TEST_ON_SERVER(a_step_that_fails_changes_nothing),
		TEST_ON_SERVER(a_newer_store_is_refused),
		TEST_ON_SERVER(somebody_elses_database_stays),
		TEST_ON_SERVER(the_real_migrations_apply),
		TEST(the_last_migration_keeps_what_there_is),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
