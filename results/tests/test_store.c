/*
 * store: where it is, how it opens, and the sentence when it does not.
 *
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "results/noise.h"
#include "results/schema.h"
#include "results/stacks.h"
#include "results/tests/server.h"

static void set_or_unset(const char *name, const char *value)
{
	if (value)
		(void)setenv(name, value, 1);
	else
		(void)unsetenv(name);
}

static void the_usual_place(void **state)
{
	static const struct {
		const char *zonemark_db, *xdg, *home, *path;
	} cases[] = {
		{ "/a/b.db", "/x", "/h", "/a/b.db" },
		{ "", "/x", "/h", "/x/zonemark/zonemark.db" },
		{ NULL, "relative", "/h", "/h/.local/share/zonemark/zonemark.db" },
		{ NULL, NULL, "/h", "/h/.local/share/zonemark/zonemark.db" },
		{ NULL, NULL, NULL, "/var/lib/zonemark/zonemark.db" },
	};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_or_unset("ZONEMARK_DB", cases[i].zonemark_db);
		set_or_unset("XDG_DATA_HOME", cases[i].xdg);
		set_or_unset("HOME", cases[i].home);
		assert_int_equal(zm_store_default_path(path, sizeof(path)), 0);
		assert_string_equal(path, cases[i].path);
		assert_int_equal(zm_store_default_path(path, strlen(cases[i].path)), -ENOBUFS);
	}
}

static void refuses(const char *path, bool for_writing, int error, const char *part)
{
	struct zm_store *store = NULL;
	struct zm_why why = { "" };

	assert_int_equal(zm_store_open(path, for_writing, &store, &why), error);
	assert_null(store);
	if (!strstr(why.text, part) || !strstr(why.text, path))
		fail_msg("\"%s\" says nothing of %s or %s", why.text, part, path);
	assert_null(strchr(why.text, '\n'));
}

/* At the place that nobody has named; a name that was typed may be mistyped. */
static void folders_are_made_at_the_usual_place_only(void **state)
{
	const struct fixture *fixture = *state;
	char deep[160], data[96], usual[160];
	struct zm_store *store;

	(void)snprintf(deep, sizeof(deep), "%s/a/b/c.db", fixture->folder);
	refuses(deep, false, -ENOENT, "zonemark run");
	refuses(deep, true, -ENOENT, "there is no folder");
	set_or_unset("ZONEMARK_DB", deep);
	assert_int_equal(zm_store_open(NULL, true, &store, NULL), -ENOENT);
	set_or_unset("ZONEMARK_DB", NULL);
	(void)snprintf(data, sizeof(data), "%s/a", fixture->folder);
	assert_int_equal(access(data, F_OK), -1);
	set_or_unset("XDG_DATA_HOME", data);
	(void)snprintf(usual, sizeof(usual), "%s/zonemark/zonemark.db", data);
	refuses(usual, false, -ENOENT, "zonemark run");
	assert_int_equal(access(data, F_OK), -1);
	assert_int_equal(zm_store_open(NULL, true, &store, NULL), 0);
	assert_string_equal(zm_store_path(store), usual);
	zm_store_close(store);
	assert_int_equal(zm_store_open(usual, false, &store, NULL), 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM run"), 0);
	zm_store_close(store);
	set_or_unset("XDG_DATA_HOME", NULL);
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void what_is_no_store_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	const char text[] = "Dear diary, this is no database at all, however long it may be…";
	char back[sizeof(text)];
	int fd;

	write_file(fixture->path, text, sizeof(text));
	refuses(fixture->path, false, -EUCLEAN, "not a zonemark store");
	refuses(fixture->path, true, -EUCLEAN, "not a zonemark store");
	fd = open(fixture->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, back, sizeof(back)), sizeof(text));
	assert_memory_equal(back, text, sizeof(text));
	(void)close(fd);
	refuses(fixture->folder, false, -EINVAL, "not a file");
	refuses(fixture->folder, true, -EINVAL, "not a file");
	write_file(fixture->path, "", 0);
	refuses(fixture->path, false, -ENOENT, "no store yet");
}

