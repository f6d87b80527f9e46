/* outside: what others wrote is read as it stands, joins the cell that it is of, and what is damaged is an
 * error that names the file. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "results/compare.h"
#include "results/outside.h"
#include "results/tests/fixture.h"
#include "workloads/base/random.h"

#define WIS_HEAD "tasks,processes,processes_idle,threads,threads_idle,linear\n"

static const char tcp_stream[] =
	"MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0 "
	"AF_INET\n"
	"Recv   Send    Send                          \n"
	"Socket Socket  Message  Elapsed              \n"
	"Size   Size    Size     Time     Throughput  \n"
	"bytes  bytes   bytes    secs.    10^6bits/sec  \n"
	"\n"
	"131072  16384  16384    10.00    21345.67   \n";

static const char udp_stream[] =
	"MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0\n"
	"Socket  Message  Elapsed      Messages                \n"
	"Size    Size     Time         Okay Errors   Throughput\n"
	"bytes   bytes    secs            #      #   10^6bits/sec\n"
	"\n"
	"212992   65507   10.00      123456      0    6470.25\n"
	"212992           10.00      123400           6467.5\n"
	"\n";

static const char tcp_rr[] =
	"MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to h : first\n"
	"Local /Remote\n"
	"Socket Size   Request  Resp.   Elapsed  Trans.\n"
	"Send   Recv   Size     Size    Time     Rate         \n"
	"bytes  Bytes  bytes    bytes   secs.    per sec   \n"
	"\n"
	"16384  131072 1        1       10.00    34567.89   \n"
	"16384  131072 \n";

static const char *put(const struct fixture *fixture, const char *name, const char *text)
{
	static char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	for (char *at = path + strlen(fixture->folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
	return path;
}

static struct zm_outside read_it(const char *path)
{
	struct zm_outside outside = { 0 };
	struct zm_why why = { "" };

	if (zm_outside_read(path, &outside, &why))
		fail_msg("%s", why.text);
	return outside;
}

static double figure(const struct zm_outside *outside, size_t run, const char *metric)
{
	assert_in_range(run, 0, outside->nr - 1);
	for (size_t i = 0; i < outside->runs[run].nr_results; i++) {
		if (!strcmp(outside->runs[run].results[i].metric, metric))
			return outside->runs[run].results[i].value;
	}
	return NAN;
}

static void assert_run(const struct zm_outside *outside, size_t run, const char *workload,
		       const char *cell)
{
	assert_in_range(run, 0, outside->nr - 1);
	assert_string_equal(outside->runs[run].workload, workload);
	assert_string_equal(outside->runs[run].cell, cell);
}

/* --- texts --- */

static void will_it_scale_is_read(void **state)
{
	struct zm_outside outside =
		read_it(put(*state, "page_fault1.new.csv",
			    WIS_HEAD "0,0,100,0,100,0\n1,1000,50.5,900,50,1000\r\n"
				     "16,8000,0.1,0,0,16000\n\n"));

	assert_int_equal(outside.nr, 3);
	assert_run(&outside, 0, "page_fault1", "{\"mode\":\"process\",\"nr_task\":\"1\"}");
	assert_run(&outside, 1, "page_fault1", "{\"mode\":\"thread\",\"nr_task\":\"1\"}");
	assert_run(&outside, 2, "page_fault1", "{\"mode\":\"process\",\"nr_task\":\"16\"}");
	assert_true(figure(&outside, 0, "will-it-scale.per_process_ops") == 1000);
	assert_true(figure(&outside, 1, "will-it-scale.per_thread_ops") == 900);
	assert_true(figure(&outside, 1, "will-it-scale.1.threads") == 900);
	assert_true(figure(&outside, 2, "will-it-scale.per_process_ops") == 500);
	assert_true(figure(&outside, 2, "will-it-scale.16.processes") == 8000);
	assert_true(outside.runs[2].results[0].is_primary);
	assert_int_equal(outside.runs[2].results[0].better, ZM_BETTER_MORE);
	assert_false(outside.runs[2].results[1].is_primary);
	zm_outside_release(&outside);
}

