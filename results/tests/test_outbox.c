/*
 * outbox: what waits is sent whole, once, whoever else sends, and whenever the server is there again.
 *
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "results/outbox.h"
#include "results/query.h"
#include "results/role.h"
#include "results/series.h"
#include "results/tests/server.h"
#include "workloads/base/random.h"

#define NR_FIGURES 5

/* A run with figures, a task, a note, and a series. */
static void add_run_of(struct zm_store *store, const struct zm_run_record *record,
		       const char *metric)
{
	struct zm_recorder *recorder;
	char name[64];
	uint32_t series;

	assert_int_equal(zm_recorder_begin(store, record, &recorder, NULL), 0);
	assert_int_equal(zm_recorder_series(recorder,
					    &(struct zm_series_desc){
						    .source = "s", .metric = "m", .unit = "kB" },
					    &series),
			 0);
	for (uint64_t i = 0; i < 3; i++)
		zm_recorder_put_u64(recorder, series, i * 10, 100 + i, 0);
	assert_int_equal(zm_recorder_task(recorder, 0, 1, 0, 0), 0);
	assert_int_equal(zm_recorder_note(recorder, "skew", "a note"), 0);
	for (unsigned int i = 0; i < NR_FIGURES; i++) {
		(void)snprintf(name, sizeof(name), "figure_%u", i);
		assert_int_equal(zm_recorder_result(
					 recorder, &(struct zm_result){ .metric = i ? name : metric,
									.unit = "pages/s",
									.source = "s",
									.is_primary = i == 0,
									.value = i + 0.5 }),
				 0);
	}
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
}

static void add_run(struct zm_store *store)
{
	const struct zm_run_record record = fixture_record();

	add_run_of(store, &record, "ops");
}

static struct zm_store *open_outbox(const struct fixture *fixture)
{
	struct zm_store *outbox = NULL;
	struct zm_why why = { "" };

	(void)setenv("XDG_DATA_HOME", fixture->folder, 1);
	if (zm_outbox_open(fixture->path, &outbox, &why))
		fail_msg("%s", why.text);
	return outbox;
}

static int64_t nr_there(const struct fixture *fixture, const char *sql)
{
	struct zm_store *server = fixture_open(fixture, true);
	int64_t nr = fixture_count(server, sql);

	zm_store_close(server);
	return nr;
}

/* As many as there should be, and each with all that belongs to it. */
static void all_are_whole(const struct fixture *fixture, int64_t nr)
{
	static const struct {
		const char *sql;
		int64_t times;
	} tables[] = {
		{ "SELECT count(*) FROM run WHERE status = 1", 1 },
		{ "SELECT count(DISTINCT uuid) FROM run", 1 },
		{ "SELECT count(*) FROM result", NR_FIGURES },
		{ "SELECT count(*) FROM series JOIN timebase ON timebase.id = series.timebase", 1 },
		{ "SELECT count(*) FROM task", 1 },
		{ "SELECT count(*) FROM note", 1 },
		{ "SELECT count(*) FROM run JOIN cell ON cell.id = run.cell"
		  " JOIN params ON params.id = run.params JOIN boot ON boot.id = run.boot"
		  " JOIN machine ON machine.id = boot.machine"
		  " JOIN inventory ON inventory.id = run.inventory",
		  1 },
		{ "SELECT count(*) FROM result JOIN metric ON metric.id = result.metric"
		  " JOIN source ON source.id = result.source",
		  NR_FIGURES },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		int64_t found = nr_there(fixture, tables[i].sql);

		if (found != nr * tables[i].times)
			fail_msg("%s: %lld", tables[i].sql, (long long)found);
	}
}

static struct zm_import push(const struct fixture *fixture, struct zm_store *outbox)
{
	struct zm_import import;
	struct zm_why why = { "" };

	if (zm_outbox_push(fixture->path, outbox, &import, &why))
		fail_msg("%s", why.text);
	return import;
}