static void another_programs_database_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_db *db;
	int64_t mode_is_wal;

	assert_int_equal(zm_db_open(fixture->path, ZM_DB_WRITE, &db, NULL), 0);
	assert_int_equal(zm_db_script(db, NULL, "CREATE TABLE cake (x)"), 0);
	zm_db_close(db);
	refuses(fixture->path, false, -EUCLEAN, "not a zonemark store");
	refuses(fixture->path, true, -EUCLEAN, "not a zonemark store");
	assert_int_equal(zm_db_open(fixture->path, ZM_DB_READ, &db, NULL), 0);
	assert_int_equal(zm_db_int(db, NULL, "SELECT journal_mode = 'wal' FROM pragma_journal_mode",
				   ZM_BIND_NONE, &mode_is_wal),
			 0);
	assert_int_equal(mode_is_wal, 0); /* not even that was changed */
	zm_db_close(db);
}

static void versions_are_respected(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store = fixture_open(fixture, true);

	assert_int_equal(zm_db_script(zm_store_db(store), NULL, "PRAGMA user_version = 1000"), 0);
	zm_store_close(store);
	refuses(fixture->path, false, -EPROTO, "newer zonemark");
	refuses(fixture->path, true, -EPROTO, "newer zonemark");
}

static void fill(struct zm_store *store)
{
	for (unsigned int i = 0; i < 200; i++) {
		struct zm_run_record record = fixture_record();
		struct zm_recorder *recorder;
		char params[64];

		(void)snprintf(params, sizeof(params), "{\"i\":%u}", i);
		record.params = params;
		assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
		assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	}
}

static void drop_all_since(const struct fixture *fixture, unsigned int version)
{
	struct zm_db *db;

	assert_int_equal(zm_db_open(fixture->path, ZM_DB_WRITE, &db, NULL), 0);
	if (version < 3)
		assert_int_equal(
			zm_db_script(db, NULL, "DROP TABLE noise; PRAGMA user_version = 2"), 0);
	if (version < 2)
		assert_int_equal(
			zm_db_script(db, NULL, "DROP TABLE stacks; PRAGMA user_version = 1"), 0);
	zm_db_close(db);
}

static int count_floor(void *context, const struct zm_noise_floor *floor)
{
	(void)floor;
	++*(size_t *)context;
	return 0;
}

static int count_stacks(void *context, const struct zm_stacks *stacks)
{
	(void)stacks;
	++*(size_t *)context;
	return 0;
}

/* Whoever only reads gets what there is, and changes nothing; the next writer brings it up to date. */
static void an_older_store_is_read_as_it_is(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store = fixture_open(fixture, true);

	fill(store);
	zm_store_close(store);
	assert_int_equal(zm_nr_migrations, 3); /* drop_all_since knows them all */
	for (unsigned int version = 1; version <= zm_nr_migrations; version++) {
		size_t nr = 0;

		drop_all_since(fixture, version);
		store = fixture_open(fixture, false);
		assert_int_equal(fixture_count(store, "SELECT count(*) FROM run"), 200);
		assert_int_equal(zm_noise_floors(store, count_floor, &nr, NULL), 0);
		assert_int_equal(zm_stacks_read(store, 1, count_stacks, &nr, NULL), 0);
		assert_int_equal(nr, 0);
		assert_int_equal(fixture_count(store, "PRAGMA user_version"), version);
		zm_store_close(store);
		store = fixture_open(fixture, true);
		assert_int_equal(fixture_count(store, "PRAGMA user_version"), zm_nr_migrations);
		assert_int_equal(fixture_count(store, "SELECT count(*) FROM run"), 200);
		zm_store_close(store);
	}
}

/* However much is cut off: an error with a sentence, never a crash, never fewer runs. */
static void a_cut_file_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store = fixture_open(fixture, true);
	struct stat info;

	fill(store);
	zm_store_close(store);
	assert_int_equal(stat(fixture->path, &info), 0);
	assert_true(info.st_size > 100000);
	for (off_t size = info.st_size - 4096; size > 16; size = size * 2 / 3) {
		assert_int_equal(truncate(fixture->path, size), 0);
		refuses(fixture->path, false, -EUCLEAN, "damaged");
		refuses(fixture->path, true, -EUCLEAN, "damaged");
	}
}

/* As somebody else: root may do everything. Returns what the child returned. */
static int as_nobody(int (*act)(const struct fixture *fixture), const struct fixture *fixture)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(99);
		_exit(act(fixture));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int try_writing(const struct fixture *fixture)
{
	struct zm_store *store;
	struct zm_why why = { "" };
	int error = zm_store_open(fixture->path, true, &store, &why);

	if (!error)
		zm_store_close(store);
	return why.text[0] || !error ? -error : 98;
}

