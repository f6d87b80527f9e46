/* report_means: mmtests' tables are read back from what was made up, whatever happened on the way. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_form.h"
#include "results/report_mail.h"
#include "results/tests/mail_damage.h"

#define ROUNDS 500
#define STEPS  12

struct ladder {
	unsigned int nr_columns, nr_steps, tasks[STEPS];
	bool is_thread;
	double means[STEPS][4], gains[STEPS][4];
	bool are_marked[STEPS][4];
};

static void make_ladder(struct zm_random *random, struct ladder *ladder)
{
	unsigned int tasks = 1;

	*ladder = (struct ladder){ .nr_columns = made_number(random, 2, 4),
				   .nr_steps = made_number(random, 1, STEPS),
				   .is_thread = made_number(random, 0, 1) };
	for (unsigned int i = 0; i < ladder->nr_steps; i++) {
		tasks += made_number(random, 1, 40);
		ladder->tasks[i] = tasks;
		for (unsigned int k = 0; k < ladder->nr_columns; k++) {
			ladder->means[i][k] = round(1e6 * zm_random_unit(random) * tasks) / 100;
			ladder->gains[i][k] =
				k ? round(1e4 * (zm_random_unit(random) - 0.5)) / 100 : 0;
			ladder->are_marked[i][k] = k && made_number(random, 0, 2) == 0;
		}
	}
}

static char *write_ladder(const struct ladder *ladder)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)fputs("2-socket Some Lake (40 cores, 80 CPUs HT enabled)\n\n", out);
	for (unsigned int i = 0; i < ladder->nr_columns; i++)
		(void)fprintf(out, "%30s", "5.17.0-rc3");
	(void)fputs("\n", out);
	for (unsigned int i = 0; i < ladder->nr_columns; i++)
		(void)fprintf(out, "%28s%u", "variant", i);
	(void)fputs("\n", out);
	for (unsigned int i = 0; i < ladder->nr_steps; i++) {
		(void)fprintf(out, "Hmean     page_fault2-%s-%-4u",
			      ladder->is_thread ? "threads" : "processes", ladder->tasks[i]);
		for (unsigned int k = 0; k < ladder->nr_columns; k++)
			zm_report_form_mean(out, ladder->means[i][k], ladder->gains[i][k],
					    ladder->are_marked[i][k]);
		(void)fputs("\n", out);
	}
	(void)fputs("\nMostly within the noise.\n", out);
	(void)fclose(out);
	return text;
}

static void check(const struct ladder *ladder, const struct zm_mail_record *record, bool is_joined)
{
	char list[256] = "";

	assert_string_equal(record->testcase, "will-it-scale");
	assert_string_equal(record->ladder,
			    ladder->is_thread ? "page_fault2-threads" : "page_fault2-processes");
	assert_string_equal(zm_mail_pairs_find(&record->params, "test"), "page_fault2");
	assert_string_equal(zm_mail_pairs_find(&record->params, "mode"),
			    ladder->is_thread ? "thread" : "process");
	assert_int_equal(record->machine.nr_cpus, 80);
	assert_int_equal(record->machine.nr_sockets, 2);
	assert_int_equal(record->nr_commits, ladder->nr_columns);
	assert_int_equal(record->nr_rows, ladder->nr_steps);
	if (!is_joined) {
		assert_string_equal(record->commits[0].name, "variant0");
		assert_string_equal(record->commits[1].title, "5.17.0-rc3");
	}
	for (unsigned int i = 0; i < ladder->nr_steps; i++) {
		size_t length = strlen(list);

		(void)snprintf(list + length, sizeof(list) - length, "%s%u", i ? "," : "",
			       ladder->tasks[i]);
		for (unsigned int k = 0; k < ladder->nr_columns; k++) {
			const struct zm_mail_cell *cell = &record->rows[i].cells[k];

			assert_true(fabs(cell->value - ladder->means[i][k]) < 1e-6);
			assert_int_equal(cell->is_marked, ladder->are_marked[i][k]);
			assert_true(k ? fabs(cell->change - ladder->gains[i][k]) < 1e-6
				      : (bool)isnan(cell->change));
		}
	}
	assert_string_equal(zm_mail_pairs_find(&record->params, "nr_task"), list);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct zm_random random;
		struct ladder ladder;
		struct zm_report_mail report;
		struct zm_why why = { "" };
		bool is_joined = round % 5 == 4;
		char *text;

		zm_random_init(&random, 20220221, round);
		make_ladder(&random, &ladder);
		text = write_ladder(&ladder);
		if (round % 3 == 1)
			text = damage_squeeze(text, &random);
		if (is_joined)
			text = damage_join(text, &random);
		for (uint64_t depth = zm_random_below(&random, 4); depth > 0; depth--)
			text = damage_quote(text, &random);
		if (zm_random_below(&random, 4) == 0)
			text = damage_crlf(text, &random);
		if (zm_report_mail_read(text, strlen(text), &report, &why) < 0)
			fail_msg("round %u: %s\n%s", round, why.text, text);
		if (report.nr_records != 1)
			fail_msg("round %u: %zu records\n%s", round, report.nr_records, text);
		check(&ladder, report.records[0], is_joined);
		zm_report_mail_release(&report);
		free(text);
	}
}

/* Rows that are none: other statistics, other tests, figures that are cut. */
static void test_others(void **state)
{
	static const char *const texts[] = {
		"Hmean send-64 100.00 ( 0.00%) 101.00 ( 1.00%)\n",
		"Hmean page_fault1-processes-2 100.00 ( 0.00%)\n",
		"Hmean page_fault1-processes-x 1.00 ( 0.00%) 1.00 ( 0.00%)\n",
		"Hmean page_fault1-processes-0 1.00 ( 0.00%) 1.00 ( 0.00%)\n",
		"Min page_fault1-processes-2 1.00 ( 0.00%) 1.00 ( 0.00%)\n",
		"Hmean page_fault1-processes-2 1.00 ( 0.00% 1.00\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct zm_report_mail report;
		int r = zm_report_mail_read(texts[i], strlen(texts[i]), &report, NULL);

		for (size_t k = 0; r == 0 && k < report.nr_records; k++)
			assert_null(report.records[k]->ladder);
		if (r == 0)
			zm_report_mail_release(&report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
