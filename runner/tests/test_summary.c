/* summary: medians, spreads and flags of made-up launches; what the exit status comes to. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/cmd.h"
#include "runner/phase.h"
#include "runner/summary.h"

static struct zm_cell cells[] = {
	{ .title = (char[]){ "soup nr_task=1" }, .params = (char[]){ "{\"nr_task\":1}" } },
	{ .title = (char[]){ "soup nr_task=2" }, .params = (char[]){ "{\"nr_task\":2}" } },
};
static const struct zm_plan plan = { .cells = cells, .nr_cells = 2 };
static const struct zm_metric row = { .name = "soup.rate", .unit = "spoons/s", .is_primary = true };
static const struct zm_metric side = { .name = "soup.salt", .unit = "g" };

static void add(struct zm_summary *summary, size_t cell, double value, const char *flags)
{
	static uint64_t run_id;
	struct zm_outcome outcome = { .status = ZM_STATUS_OK, .run_id = ++run_id, .spread = 2 };

	(void)snprintf(outcome.flags, sizeof(outcome.flags), "%s", flags);
	zm_report_init(&outcome.report, NULL, 1);
	assert_int_equal(zm_report_add(&outcome.report, &row, value, 1, 1), 0);
	assert_int_equal(zm_report_add(&outcome.report, &side, 5, 1, 1), 0);
	assert_int_equal(zm_summary_add(summary, cell, &outcome), 0);
	zm_outcome_release(&outcome);
}

static void add_bad(struct zm_summary *summary, size_t cell, enum zm_status status, bool is_refused)
{
	const struct zm_outcome outcome = {
		.status = status, .is_refused = is_refused, .why = { "no spoon" }, .spread = -1
	};

	assert_int_equal(zm_summary_add(summary, cell, &outcome), 0);
}

static char *print(const struct zm_summary *summary, bool is_json)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(is_json ? zm_summary_print_json(summary, "i", "s", NULL, out)
				 : zm_summary_print(summary, out),
			 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_table(void **state)
{
	struct zm_summary summary;
	char *text;

	(void)state;
	assert_int_equal(zm_summary_init(&summary, &plan, 3), 0);
	add(&summary, 0, 110, "unsteady");
	add(&summary, 0, 90, "disturbed unsteady");
	add(&summary, 0, 100, "");
	add_bad(&summary, 1, ZM_STATUS_FAILED, false);
	text = print(&summary, false);
	assert_non_null(strstr(text,
			       "soup nr_task=1  soup.rate           100  spoons/s            90  "
			       "         110    10.0 %     2.0 %    3  unsteady disturbed\n"));
	assert_non_null(strstr(text, "soup nr_task=2  failed: no spoon\n"));
	assert_null(strstr(text, "salt"));
	free(text);
	zm_summary_release(&summary);
}

static void test_json(void **state)
{
	struct zm_summary summary;
	json_t *answer, *metric;
	char *text;

	(void)state;
	assert_int_equal(zm_summary_init(&summary, &plan, 2), 0);
	add(&summary, 0, 1, "");
	add(&summary, 0, 4, "");
	text = print(&summary, true);
	answer = json_loads(text, 0, NULL);
	assert_non_null(answer);
	assert_int_equal(json_array_size(json_object_get(answer, "cells")), 2);
	metric = json_array_get(
		json_object_get(json_array_get(json_object_get(answer, "cells"), 0), "metrics"), 0);
	assert_true(json_number_value(json_object_get(metric, "median")) == 2.5);
	assert_int_equal(json_array_size(json_object_get(metric, "values")), 2);
	json_decref(answer);
	free(text);
	zm_summary_release(&summary);
}

static const struct {
	enum zm_status first, second;
	bool is_refused; /* the second */
	int exit_status;
} exits[] = {
	{ ZM_STATUS_OK, ZM_STATUS_OK, false, ZM_EXIT_OK },
	{ ZM_STATUS_OK, ZM_STATUS_SKIPPED, false, ZM_EXIT_OK },
	{ ZM_STATUS_OK, ZM_STATUS_SKIPPED, true, ZM_EXIT_USAGE },
	{ ZM_STATUS_OK, ZM_STATUS_FAILED, false, ZM_EXIT_RUN_FAILED },
	{ ZM_STATUS_FAILED, ZM_STATUS_SKIPPED, true, ZM_EXIT_RUN_FAILED },
	{ ZM_STATUS_SKIPPED, ZM_STATUS_SKIPPED, false, ZM_EXIT_SKIPPED },
	{ ZM_STATUS_SKIPPED, ZM_STATUS_SKIPPED, true, ZM_EXIT_USAGE },
};

static void test_exit_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		struct zm_summary summary;

		assert_int_equal(zm_summary_init(&summary, &plan, 1), 0);
		add_bad(&summary, 0, exits[i].first, false);
		add_bad(&summary, 1, exits[i].second, exits[i].is_refused);
		assert_int_equal(zm_summary_exit_status(&summary), exits[i].exit_status);
		zm_summary_release(&summary);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_exit_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
