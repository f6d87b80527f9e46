/*
 * db_postgres: a server's store is as a file's; what is different about it is in its errors.
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

static struct zm_db *open_db(const struct fixture *fixture)
{
	struct zm_why why = { "" };
	struct zm_db *db = NULL;

	if (zm_db_open(fixture->path, ZM_DB_WRITE, &db, &why))
		fail_msg("%s", why.text);
	return db;
}

static void must(int error, const struct zm_why *why)
{
	if (error)
		fail_msg("%d: %s", error, why->text);
}

/* Whatever goes in comes out. */
static void values_come_back(void **state)
{
	static const char bytes[] = "\0\1\xff'\\\"$1\n";
	struct zm_db *db = open_db(*state);
	struct zm_rows rows = { 0 };
	struct zm_why why = { "" };
	const void *blob;
	size_t size;
	int error = 0;

	must(zm_db_script(db, &why,
			  "CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT,"
			  " b BLOB) STRICT"),
	     &why);
	must(zm_db_run(db, &why, "INSERT INTO t (i, r, s, b) VALUES (?1, ?2, ?3, ?4)",
		       ZM_BIND(zm_int(INT64_MIN), zm_real(0x1.fffffffffffffp-1022),
			       zm_text("it's a \"text\"\xff; DROP TABLE t; -- \\ \xe2\x82\xac"),
			       zm_blob(bytes, sizeof(bytes)), zm_int(5))),
	     &why);
	must(zm_db_run(db, &why, "INSERT INTO t (i, r, s, b) VALUES (?1, ?2, ?3, ?4)",
		       ZM_BIND(zm_null(), zm_real(-INFINITY), zm_text(NULL), zm_blob(NULL, 0))),
	     &why);
	must(zm_db_query(db, &why, &rows, "SELECT i, r, s, b FROM t ORDER BY id", ZM_BIND_NONE),
	     &why);
	assert_true(zm_rows_next(&rows, &why, &error));
	assert_true(zm_rows_int(&rows, 0) == INT64_MIN);
	assert_true(zm_rows_real(&rows, 1) == 0x1.fffffffffffffp-1022);
	assert_string_equal(zm_rows_text(&rows, 2),
			    "it's a \"text\"\xef\xbf\xbd; DROP TABLE t; -- \\"
			    " \xe2\x82\xac");
	blob = zm_rows_blob(&rows, 3, &size);
	assert_int_equal(size, sizeof(bytes));
	assert_memory_equal(blob, bytes, size);
	assert_true(zm_rows_next(&rows, &why, &error));
	assert_true(zm_rows_is_null(&rows, 0));
	assert_int_equal(zm_rows_int(&rows, 0), 0);
	assert_true(zm_rows_real(&rows, 1) == -INFINITY);
	assert_null(zm_rows_text(&rows, 2));
	(void)zm_rows_blob(&rows, 3, &size);
	assert_int_equal(size, 0);
	assert_false(zm_rows_next(&rows, &why, &error));
	assert_int_equal(error, 0);
	zm_rows_end(&rows);
	zm_db_close(db);
}
ON_SERVER(values_come_back)

static int64_t number(struct zm_db *db, const char *sql)
{
	int64_t value = -1;

	assert_int_equal(zm_db_int(db, NULL, sql, ZM_BIND_NONE, &value), 0);
	return value;
}

/* What is sent is there after the commit, in the order in which it was sent, and not before. */
static void what_is_sent_arrives(void **state)
{
	struct zm_db *db = open_db(*state), *other = open_db(*state);
	struct zm_why why = { "" };

	must(zm_db_script(db, &why, "CREATE TABLE t (x INTEGER, CHECK (x <> 2000))"), &why);
	must(zm_db_begin(db, &why), &why);
	for (int64_t i = 0; i < 1500; i++)
		must(zm_db_send(db, &why, "INSERT INTO t VALUES (?1)", ZM_BIND(zm_int(i))), &why);
	assert_int_equal(number(db, "SELECT count(*) FROM t"), 1500);
	assert_int_equal(number(other, "SELECT count(*) FROM t"), 0);
	must(zm_db_commit(db, &why), &why);
	assert_int_equal(number(other, "SELECT sum(x) FROM t"), 1500 * 1499 / 2);

	/* One that fails is told at the latest by the commit, and nothing of the rest is there. */
	must(zm_db_begin(db, &why), &why);
	for (int64_t i = 1995; i < 2005; i++)
		(void)zm_db_send(db, &why, "INSERT INTO t VALUES (?1)", ZM_BIND(zm_int(i)));
	assert_int_equal(zm_db_commit(db, &why), -EIO);
	assert_non_null(strstr(why.text, "check constraint"));
	assert_null(strstr(why.text, "\n"));
	assert_int_equal(number(other, "SELECT count(*) FROM t"), 1500);
	must(zm_db_run(db, &why, "INSERT INTO t VALUES (?1)", ZM_BIND(zm_int(1))), &why);
	zm_db_close(db);
	zm_db_close(other);
}
ON_SERVER(what_is_sent_arrives)

