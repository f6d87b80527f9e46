/*
 * faults: writers that are killed, that meet, that find the disk full.
 *
 * Whatever happens, what a flush has reported as done is in the store, the store is whole, and the
 * run says how it ended.
 *
 * timeout: 120
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "results/query.h"
#include "results/series.h"
#include "results/tests/fixture.h"
#include "workloads/base/random.h"

#define NR_SERIES    20
#define NR_PER_FLUSH 7

/* Reading number i of series s, so that whoever reads it knows what it has to be. */
static uint64_t value_of(uint64_t series, uint64_t i)
{
	return series * 1000000 + i * (series + 1);
}

static int declare_all(struct zm_recorder *recorder, uint32_t *series)
{
	char name[32];
	int error = 0;

	for (size_t i = 0; i < NR_SERIES && !error; i++) {
		(void)snprintf(name, sizeof(name), "series.%zu", i);
		error = zm_recorder_series(recorder,
					   &(struct zm_series_desc){ .source = "s",
								     .metric = name,
								     .unit = "",
								     .scope_id = (uint32_t)i },
					   &series[i]);
	}
	return error;
}

static int flush_some(struct zm_recorder *recorder, const uint32_t *series, uint64_t *done,
		      struct zm_why *why)
{
	for (size_t k = 0; k < NR_PER_FLUSH; k++, ++*done)
		for (size_t i = 0; i < NR_SERIES; i++)
			zm_recorder_put_u64(recorder, series[i], 1000 * *done, value_of(i, *done),
					    0);
	return zm_recorder_flush(recorder, why);
}

/* One run of nr_flushes flushes. `said` is told after each how many readings are safe; -1: no one. */
static int write_run(struct zm_store *store, unsigned int nr_flushes, int said, struct zm_why *why)
{
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;
	uint32_t series[NR_SERIES];
	uint64_t done = 0;
	int error = zm_recorder_begin(store, &record, &recorder, why);

	if (error)
		return error;
	error = declare_all(recorder, series);
	for (unsigned int i = 0; i < nr_flushes && !error; i++) {
		error = flush_some(recorder, series, &done, why);
		if (!error && said >= 0 && write(said, &done, sizeof(done)) != sizeof(done))
			error = -EIO;
	}
	if (error) {
		(void)zm_recorder_end(recorder, ZM_STATUS_FAILED, why->text, NULL);
		return error;
	}
	return zm_recorder_end(recorder, ZM_STATUS_OK, NULL, why);
}

/* Every reading of the series is what it has to be; at least *wanted of them. */
static int check_series(void *context, const struct zm_series *series)
{
	const uint64_t *wanted = context;

	assert_true(series->nr >= *wanted);
	for (uint64_t i = 0; i < series->nr; i++) {
		assert_true(series->t_ns[i] == 1000 * i);
		assert_true(series->readings->values[i] == value_of(series->desc.scope_id, i));
	}
	return 0;
}

static void check_run(struct zm_store *store, uint64_t run, uint64_t wanted)
{
	const struct zm_series_filter all = { .scope = -1 };
	size_t nr_damaged = 99;

	assert_int_equal(zm_series_read(store, run, &all, check_series, &wanted, &nr_damaged, NULL),
			 0);
	assert_int_equal(nr_damaged, 0);
}

static void check_whole(struct zm_store *store)
{
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM pragma_integrity_check"
					      " WHERE integrity_check <> 'ok'"),
			 0);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static int get_status(void *context, const struct zm_run_info *run)
{
	struct zm_run_info *last = context;

	*last = *run;
	return 1;
}

/* The newest run's id and status, as a reader sees it. */
static struct zm_run_info newest(struct zm_store *store)
{
	const struct zm_run_filter all = { .status = -1 };
	struct zm_run_info info = { 0 };

	assert_int_equal(zm_query_runs(store, &all, get_status, &info, NULL), 1);
	return info;
}

static void run_until_killed(const struct fixture *fixture, int said)
{
	struct zm_why why = { "" };

	for (;;) {
		struct zm_store *store;

		if (zm_store_open(fixture->path, true, &store, &why) ||
		    write_run(store, 4, said, &why))
			_exit(1);
		zm_store_close(store);
	}
}

/* Reads what the writer has said about its last run until its end of the pipe is closed. */
static uint64_t last_said(int said)
{
	uint64_t done = 0, next;

	while (read(said, &next, sizeof(next)) == sizeof(next))
		done = next;
	return done;
}