static void what_is_sent_goes_from_here(void **state)
{
	struct zm_store *outbox = open_outbox(*state);

	for (int i = 0; i < 3; i++)
		add_run(outbox);
	assert_int_equal(push(*state, outbox).nr_new, 3);
	assert_int_equal(fixture_count(outbox, "SELECT count(*) FROM run"), 0);
	assert_int_equal(fixture_count(outbox, "SELECT count(*) FROM result"), 0);
	all_are_whole(*state, 3);
	assert_int_equal(push(*state, outbox).nr_new, 0);
	all_are_whole(*state, 3);
	zm_store_close(outbox);
}
ON_SERVER(what_is_sent_goes_from_here)

/* The series and their moments are as they were, and so are the names that they refer to. */
static int check_series(void *context, const struct zm_series *series)
{
	size_t *nr = context;

	++*nr;
	assert_string_equal(series->desc.metric, "m");
	assert_string_equal(series->desc.unit, "kB");
	assert_int_equal(series->nr, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_true(series->t_ns[i] == i * 10 && series->readings->values[i] == 100 + i);
	return 0;
}

static void a_run_is_there_as_it_was_here(void **state)
{
	struct zm_store *outbox = open_outbox(*state), *server;
	const struct zm_series_filter all = { .scope = -1 };
	struct zm_run_view *view;
	uint64_t run;
	size_t nr = 0;

	add_run(outbox);
	(void)push(*state, outbox);
	server = fixture_open(*state, false);
	assert_int_equal(zm_query_begin(server, NULL), 0);
	assert_int_equal(zm_query_find(server, "last", &run, NULL), 0);
	assert_int_equal(zm_query_run(server, run, &view, NULL), 0);
	assert_string_equal(view->info.params, fixture_record().params);
	assert_string_equal(view->info.kernel, fixture_record().kernel);
	assert_string_equal(view->inventory, fixture_record().inventory);
	assert_int_equal(view->info.wall_ns, FIXTURE_WALL_NS);
	assert_int_equal(view->nr_results, NR_FIGURES);
	assert_string_equal(view->results[0].metric, "ops");
	assert_true(view->results[0].value == 0.5 && view->results[0].is_primary);
	zm_run_view_free(view);
	assert_int_equal(zm_series_read(server, run, &all, check_series, &nr, NULL, NULL), 0);
	assert_int_equal(nr, 1);
	zm_query_end(server);
	zm_store_close(server);
	zm_store_close(outbox);
}
ON_SERVER(a_run_is_there_as_it_was_here)

/* Away before, away in the middle: nothing is lost, and nothing is there twice in the end. */
static void the_server_may_go_away(void **state)
{
	struct zm_store *outbox = open_outbox(*state);
	struct zm_import import;
	struct zm_why why = { "" };
	pid_t pid;
	int status;

	add_run(outbox);
	(void)push(*state, outbox);
	for (int i = 0; i < 200; i++)
		add_run(outbox);
	server_down();
	assert_int_equal(zm_outbox_push((*(struct fixture **)state)->path, outbox, &import, &why),
			 -ECONNREFUSED);
	assert_true(zm_outbox_may_pass(-ECONNREFUSED));
	assert_int_equal(fixture_count(outbox, "SELECT count(*) FROM run"), 200);
	server_up();
	pid = fork();
	if (pid == 0) {
		struct zm_store *own = open_outbox(*state);

		status = zm_outbox_push((*(struct fixture **)state)->path, own, &import, &why);
		if (status < 0 && !zm_outbox_may_pass(status))
			(void)fprintf(stderr, "%d: %s\n", status, why.text);
		_exit(status == 0 || zm_outbox_may_pass(status) ? 0 : 1);
	}
	while (nr_there(*state, "SELECT count(*) FROM run") < 20)
		(void)usleep(1000);
	server_down();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	server_up();
	(void)push(*state, outbox);
	assert_int_equal(fixture_count(outbox, "SELECT count(*) FROM run"), 0);
	all_are_whole(*state, 201);
	zm_store_close(outbox);
}
ON_SERVER(the_server_may_go_away)

static void a_killed_sender_leaves_whole_runs(void **state)
{
	struct zm_store *outbox = open_outbox(*state);
	int64_t nr;
	pid_t pid;

	add_run(outbox);
	(void)push(*state, outbox);
	for (int i = 0; i < 200; i++)
		add_run(outbox);
	pid = fork();
	if (pid == 0) {
		struct zm_store *own = open_outbox(*state);

		(void)push(*state, own);
		_exit(0);
	}
	while (nr_there(*state, "SELECT count(*) FROM run") < 20)
		(void)usleep(1000);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	nr = nr_there(*state, "SELECT count(*) FROM run");
	all_are_whole(*state, nr);
	(void)push(*state, outbox);
	all_are_whole(*state, 201);
	assert_int_equal(fixture_count(outbox, "SELECT count(*) FROM run"), 0);
	zm_store_close(outbox);
}
ON_SERVER(a_killed_sender_leaves_whole_runs)

/* --- several --- */

static void import_file(const struct fixture *fixture, const char *path)
{
	struct fixture file = *fixture;
	struct zm_store *server = fixture_open(fixture, true), *from;
	struct zm_import import;
	struct zm_why why = { "" };

	(void)snprintf(file.path, sizeof(file.path), "%s", path);
	from = fixture_open(&file, false);
	if (zm_import_store(server, from, &import, &why))
		fail_msg("%s", why.text);
	zm_store_close(from);
	zm_store_close(server);
}

/* Each makes a file of its own, or all take that of the first one. */
static void write_at_once(const struct fixture *fixture, int nr_writers, int nr_runs, bool is_same)
{
	char path[128];

	for (int i = 0; i < nr_writers; i++) {
		struct fixture file = *fixture;
		struct zm_store *store;

		(void)snprintf(path, sizeof(path), "%s/%d.db", fixture->folder, is_same ? 0 : i);
		(void)snprintf(file.path, sizeof(file.path), "%s", path);
		store = fixture_open(&file, true);
		for (int k = 0; k < nr_runs && (i == 0 || !is_same); k++)
			add_run(store);
		zm_store_close(store);
		if (fork() == 0) {
			import_file(fixture, path);
			_exit(0);
		}
	}
	for (int i = 0; i < nr_writers; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

static void writers_do_not_hinder_each_other(void **state)
{
	zm_store_close(fixture_open(*state, true));
	write_at_once(*state, 2, 20, false);
	all_are_whole(*state, 40);
	write_at_once(*state, 8, 10, false);
	all_are_whole(*state, 120);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM machine"), 1);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM inventory"), 1);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM params"), 1);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM metric"), NR_FIGURES + 1);
}
ON_SERVER(writers_do_not_hinder_each_other)