static void netperf_is_read(void **state)
{
	char text[4096];
	struct zm_outside outside;

	(void)snprintf(text, sizeof(text), "a first line\n%s%s%s%.80s\n", tcp_stream, udp_stream,
		       tcp_rr, tcp_stream);
	outside = read_it(put(*state, "net.txt", text));
	assert_int_equal(outside.nr, 4);
	assert_run(&outside, 0, "tcp_stream", "{\"nr_task\":\"1\"}");
	assert_run(&outside, 1, "udp_stream", "{\"nr_task\":\"1\"}");
	assert_run(&outside, 2, "tcp_rr", "{\"nr_task\":\"1\"}");
	assert_true(figure(&outside, 0, "netperf.Throughput_Mbps") == 21345.67);
	assert_true(figure(&outside, 1, "netperf.Throughput_Mbps") == 6470.25);
	assert_true(figure(&outside, 1, "netperf.ThroughputRecv_Mbps") == 6467.5);
	assert_true(figure(&outside, 2, "netperf.Throughput_tps") == 34567.89);
	assert_false(outside.runs[2].has_failed);
	assert_true(outside.runs[3].has_failed); /* ends before its figures */
	assert_int_equal(outside.runs[3].nr_results, 0);
	zm_outside_release(&outside);
}

/* --- lkp-tests --- */

#define JOB                                                                                        \
	"suite: will-it-scale\ntestcase: will-it-scale\nnr_task: 50%\nwill-it-scale:\n"            \
	"  mode: process\n  test: page_fault1\nnr_cpu: 4\ncommit: abcdef\ntbox_group: box-1\n"

static void runs_of_lkp_are_read(void **state)
{
	const struct fixture *fixture = *state;
	char root[128];
	struct zm_outside outside;

	(void)put(fixture, "root/job.yaml", JOB);
	(void)put(fixture, "root/0/stats.json",
		  "{\"will-it-scale.per_process_ops\": 100, \"boot-time.boot\": 10.5, "
		  "\"turbostat.Busy%\": 50.25}");
	(void)put(fixture, "root/10/stats.json",
		  "{\"will-it-scale.per_process_ops\": 102.5, \"boot-time.boot\": 10.6}");
	(void)put(fixture, "root/2/stderr", "killed");
	(void)put(fixture, "root/3/stats.json",
		  "{\"will-it-scale.per_process_ops\": 7, \"last_state.is_incomplete_run\": 1}");
	(void)put(fixture, "root/notes/stats.json", "{}");
	(void)snprintf(root, sizeof(root), "%s/root", fixture->folder);
	outside = read_it(root);
	assert_int_equal(outside.nr, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_run(&outside, i, "page_fault1", "{\"mode\":\"process\",\"nr_task\":\"2\"}");
		assert_string_equal(outside.runs[i].kernel, "abcdef");
		assert_string_equal(outside.runs[i].machine, "box-1");
	}
	assert_true(figure(&outside, 0, "will-it-scale.per_process_ops") == 100);
	assert_true(figure(&outside, 0, "turbostat.Busy%") == 50.25);
	assert_true(outside.runs[1].has_failed && outside.runs[2].has_failed);
	assert_true(figure(&outside, 3, "will-it-scale.per_process_ops") == 102.5);
	assert_string_not_equal(outside.runs[0].boot, outside.runs[3].boot);
	zm_outside_release(&outside);
}

static void a_matrix_of_lkp_is_read(void **state)
{
	const struct fixture *fixture = *state;
	char root[128];
	struct zm_outside outside;

	(void)put(fixture, "root/job.yaml", JOB);
	(void)put(fixture, "root/matrix.json",
		  "{\"will-it-scale.per_process_ops\": [100, 101, 102], \"a.b\": [1, 2], "
		  "\"last_state.is_incomplete_run\": [0, 0, 1]}");
	(void)snprintf(root, sizeof(root), "%s/root", fixture->folder);
	outside = read_it(root);
	assert_int_equal(outside.nr, 3);
	assert_true(figure(&outside, 1, "will-it-scale.per_process_ops") == 101);
	assert_true(figure(&outside, 1, "a.b") == 2);
	assert_true(outside.runs[2].has_failed);
	/* no boot times: nobody can tell, so it is one boot */
	assert_string_equal(outside.runs[0].boot, outside.runs[1].boot);
	zm_outside_release(&outside);
}