static void kill_once(const struct fixture *fixture, struct zm_random *random)
{
	int ends[2], status;
	uint64_t safe;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		run_until_killed(fixture, ends[1]);
	}
	(void)close(ends[1]);
	(void)nanosleep(&(struct timespec){ .tv_nsec = (long)zm_random_below(random, 30000000) },
			NULL);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	safe = last_said(ends[0]);
	(void)close(ends[0]);
	if (access(fixture->path, F_OK) < 0)
		return;
	for (unsigned int for_writing = 0; for_writing < 2; for_writing++) {
		struct zm_why why = { "" };
		struct zm_run_info run;
		struct zm_store *store;
		int error = zm_store_open(fixture->path, for_writing, &store, &why);

		if (error == -ENOENT && !for_writing)
			continue; /* killed while it made the store: a writer makes it anew */
		assert_int_equal(error, 0);
		check_whole(store);
		if (fixture_count(store, "SELECT count(*) FROM run") > 0) {
			run = newest(store);
			assert_true(run.status == ZM_STATUS_INTERRUPTED ||
				    run.status == ZM_STATUS_OK);
			/* A new run may have begun after the last word about the one before. */
			if (fixture_count(store, "SELECT count(*) FROM run r WHERE NOT EXISTS"
						 " (SELECT 1 FROM run s WHERE s.id > r.id) AND"
						 " (EXISTS (SELECT 1 FROM chunk WHERE run = r.id)"
						 " OR EXISTS (SELECT 1 FROM series"
						 " WHERE run = r.id))"))
				check_run(store, run.id, safe < NR_PER_FLUSH * 4 ? safe : 0);
			check_run(store, run.id, 0);
		}
		if (for_writing) {
			assert_int_equal(fixture_count(store, "SELECT count(*) FROM run"
							      " WHERE status = 0"),
					 0);
			assert_int_equal(fixture_count(store, "SELECT count(*) FROM chunk"), 0);
		}
		zm_store_close(store);
	}
}

static void a_killed_writer_loses_nothing_it_flushed(void **state)
{
	struct zm_random random;

	zm_random_init(&random, (uint64_t)getpid(), 0);
	for (unsigned int round = 0; round < 60; round++)
		kill_once(*state, &random);
}

static void two_writers_do_not_disturb_each_other(void **state)
{
	const struct fixture *fixture = *state;
	struct zm_store *store;
	pid_t pids[3];
	int status;

	for (size_t i = 0; i < 3; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct zm_why why = { "" };

			for (unsigned int run = 0; run < 5; run++) {
				if (zm_store_open(fixture->path, true, &store, &why) ||
				    write_run(store, 10, -1, &why)) {
					(void)fprintf(stderr, "%s\n", why.text);
					_exit(1);
				}
				zm_store_close(store);
			}
			_exit(0);
		}
	}
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	store = fixture_open(fixture, false);
	check_whole(store);
	assert_int_equal(fixture_count(store, "SELECT count(*) FROM run WHERE status = 1"), 15);
	for (uint64_t run = 1; run <= 15; run++)
		check_run(store, run, NR_PER_FLUSH * 10);
	zm_store_close(store);
}

/* The folder becomes a file system of its own, which nobody else sees. */
static bool mount_small(const struct fixture *fixture, unsigned int kib)
{
	char options[32];

	(void)snprintf(options, sizeof(options), "size=%uk", kib);
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", fixture->folder, "tmpfs", 0, options) == 0;
}

/* The run in which the disk became full says so; those before it are as good as ever. */
static bool ended_rightly(struct zm_store *store, int64_t nr_good)
{
	struct zm_run_info run;

	if (fixture_count(store, "SELECT count(*) FROM run") == nr_good)
		return true; /* the next one could not even begin */
	run = newest(store);
	return run.status == ZM_STATUS_FAILED &&
	       fixture_count(store, "SELECT count(*) FROM run WHERE"
				    " reason LIKE '%the disk is full%'");
}

/* In a child: writes until the disk is full, and looks at what is left. Exit status 0: all is well,
 * 77: no such disk here. */
static void fill_disk(const struct fixture *fixture, unsigned int kib)
{
	struct zm_why why = { "" };
	struct zm_store *store;
	int64_t nr_good = 0;
	bool is_made;
	int error;

	if (!mount_small(fixture, kib))
		_exit(77);
	error = zm_store_open(fixture->path, true, &store, &why);
	is_made = !error;
	while (!error && nr_good < 1000) {
		error = write_run(store, 10, -1, &why);
		nr_good += !error;
		if (error)
			zm_store_close(store);
	}
	if (error != -ENOSPC || !strstr(why.text, "the disk is full"))
		_exit(2);
	error = zm_store_open(fixture->path, false, &store, &why);
	if (!is_made)
		_exit(kib < 500 && (error == -ENOENT || error == -ENOSPC) ? 0 : 3);
	if (error)
		_exit(4);
	check_whole(store);
	for (int64_t run = fixture_count(store, "SELECT count(*) FROM run"); run > 0; run--)
		check_run(store, (uint64_t)run, run <= nr_good ? NR_PER_FLUSH * 10 : 0);
	_exit(ended_rightly(store, nr_good) && (kib < 500 || nr_good > 0) ? 0 : 5);
}

static void a_full_disk_is_said_and_harms_nothing(void **state)
{
	static const unsigned int sizes[] = { 64, 200, 300, 400, 500, 600, 700, 900, 1500 };
	const struct fixture *fixture = *state;
	unsigned int nr_tried = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			fill_disk(fixture, sizes[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			continue;
		if (WEXITSTATUS(status) != 0)
			fail_msg("%u KiB: %d", sizes[i], WEXITSTATUS(status));
		nr_tried++;
	}
	if (nr_tried == 0)
		skip();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_killed_writer_loses_nothing_it_flushed),
		TEST(two_writers_do_not_disturb_each_other),
		TEST(a_full_disk_is_said_and_harms_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