static void the_same_runs_by_eight_are_once(void **state)
{
	zm_store_close(fixture_open(*state, true));
	write_at_once(*state, 8, 20, true);
	all_are_whole(*state, 20);
}
ON_SERVER(the_same_runs_by_eight_are_once)

/* --- who may only add --- */

static void as_role(const struct fixture *fixture, const char *role, struct fixture *ret_fixture)
{
	*ret_fixture = *fixture;
	if (snprintf(ret_fixture->path, sizeof(ret_fixture->path), "%s&user=%s", fixture->path,
		     role) >= (int)sizeof(ret_fixture->path))
		fail();
}

static void a_role_that_adds_can_do_nothing_else(void **state)
{
	static const char *const forbidden[] = {
		"UPDATE run SET status = 2",
		"UPDATE result SET value = 1",
		"UPDATE metric SET name = 'x'",
		"UPDATE machine SET key = 'x'",
		"UPDATE zonemark_store SET version = 1000",
		"DELETE FROM run",
		"DELETE FROM result",
		"DELETE FROM note",
		"DELETE FROM series",
		"DELETE FROM metric",
		"TRUNCATE run CASCADE",
		"TRUNCATE result",
		"DROP TABLE result",
		"ALTER TABLE result ADD COLUMN x INTEGER",
		"CREATE TABLE mine (x INTEGER)",
		"SELECT value FROM result",
		"SELECT data FROM series",
		"SELECT data FROM timebase",
		"INSERT INTO chunk (run, seq, data) VALUES (1, 0, '')",
		"INSERT INTO zonemark_store VALUES (1, 1)",
	};
	struct zm_store *owner = fixture_open(*state, true), *outbox, *store;
	struct fixture node;
	struct zm_why why = { "" };

	assert_int_equal(zm_role_let_add(owner, "node", &why), 0);
	assert_int_equal(zm_role_let_add(owner, "node", &why), 0); /* twice is once */
	as_role(*state, "node", &node);
	outbox = open_outbox(&node);
	add_run(outbox);
	add_run(outbox);
	assert_int_equal(push(&node, outbox).nr_new, 2);
	all_are_whole(*state, 2);
	store = fixture_open(&node, true);
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		int error = zm_db_run(zm_store_db(store), &why, forbidden[i], ZM_BIND_NONE);

		if (error != -EACCES)
			fail_msg("%s: %d, %s", forbidden[i], error, why.text);
	}
	all_are_whole(*state, 2);
	zm_store_close(store);
	zm_store_close(outbox);
	zm_store_close(owner);
}
ON_SERVER(a_role_that_adds_can_do_nothing_else)

