/* suite: what the field's tests and their parameters are called here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/cell.h"
#include "runner/suite.h"

static void test_names(void **state)
{
	static const struct {
		const char *testcase, *test, *name, *mode;
	} cases[] = {
		{ "will-it-scale", "page_fault2", "page_fault2", NULL },
		{ "will-it-scale", "sched_yield", "sched_yield", NULL },
		{ "vm-scalability", "anon-cow-rand-hugetlb", "anon_cow_rand_hugetlb", NULL },
		{ "vm-scalability", "anon-cow-rand-mt", "anon_cow_rand", "thread" },
		{ "netperf", "SCTP_STREAM_MANY", "sctp_stream_many", NULL },
		{ "netperf", "TCP_CRR", "tcp_crr", NULL },
		{ "lmbench3", "UNIX", "unix_stream", NULL },
		{ "lmbench3", "PIPE", "pipe_stream", NULL },
		{ "lmbench3", "CTX", "ctx", NULL },
		{ "kbuild", NULL, "kbuild", NULL },
		{ "zonemark", "hugetlb_pool", "hugetlb_pool", NULL },
		{ "netperf", NULL, NULL, NULL },
		{ "netperf", "", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct zm_suite *suite = zm_suite_find(cases[i].testcase);
		char name[ZM_SUITE_NAME];
		const char *mode;
		bool is;

		assert_non_null(suite);
		is = zm_suite_workload(suite, cases[i].test, name, sizeof(name), &mode);
		assert_int_equal(is, cases[i].name != NULL);
		if (!is)
			continue;
		assert_string_equal(name, cases[i].name);
		assert_true((mode != NULL) == (cases[i].mode != NULL));
	}
	assert_null(zm_suite_find("stress-ng"));
	assert_null(zm_suite_find(NULL));
}

static void test_long_names(void **state)
{
	char test[2 * ZM_SUITE_NAME], name[ZM_SUITE_NAME];
	const char *mode;

	(void)state;
	memset(test, 'x', sizeof(test) - 1);
	test[sizeof(test) - 1] = '\0';
	assert_false(zm_suite_workload(zm_suite_find("netperf"), test, name, sizeof(name), &mode));
}

static void test_options(void **state)
{
	const struct zm_suite *netperf = zm_suite_find("netperf");
	const char *reason;

	(void)state;
	assert_string_equal(zm_suite_option(netperf, "nr_threads", &reason), "nr_task");
	assert_string_equal(zm_suite_option(netperf, "send_size", &reason), "send_size");
	assert_null(zm_suite_option(netperf, "iterations", &reason));
	assert_non_null(reason);
	assert_string_equal(zm_suite_default(zm_suite_find("will-it-scale"), "runtime"), "300s");
	assert_null(zm_suite_default(netperf, "nr_task"));
}

/* Every default is a value that runs take. */
static void test_defaults(void **state)
{
	static const char *const suites[] = { "will-it-scale", "vm-scalability", "netperf",
					      "lmbench3" };
	static const char *const options[] = { "mode", "nr_task", "runtime" };

	(void)state;
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
			const char *value = zm_suite_default(zm_suite_find(suites[i]), options[k]);
			char first[32];
			struct zm_run_options run = { 0 };

			if (!value)
				continue;
			(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, ","),
				       value);
			assert_int_equal(zm_options_init(zm_run_option_rows, &run, NULL), 0);
			assert_int_equal(
				zm_option_set(zm_run_option_rows, &run, options[k], first, NULL),
				0);
			zm_options_release(zm_run_option_rows, &run);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