static int try_reading(const struct fixture *fixture)
{
	struct zm_store *store;
	struct zm_why why = { "" };
	int64_t nr = 0;
	int error = zm_store_open(fixture->path, false, &store, &why);

	if (error)
		return why.text[0] ? -error : 98;
	error = zm_db_int(zm_store_db(store), NULL, "SELECT count(*) FROM run", ZM_BIND_NONE, &nr);
	zm_store_close(store);
	return error ? -error : nr == 200 ? 0 : 97;
}

static void permissions_are_respected(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store;

	assert_int_equal(chmod(fixture->folder, 0755), 0);
	assert_int_equal(as_nobody(try_reading, fixture), ENOENT);
	if (geteuid() == 0)
		assert_int_equal(as_nobody(try_writing, fixture), EACCES);
	store = fixture_open(fixture, true);
	fill(store);
	zm_store_close(store);
	/* A store that somebody else owns, in a folder where nothing can be made, can be read. */
	assert_int_equal(chmod(fixture->path, 0444), 0);
	assert_int_equal(chmod(fixture->folder, 0555), 0);
	assert_int_equal(as_nobody(try_reading, fixture), 0);
	assert_int_equal(as_nobody(try_writing, fixture), EACCES);
	assert_int_equal(chmod(fixture->path, 0), 0);
	assert_int_equal(as_nobody(try_reading, fixture), EACCES);
	assert_int_equal(chmod(fixture->path, 0644), 0);
	assert_int_equal(chmod(fixture->folder, 0755), 0);
}

/* What a writer that was killed has left in the log can be read as long as the log's index is there.
 * Without that it takes the right to write; to say "nothing there" would be a lie. */
static void an_unread_log_is_said(void **state)
{
	const struct fixture *fixture = *state;
	pid_t pid = fork();
	char index[128];
	int status;

	if (pid == 0) {
		fill(fixture_open(fixture, true));
		_exit(0); /* without closing */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)snprintf(index, sizeof(index), "%s-shm", fixture->path);
	assert_int_equal(chmod(fixture->folder, 0755), 0);
	assert_int_equal(as_nobody(try_reading, fixture), 0);
	assert_int_equal(unlink(index), 0);
	if (geteuid() == 0)
		assert_int_equal(as_nobody(try_reading, fixture), EACCES);
	assert_int_equal(try_reading(fixture), 0);
}

static void a_dead_writers_run_is_closed(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store = fixture_open(fixture, true);
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct zm_run_record record = fixture_record();
		struct zm_recorder *recorder;
		struct zm_store *own = fixture_open(fixture, true);
		uint32_t series;

		if (zm_recorder_begin(own, &record, &recorder, NULL) ||
		    zm_recorder_series(
			    recorder,
			    &(struct zm_series_desc){ .source = "s", .metric = "m", .unit = "" },
			    &series))
			_exit(1);
		zm_recorder_put_u64(recorder, series, 1, 1, 0);
		_exit(zm_recorder_flush(recorder, NULL) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_RUNNING);
	zm_store_close(store);
	zm_store_close(fixture_open(fixture, false)); /* a reader changes nothing */
	store = fixture_open(fixture, false);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_RUNNING);
	zm_store_close(store);
	store = fixture_open(fixture, true);
	assert_int_equal(fixture_count(store, "SELECT status FROM run"), ZM_STATUS_INTERRUPTED);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM chunk"), 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM series"), 1);
	zm_store_close(store);
}

static void a_living_writers_run_stays(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store = fixture_open(fixture, true), *second;
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;

	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	second = fixture_open(fixture, true);
	assert_int_equal(fixture_count(second, "SELECT status FROM run"), ZM_STATUS_RUNNING);
	zm_store_close(second);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	zm_store_close(store);
}

ON_SERVER(a_living_writers_run_stays)

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_usual_place),
		TEST(folders_are_made_at_the_usual_place_only),
		TEST(what_is_no_store_is_refused),
		TEST(another_programs_database_is_refused),
		TEST(versions_are_respected),
		TEST(a_cut_file_is_refused),
		TEST(an_older_store_is_read_as_it_is),
		TEST(permissions_are_respected),
		TEST(an_unread_log_is_said),
		TEST(a_dead_writers_run_is_closed),
		TEST(a_living_writers_run_stays),
		TEST_ON_SERVER(a_living_writers_run_stays),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