/* More rows than a piece has, with other questions between them. */
static void a_long_answer_comes_in_pieces(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_rows rows = { 0 };
	struct zm_why why = { "" };
	int error = 0;

	must(zm_db_script(db, &why, "CREATE TABLE t (x INTEGER)"), &why);
	for (int64_t nr = 999; nr <= 2001; nr += 501) {
		int64_t i = 0;

		must(zm_db_run(db, &why, "INSERT INTO t SELECT generate_series(1, ?1)",
			       ZM_BIND(zm_int(nr))),
		     &why);
		must(zm_db_begin_read(db, &why), &why);
		must(zm_db_walk(db, &why, &rows, "SELECT x FROM t WHERE x > ?1 ORDER BY x",
				ZM_BIND(zm_int(0))),
		     &why);
		while (zm_rows_next(&rows, &why, &error)) {
			assert_int_equal(zm_rows_int(&rows, 0), ++i);
			if (i % 700 == 0)
				assert_int_equal(number(db, "SELECT count(*) FROM t"), nr);
		}
		assert_int_equal(error, 0);
		assert_int_equal(i, nr);
		zm_rows_end(&rows);
		zm_db_end_read(db);
		must(zm_db_script(db, &why, "TRUNCATE t"), &why);
	}
	zm_db_close(db);
}
ON_SERVER(a_long_answer_comes_in_pieces)

static void errors_have_their_sentence(void **state)
{
	static const struct {
		const char *sql;
		int error;
		const char *part;
	} cases[] = {
		{ "SELECT 1 FROM nowhere", -EUCLEAN, "nowhere" },
		{ "SELECT nothing FROM t", -EUCLEAN, "nothing" },
		{ "INSERT INTO t VALUES (1)", -EEXIST, "t_x_key" },
		{ "SELECT 1 / 0", -EIO, "zero" },
	};
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	must(zm_db_script(db, &why, "CREATE TABLE t (x INTEGER UNIQUE); INSERT INTO t VALUES (1)"),
	     &why);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(zm_db_run(db, &why, cases[i].sql, ZM_BIND_NONE), cases[i].error);
		if (!strstr(why.text, cases[i].part) || strchr(why.text, '\n'))
			fail_msg("\"%s\" says nothing of %s", why.text, cases[i].part);
		assert_memory_equal(why.text, "postgresql://", 13);
	}
	/* A transaction that has failed takes nothing more, and says so in the end. */
	must(zm_db_begin(db, &why), &why);
	assert_int_equal(zm_db_run(db, &why, cases[3].sql, ZM_BIND_NONE), -EIO);
	assert_int_equal(zm_db_run(db, &why, "SELECT 1", ZM_BIND_NONE), -EIO);
	assert_int_equal(zm_db_commit(db, &why), -ECANCELED);
	must(zm_db_run(db, &why, "SELECT 1", ZM_BIND_NONE), &why);
	zm_db_close(db);
}
ON_SERVER(errors_have_their_sentence)

/* More statements than are kept. */
static void statements_are_given_up(void **state)
{
	static char texts[300][32];
	struct zm_db *db = open_db(*state);

	for (int round = 0; round < 2; round++) {
		for (int64_t i = 0; i < 300; i++) {
			int64_t value = -1;

			(void)snprintf(texts[i], sizeof(texts[i]), "SELECT ?1 + %d", (int)i);
			assert_int_equal(zm_db_int(db, NULL, texts[i], ZM_BIND(zm_int(1)), &value),
					 0);
			assert_int_equal(value, i + 1);
		}
	}
	zm_db_close(db);
}
ON_SERVER(statements_are_given_up)

static void refuses(const char *url, int error, const char *part)
{
	struct zm_store *store = NULL;
	struct zm_why why = { "" };

	assert_int_equal(zm_store_open(url, true, &store, &why), error);
	if (!strstr(why.text, part) || strstr(why.text, "secret") || strchr(why.text, '\n'))
		fail_msg("\"%s\": no %s, or too much", why.text, part);
}