static void a_role_is_refused_where_it_cannot_be(void **state)
{
	static const char too_long[] =
		"x123456789012345678901234567890123456789012345678901234567890"
		"123";
	static const char *const names[] = {
		"", "1a", "a b", "a\"; DROP TABLE run; --", "Node", too_long,
	};
	struct zm_store *owner = fixture_open(*state, true), *other = NULL;
	struct zm_store *file = open_outbox(*state);
	struct fixture stranger;
	struct zm_why why = { "" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(zm_role_let_add(owner, names[i], &why), -EINVAL);
	assert_int_equal(zm_role_let_add(file, "node", &why), -EINVAL);
	assert_non_null(strstr(why.text, "is a file"));
	/* Who has no rights at all is told so, with the store and what is missing. */
	assert_int_equal(zm_db_script(zm_store_db(owner), NULL, "CREATE ROLE nobody_here LOGIN"),
			 0);
	as_role(*state, "nobody_here", &stranger);
	assert_int_equal(zm_store_open(stranger.path, true, &other, &why), -ENOENT);
	assert_non_null(strstr(why.text, "not for this role"));
	assert_null(strchr(why.text, '\n'));
	zm_store_close(file);
	zm_store_close(owner);
}
ON_SERVER(a_role_is_refused_where_it_cannot_be)

/* --- what people type --- */

static void fill_with_letters(char *buf, size_t size)
{
	struct zm_random random;

	zm_random_init(&random, 1, 0);
	for (size_t i = 0; i + 1 < size; i++)
		buf[i] = (char)('a' + zm_random_below(&random, 26));
	buf[size - 1] = '\0';
}

static void hostile_texts_are_texts(void **state)
{
	static char params[100000];
	struct zm_store *outbox = open_outbox(*state);
	struct zm_run_record record = fixture_record();

	fill_with_letters(params, sizeof(params));
	record.params = params;
	record.cell = params;
	record.inventory = params;
	record.label = "'; DROP TABLE run; --\n\\";
	record.command_line = "zonemark run $1 ?1 %s \xff\xfe\x80";
	record.workload = "\xc3\x28 \"page\" \xed\xa0\x80";
	record.kernel = "\x1b[31m6.18";
	for (int i = 0; i < 2; i++)
		add_run_of(outbox, &record, "ops' || \"$2\" \x01");
	assert_int_equal(push(*state, outbox).nr_new, 2);
	all_are_whole(*state, 2);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM workload"), 1);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM params"), 1);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM run JOIN params"
					  " ON params.id = run.params WHERE length(json) = 99999"),
			 2);
	assert_int_equal(nr_there(*state, "SELECT count(*) FROM invocation"
					  " WHERE label LIKE '''; DROP TABLE run; --%'"),
			 1);
	zm_store_close(outbox);
}
ON_SERVER(hostile_texts_are_texts)

