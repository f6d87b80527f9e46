/* report_job: jobs as data and as shell, and command lines; what is none of these. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "results/report_job.h"

static const char yaml[] = "---\n"
			   ":#! jobs/some.yaml:\n"
			   "suite: will-it-scale\n"
			   "testcase: will-it-scale\n"
			   "nr_task: 50%\n"
			   "will-it-scale:\n"
			   "  mode: thread\n"
			   "  test: mmap1\n"
			   "perf-sched:\n"
			   "  lite_mode: 1\n"
			   "nr_node: 4\n"
			   "nr_cpu: 192\n"
			   "memory: 128G\n"
			   "model: Some Lake\n"
			   "brand: Some CPU @ 1.00GHz\n"
			   "kmsg:\n"
			   "cpufreq_governor: performance\n"
			   "ucode: '0x21'\n"
			   "bootloader_append:\n"
			   "- root=/dev/ram0\n"
			   "transparent_hugepage:\n"
			   "  thp_enabled: never\n";

static const char script[] =
	"#!/bin/sh\n"
	"export_top_env()\n"
	"{\n"
	"\texport suite='will-it-scale'\n"
	"\texport testcase='will-it-scale'\n"
	"\texport nr_task=96\n"
	"\texport nr_node=4\n"
	"\texport nr_cpu=192\n"
	"\texport memory='128G'\n"
	"\texport model='Some Lake'\n"
	"\texport brand='Some CPU @ 1.00GHz'\n"
	"\texport ucode='0x21'\n"
	"\texport queue_cmdline_keys='branch\n"
	"commit'\n"
	"}\n"
	"\trun_setup $LKP_SRC/setup/cpufreq_governor 'performance'\n"
	"\trun_test test='mmap1' mode='thread' $LKP_SRC/tests/wrapper will-it-scale\n"
	"$(touch /tmp/never)\n";

static void check_job(const struct zm_report_job *job, const char *nr_task)
{
	assert_string_equal(job->testcase, "will-it-scale");
	assert_string_equal(zm_mail_pairs_find(&job->params, "test"), "mmap1");
	assert_string_equal(zm_mail_pairs_find(&job->params, "mode"), "thread");
	assert_string_equal(zm_mail_pairs_find(&job->params, "nr_task"), nr_task);
	assert_string_equal(zm_mail_pairs_find(&job->params, "cpufreq_governor"), "performance");
	assert_null(zm_mail_pairs_find(&job->params, "lite_mode"));
	assert_string_equal(zm_mail_pairs_find(&job->environment, "ucode"), "0x21");
	assert_int_equal(job->machine.nr_cpus, 192);
	assert_int_equal(job->machine.nr_nodes, 4);
	assert_int_equal(job->machine.memory_bytes, UINT64_C(128) << 30);
	assert_string_equal(job->machine.model, "Some CPU @ 1.00GHz");
	assert_string_equal(job->machine.codename, "Some Lake");
}

static void test_jobs(void **state)
{
	struct zm_pool pool = { 0 };
	struct zm_report_job job;

	(void)state;
	assert_true(zm_report_job_read(&pool, yaml, strlen(yaml), &job));
	check_job(&job, "50%");
	assert_string_equal(zm_mail_pairs_find(&job.params, "thp_enabled"), "never");
	assert_true(zm_report_job_read(&pool, script, strlen(script), &job));
	check_job(&job, "96");
	zm_pool_release(&pool);
}

static void test_no_jobs(void **state)
{
	static const char *const texts[] = {
		"",
		"testcase",
		"testcase:",
		"x testcase: y",
		"testcase: [a",
		"testcase: {a: b}",
		"- a\n- b\n",
		"export testcase=",
		"export testcase='open",
	};
	struct zm_pool pool = { 0 };
	struct zm_report_job job;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(zm_report_job_read(&pool, texts[i], strlen(texts[i]), &job));
	zm_pool_release(&pool);
}

static void test_commands(void **state)
{
	static const struct {
		const char *line, *testcase, *name, *value;
	} cases[] = {
		{ "  netperf -4 -H 127.0.0.1 -t SCTP_STREAM_MANY -c -C -l 300 -- -m 10K  &",
		  "netperf", "test", "SCTP_STREAM_MANY" },
		{ "netperf -6 -t TCP_RR -l 300 &", "netperf", "ip", "ipv6" },
		{ "netperf -4 -t TCP_RR -l 300 -- -m 10K", "netperf", "send_size", "10K" },
		{ "\"./runtest.py\" \"mmap1\" \"295\" \"thread\" \"48\"", "will-it-scale",
		  "nr_task", "48" },
		{ "python3 ./runtest.py page_fault2 295 process 0 0 104", "will-it-scale", "mode",
		  "process" },
		{ "python3 ./runtest.py page_fault2 25 both 0 0 1 26 52", "will-it-scale", "mode",
		  NULL },
		{ " ./case-anon-cow-rand", "vm-scalability", "test", "anon-cow-rand" },
		{ "netperf", NULL, NULL, NULL },
		{ "netserver -4 -D", NULL, NULL, NULL },
		{ "./case-", NULL, NULL, NULL },
		{ "", NULL, NULL, NULL },
	};
	struct zm_pool pool = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_report_job job;
		bool is = zm_report_job_command(&pool, cases[i].line, &job);
		const char *value;

		assert_int_equal(is, cases[i].testcase != NULL);
		if (!is)
			continue;
		assert_string_equal(job.testcase, cases[i].testcase);
		value = zm_mail_pairs_find(&job.params, cases[i].name);
		if (cases[i].value)
			assert_string_equal(value, cases[i].value);
		else
			assert_null(value);
	}
	zm_pool_release(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_no_jobs),
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