static void who_is_not_there_or_not_let_in(void **state)
{
	char url[320];

	(void)state;
	server_needed();
	refuses("postgresql://a:secret@127.0.0.1:1/x", -ECONNREFUSED, "cannot be reached");
	refuses("postgresql:///x?host=/nonexistent&password=secret", -ECONNREFUSED,
		"cannot be reached");
	refuses("postgresql://a:secret@127.0.0.1:1/x?colour=red", -EINVAL, "colour");
	(void)snprintf(url, sizeof(url), "postgresql:///nowhere?host=%s&user=owner&password=secret",
		       the_server.folder);
	refuses(url, -EACCES, "\"nowhere\" does not exist");
	(void)snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=stranger",
		       the_server.folder);
	refuses(url, -EACCES, "stranger");
}

static void a_reader_changes_nothing(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store = NULL;
	struct zm_why why = { "" };

	assert_int_equal(zm_store_open(fixture->path, false, &store, &why), -ENOENT);
	assert_non_null(strstr(why.text, "store init"));
	zm_store_close(fixture_open(fixture, true));
	store = fixture_open(fixture, false);
	assert_int_equal(zm_db_run(zm_store_db(store), &why, "DELETE FROM run", ZM_BIND_NONE),
			 -EROFS);
	zm_store_close(store);
}
ON_SERVER(a_reader_changes_nothing)

static void a_newer_store_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store = fixture_open(fixture, true);

	assert_int_equal(zm_db_write_mark(zm_store_db(store), 0x5a4d524b, 1000, NULL), 0);
	zm_store_close(store);
	refuses(fixture->path, -EPROTO, "newer zonemark");
	store = NULL;
	assert_int_equal(zm_store_open(fixture->path, false, &store, NULL), -EPROTO);
}
ON_SERVER(a_newer_store_is_refused)

static void a_database_of_somebody_else_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_db *db = open_db(fixture);

	assert_int_equal(zm_db_script(db, NULL, "CREATE TABLE cake (x INTEGER)"), 0);
	refuses(fixture->path, -EUCLEAN, "not a zonemark store");
	assert_int_equal(number(db, "SELECT count(*) FROM cake"), 0);
	zm_db_close(db);
}
ON_SERVER(a_database_of_somebody_else_is_refused)

/* Eight at once make one store. */
static void all_make_it_and_it_is_one(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store;

	for (int i = 0; i < 8; i++) {
		if (fork() == 0)
			_exit(zm_store_open(fixture->path, true, &store, NULL) != 0);
	}
	for (int i = 0; i < 8; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	store = fixture_open(fixture, true);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM zonemark_store"), 1);
	zm_store_close(store);
}
ON_SERVER(all_make_it_and_it_is_one)

static void a_server_that_goes_is_told(void **state)
{
	struct zm_db *db = open_db(*state);
	struct zm_why why = { "" };

	must(zm_db_script(db, &why, "CREATE TABLE t (x INTEGER)"), &why);
	must(zm_db_begin(db, &why), &why);
	must(zm_db_send(db, &why, "INSERT INTO t VALUES (?1)", ZM_BIND(zm_int(1))), &why);
	server_down();
	for (int i = 0; i < 3; i++)
		(void)zm_db_send(db, &why, "INSERT INTO t VALUES (?1)", ZM_BIND(zm_int(1)));
	assert_int_equal(zm_db_commit(db, &why), -ECONNRESET);
	assert_int_equal(zm_db_run(db, &why, "SELECT 1", ZM_BIND_NONE), -ECONNRESET);
	assert_non_null(strstr(why.text, "connection was lost"));
	zm_db_close(db);
	server_up();
	db = open_db(*state);
	assert_int_equal(number(db, "SELECT count(*) FROM t"), 0);
	zm_db_close(db);
}
ON_SERVER(a_server_that_goes_is_told)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ON_SERVER(values_come_back),
		TEST_ON_SERVER(what_is_sent_arrives),
		TEST_ON_SERVER(a_long_answer_comes_in_pieces),
		TEST_ON_SERVER(errors_have_their_sentence),
		TEST_ON_SERVER(statements_are_given_up),
		cmocka_unit_test(who_is_not_there_or_not_let_in),
		TEST_ON_SERVER(a_reader_changes_nothing),
		TEST_ON_SERVER(a_newer_store_is_refused),
		TEST_ON_SERVER(a_database_of_somebody_else_is_refused),
		TEST_ON_SERVER(all_make_it_and_it_is_one),
		TEST_ON_SERVER(a_server_that_goes_is_told),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