/* --- damage --- */

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *path, *text, *read, *why;
	} cases[] = {
		{ "a.txt", "nothing\n", "a.txt", "neither a store nor" },
		{ "page_fault1.csv", WIS_HEAD, "page_fault1.csv", "no number of tasks" },
		{ "page_fault1.csv", WIS_HEAD "1,2,3\n", "page_fault1.csv", "line 2: not what" },
		{ "page_fault1.csv", WIS_HEAD "1,2,3,4,5,6,7\n", "page_fault1.csv", "line 2" },
		{ "page_fault1.csv", WIS_HEAD "1,nan,3,4,5,6\n", "page_fault1.csv", "line 2" },
		{ "page_fault1.csv", WIS_HEAD "1,-2,3,4,5,6\n", "page_fault1.csv", "line 2" },
		{ "page_fault1.csv", WIS_HEAD "1.5,2,3,4,5,6\n", "page_fault1.csv", "line 2" },
		{ "page_fault1.csv", WIS_HEAD "1,0x2,3,4,5,6\n", "page_fault1.csv", "line 2" },
		{ "page_fault1.csv", WIS_HEAD "1,1e999,3,4,5,6\n", "page_fault1.csv", "line 2" },
		{ "My Test.csv", WIS_HEAD "1,2,3,4,5,6\n", "My Test.csv", "name the file" },
		{ "n", "MIGRATED DCCP STREAM TEST from x\n", "n", "DCCP STREAM is not read" },
		{ "n", "TCP STREAM TEST from x\nKBytes/s\n1 2 3 10.00 5\n", "n", "without -f" },
		{ "n", "TCP STREAM TEST from x\n10^6bits/s\n1 2 3 10.00 -5\n", "n", "below 0" },
		{ "r/0/stats.json", "{\"a\": 1}", "r", "no job.yaml says" },
		{ "r/stats.json", "{\"a\": 1}", "r", "no job.yaml says" },
		{ "r/0/stats.json", "{\"a\": 1, \"a\": 2}", "r", "0/stats.json: line 1" },
		{ "r/0/stats.json", "[1]", "r", "not an object" },
		{ "r/0/stats.json", "{\"a\": ", "r", "0/stats.json: line 1" },
		{ "r/matrix.json", "{\"a\": 1}", "r", "no figures" },
		{ "r/x", "", "r", "no results of lkp-tests" },
	};
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_outside outside = { 0 };
		struct zm_why why = { "" };
		char path[256], made[256];
		int error;

		(void)snprintf(made, sizeof(made), "%s",
			       put(fixture, cases[i].path, cases[i].text));
		(void)snprintf(path, sizeof(path), "%s/%s", fixture->folder, cases[i].read);
		error = zm_outside_read(path, &outside, &why);
		if (error >= 0 || !strstr(why.text, cases[i].why) ||
		    !strstr(why.text, cases[i].read))
			fail_msg("case %zu: %d: %s", i, error, why.text);
		assert_null(outside.runs);
		assert_int_equal(unlink(made), 0);
	}
}

static void figures_that_are_none_are_said(void **state)
{
	static const struct {
		const char *stats, *why;
	} cases[] = {
		{ "{\"a\": \"1\"}", "a: not a number" },
		{ "{\"a\": null}", "a: not a number" },
		{ "{\"a\": [1]}", "a: not a number" },
	};
	const struct fixture *fixture = *state;
	char root[128];

	(void)put(fixture, "r/job.yaml", JOB);
	(void)snprintf(root, sizeof(root), "%s/r", fixture->folder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_outside outside = { 0 };
		struct zm_why why = { "" };

		(void)put(fixture, "r/0/stats.json", cases[i].stats);
		assert_int_equal(zm_outside_read(root, &outside, &why), -EINVAL);
		assert_non_null(strstr(why.text, cases[i].why));
		assert_null(outside.runs);
	}
}

/* Whatever bytes are changed: it is read or refused, with a sentence. */
static void damage_is_read_or_refused(void **state)
{
	const char *const texts[] = { WIS_HEAD "1,1000,50.5,900,50,1000\n2,2,2,2,2,2\n", tcp_stream,
				      udp_stream, tcp_rr };
	const struct fixture *fixture = *state;
	struct zm_random random;

	zm_random_init(&random, 7, 0);
	for (unsigned int round = 0; round < 400; round++) {
		struct zm_outside outside = { 0 };
		struct zm_why why = { "" };
		char text[1024];
		size_t length;

		(void)snprintf(text, sizeof(text), "%s", texts[round % 4]);
		length = strlen(text);
		for (unsigned int i = 0; i < 3; i++)
			text[zm_random_below(&random, length)] =
				(char)(1 + zm_random_below(&random, 255));
		if (zm_outside_read(put(fixture, "mmap1", text), &outside, &why))
			assert_true(why.text[0] != '\0');
		for (size_t i = 0; i < outside.nr; i++) {
			assert_true(outside.runs[i].nr_results > 0 || outside.runs[i].has_failed);
			for (size_t k = 0; k < outside.runs[i].nr_results; k++)
				assert_true(isfinite(outside.runs[i].results[k].value));
		}
		zm_outside_release(&outside);
	}
}

