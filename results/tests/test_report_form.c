/* report_form: printed as the robots do, and read back as what it was. */
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
#include "workloads/base/random.h"

static void test_values(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0.00" },
		{ 0.354, "0.35" },
		{ -5, "-5.00" },
		{ 999.994, "999.99" },
		{ 1000, "1000" },
		{ 91713.4, "91713" },
		{ 99999999, "99999999" },
		{ 1e8, "1e+08" },
		{ 4277e6, "4.277e+09" },
		{ HUGE_VAL, "inf" },
		{ NAN, "" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(zm_report_form_value(buf, sizeof(buf), cases[i].value),
				    cases[i].text);
}

#define FIGURE(value, stddev, change, percent)                                                     \
	{                                                                                          \
		value, stddev, change, percent, 0, false                                           \
	}

static void test_rows(void **state)
{
	struct zm_mail_cell plain[] = { FIGURE(36509, NAN, NAN, false),
					FIGURE(27079, NAN, -25.83, true) };
	struct zm_mail_cell noisy[] = { FIGURE(6.67, 141.9, NAN, false),
					FIGURE(1059, 2, 15799.3, true) };
	struct zm_mail_cell shares[] = { FIGURE(2.09, NAN, NAN, false),
					 FIGURE(1.61, 2.4, -0.48, false) };
	struct zm_mail_cell large[] = { FIGURE(0.35, 131, NAN, false),
					FIGURE(2e9, NAN, 1.4e102, true) };
	struct zm_mail_cell fails[] = { { 0, NAN, NAN, false, 4, false },
					{ 1, NAN, 25, true, 4, false } };
	struct zm_mail_cell missing[] = { FIGURE(NAN, NAN, NAN, false),
					  FIGURE(5, NAN, NAN, false) };
	const struct {
		struct zm_mail_row row;
		const char *text;
	} cases[] = {
		{ { "a.b", false, plain }, "     36509           -25.8%      27079        a.b\n" },
		{ { "a.b", false, noisy }, "      6.67 ±141%  +15799.3%       1059 ±  2%  a.b\n" },
		{ { "a.b", false, shares }, "      2.09            -0.5        1.61 ±  2%  a.b\n" },
		{ { "a.b", false, large }, "      0.35 ±131% +1.4e+102%      2e+09        a.b\n" },
		{ { "a.b", true, fails }, "           :4           25%           1:4     a.b\n" },
		{ { "a.b", false, missing },
		  "                                  5.00        a.b\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		zm_report_form_row(out, &cases[i].row, 2);
		(void)fclose(out);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

/* Whatever is printed is read back, to the digits that were printed. */
static void test_round_trip(void **state)
{
	static const char *const heads[] = { "59142d87ab03b8ff0123", "v6.9",
					     "70a64b7919cbd6c1230605" };
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 7, 1);
	for (unsigned int round = 0; round < 500; round++) {
		struct zm_mail_cell cells[3];
		const struct zm_mail_row row = { "netperf.Throughput_Mbps", false, cells };
		const struct zm_mail_record *record;
		struct zm_report_mail report;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		for (unsigned int i = 0; i < 3; i++)
			cells[i] = (struct zm_mail_cell){
				.value = (zm_random_unit(&random) - 0.2) * pow(10, round % 14),
				.stddev = zm_random_below(&random, 2) ? (double)NAN
								      : 3.0 + round % 90,
				.change = i ? (zm_random_unit(&random) - 0.5) * pow(10, round % 9)
					    : NAN,
				.is_percent = zm_random_below(&random, 2),
			};
		zm_report_form_heads(out, heads, 3);
		zm_report_form_titles(out, 3, false);
		zm_report_form_row(out, &row, 3);
		(void)fclose(out);
		assert_int_equal(zm_report_mail_read(text, size, &report, NULL), 0);
		record = report.records[0];
		assert_int_equal(record->nr_commits, 3);
		assert_string_equal(record->commits[0].head, "59142d87ab03b8ff");
		assert_string_equal(record->commits[1].head, "v6.9");
		assert_int_equal(record->nr_rows, 1);
		for (unsigned int i = 0; i < 3; i++) {
			const struct zm_mail_cell *read = &record->rows[0].cells[i];

			assert_true(fabs(read->value - cells[i].value) <=
				    fmax(0.5e-2, fmax(fabs(cells[i].value) < 1000 ? 0 : 0.5,
						      1e-3 * fabs(cells[i].value) *
							      (fabs(cells[i].value) >= 1e8))) +
					    1e-9);
			assert_true(isnan(cells[i].stddev) ? isnan(read->stddev)
							   : read->stddev == cells[i].stddev);
			assert_true(i == 0 || read->is_percent == (bool)cells[i].is_percent);
			assert_true(i == 0 ||
				    fabs(read->change - cells[i].change) <=
					    fmax(0.051, 0.051 * fabs(cells[i].change) *
								(fabs(cells[i].change) >= 1e5)));
		}
		zm_report_mail_release(&report);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