/* One that the server cannot take stays here, and does not keep the others. */
static void a_name_that_is_too_long_stays(void **state)
{
	static char name[20000];
	struct zm_store *outbox = open_outbox(*state);
	struct zm_run_record record = fixture_record();
	struct zm_import import;
	struct zm_why why = { "" };

	fill_with_letters(name, sizeof(name));
	add_run(outbox);
	add_run_of(outbox, &record, name);
	add_run(outbox);
	assert_int_equal(zm_outbox_push((*(struct fixture **)state)->path, outbox, &import, &why),
			 -E2BIG);
	assert_int_equal(import.nr_new, 2);
	assert_false(zm_outbox_may_pass(-E2BIG));
	assert_int_equal(fixture_count(outbox, "SELECT count(*) FROM run"), 1);
	all_are_whole(*state, 2);
	zm_store_close(outbox);
}
ON_SERVER(a_name_that_is_too_long_stays)

static void a_newer_store_is_refused(void **state)
{
	struct zm_store *server = fixture_open(*state, true), *outbox = open_outbox(*state);
	struct zm_import import;
	struct zm_why why = { "" };

	add_run(outbox);
	assert_int_equal(zm_db_write_mark(zm_store_db(server), 0x5a4d524b, 1000, NULL), 0);
	assert_int_equal(zm_outbox_push((*(struct fixture **)state)->path, outbox, &import, &why),
			 -EPROTO);
	assert_non_null(strstr(why.text, "newer zonemark"));
	assert_int_equal(zm_outbox_check((*(struct fixture **)state)->path, &why), -EPROTO);
	assert_false(zm_outbox_may_pass(-EPROTO));
	assert_int_equal(fixture_count(outbox, "SELECT count(*) FROM run"), 1);
	zm_store_close(outbox);
	zm_store_close(server);
}
ON_SERVER(a_newer_store_is_refused)

static void a_file_has_no_outbox(void **state)
{
	char *url = (char *)"x";

	(void)state;
	assert_int_equal(zm_outbox_url("some.db", &url, NULL), 0);
	assert_null(url);
	(void)setenv("ZONEMARK_DB", "postgresql://lab/x", 1);
	assert_int_equal(zm_outbox_url("some.db", &url, NULL), 0);
	assert_null(url);
	assert_int_equal(zm_outbox_url(NULL, &url, NULL), 0);
	assert_string_equal(url, "postgresql://lab/x");
	free(url);
	(void)unsetenv("ZONEMARK_DB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_no_outbox),
		TEST_ON_SERVER(what_is_sent_goes_from_here),
		TEST_ON_SERVER(a_run_is_there_as_it_was_here),
		TEST_ON_SERVER(the_server_may_go_away),
		TEST_ON_SERVER(a_killed_sender_leaves_whole_runs),
		TEST_ON_SERVER(writers_do_not_hinder_each_other),
		TEST_ON_SERVER(the_same_runs_by_eight_are_once),
		TEST_ON_SERVER(a_role_that_adds_can_do_nothing_else),
		TEST_ON_SERVER(a_role_is_refused_where_it_cannot_be),
		TEST_ON_SERVER(hostile_texts_are_texts),
		TEST_ON_SERVER(a_name_that_is_too_long_stays),
		TEST_ON_SERVER(a_newer_store_is_refused),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