/* --- compared --- */

static uint64_t add_own(struct zm_store *store, const char *cell, const char *params)
{
	struct zm_run_record record = fixture_record();
	const struct zm_result result = { .metric = "will-it-scale.per_process_ops",
					  .unit = "pages/s",
					  .source = "page_fault1",
					  .better = ZM_BETTER_MORE,
					  .is_primary = true,
					  .value = 1100 };
	struct zm_recorder *recorder;
	uint64_t run;

	record.cell = cell;
	record.params = params;
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	run = zm_recorder_run_id(recorder);
	assert_int_equal(zm_recorder_result(recorder, &result), 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	return run;
}

/* An old baseline of somebody's counts against zonemark's own runs, where it is clear of which cell it is. */
static void an_old_baseline_counts(void **state)
{
	static const struct {
		size_t nr_own; /* cells that could be meant */
		const char *params;
		int error;
	} cases[] = {
		{ 1, "{\"mode\":\"process\",\"nr_task\":2,\"size\":\"128M\"}", 0 },
		{ 1, "{\"mode\":\"thread\",\"nr_task\":2}", -ENODATA },
		{ 1, "{\"mode\":\"process\",\"nr_task\":3}", -ENODATA },
		{ 2, "{\"mode\":\"process\",\"nr_task\":2}", -ENODATA },
	};
	const struct zm_compare_options options = {
		.judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 }
	};
	const struct fixture *fixture = *state;
	const char *path = put(fixture, "page_fault1.csv",
			       WIS_HEAD "2,2000,0,0,0,2000\n2,2002,0,0,0,2000\n2,2004,0,0,0,0\n");
	struct zm_outside outside = read_it(path);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_store *store = fixture_open(fixture, true);
		struct zm_compare_side sides[2] = { { .name = "old", .outside = &outside },
						    { .name = "new", .store = store } };
		struct zm_compare *compare = NULL;
		struct zm_why why = { "" };

		for (size_t own = 0; own < 3 * cases[i].nr_own; own++)
			assert_int_equal(
				zm_runset_add(&sides[1].runs,
					      add_own(store,
						      own % cases[i].nr_own ? "{\"a\":1}" : "{}",
						      cases[i].params)),
				0);
		assert_int_equal(zm_compare_make(sides, 2, &options, &compare, &why),
				 cases[i].error);
		if (compare) {
			const struct zm_compare_metric *metric = &compare->cells[0].metrics[0];

			assert_int_equal(compare->nr_cells, 1);
			assert_string_equal(metric->unit, "pages/s"); /* ours, as declared */
			assert_int_equal(metric->sides[0].nr, 3);
			assert_int_equal(metric->outcomes[1].verdict, ZM_VERDICT_BETTER);
			assert_true(metric->outcomes[1].is_between_boots);
			/* nothing is known of the other machine: no list of all that ours has */
			assert_int_equal(compare->nr_differences, 1);
			assert_string_equal(compare->differences[0].key, "machine");
			assert_string_equal(compare->differences[0].values[0], "not known");
		}
		zm_compare_free(compare);
		zm_runset_release(&sides[1].runs);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
	zm_outside_release(&outside);
}

static void a_store_is_told_from_others(void **state)
{
	const struct fixture *fixture = *state;

	zm_store_close(fixture_open(fixture, true));
	assert_true(zm_outside_is_store(fixture->path));
	assert_true(zm_outside_is_store(put(fixture, "empty", "")));
	assert_false(zm_outside_is_store(put(fixture, "short", "SQLite")));
	assert_false(zm_outside_is_store(put(fixture, "a.csv", WIS_HEAD)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(will_it_scale_is_read),       TEST(netperf_is_read),
		TEST(runs_of_lkp_are_read),        TEST(a_matrix_of_lkp_is_read),
		TEST(what_is_wrong_is_said),       TEST(figures_that_are_none_are_said),
		TEST(damage_is_read_or_refused),   TEST(an_old_baseline_counts),
		TEST(a_store_is_told_from_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
