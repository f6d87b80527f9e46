/* report_table: numbers, tokens and rows by tables of cases. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_table.h"
#include "workloads/base/tests/comma_locale.h"

static void check_numbers(void)
{
	static const char *const words[] = {
		"0",
		"-1",
		"+2.5",
		"1.234e+09",
		"1e-5",
		"123456789012345678901234567890",
		"0.1",
		"1e22",
		"1e23",
		"9007199254740993",
		"1.7976931348623157e+308",
		"4.9e-324",
		"98.6",
		"0.30000000000000004",
	};
	static const char *const others[] = { "", "x", "-", "+", ".5", "e5", "--1" };
	double number;
	size_t n;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *end;
		locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		double expected = strtod_l(words[i], &end, c);

		freelocale(c);
		assert_true(zm_report_table_number(words[i], strlen(words[i]), &number, &n));
		assert_int_equal(n, strlen(words[i]));
		assert_true(number == expected);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(zm_report_table_number(others[i], strlen(others[i]), &number, &n));
	assert_true(zm_report_table_number("1e999", 5, &number, &n) && isinf(number));
	assert_true(zm_report_table_number("+Inf%", 5, &number, &n) && isinf(number) && n == 4);
	assert_true(zm_report_table_number("-nan%", 5, &number, &n) && isnan(number));
	assert_true(zm_report_table_number("12%", 3, &number, &n) && number == 12 && n == 2);
	assert_true(zm_report_table_number("5.", 2, &number, &n) && number == 5 && n == 1);
}

static void test_numbers(void **state)
{
	(void)state;
	check_numbers();
}

static void test_numbers_elsewhere(void **state)
{
	(void)state;
	if (!comma_locale_use())
		skip();
	check_numbers();
	(void)setlocale(LC_ALL, "C");
}

#define NO NAN

static const struct {
	const char *line;
	unsigned int nr_columns;
	enum zm_mail_match match;
	const char *metric;
	double values[6]; /* value, stddev, change, value, stddev… */
} rows[] = {
	{ "  36509           -25.8%      27079        a.b",
	  2,
	  ZM_MATCH_WHOLE,
	  "a.b",
	  { 36509, NO, -25.8, 27079, NO } },
	{ " 4.277e+09 ±  6%     -70.5%  1.261e+09 ±  6%  cpuidle..time",
	  2,
	  ZM_MATCH_WHOLE,
	  "cpuidle..time",
	  { 4.277e9, 6, -70.5, 1.261e9, 6 } },
	{ "      6.67 ±141%  +15799.3%       1059        a.b",
	  2,
	  ZM_MATCH_WHOLE,
	  "a.b",
	  { 6.67, 141, 15799.3, 1059, NO } },
	{ "0.35 ± 131% +1.4e+102% 2 a.b", 2, ZM_MATCH_WHOLE, "a.b", { 0.35, 131, 1.4e102, 2, NO } },
	{ "0.35            -0.1        0.29        a.b",
	  2,
	  ZM_MATCH_WHOLE,
	  "a.b",
	  { 0.35, NO, -0.1, 0.29, NO } },
	{ "7321   4%     +28.2%       9382        a.b",
	  2,
	  ZM_MATCH_WHOLE,
	  "a.b",
	  { 7321, 4, 28.2, 9382, NO } },
	{ "57.67  20%     +2.0%       1  9%   a.b",
	  2,
	  ZM_MATCH_WHOLE,
	  "a.b",
	  { 57.67, 20, 2, 1, 9 } },
	{ "1 A+-33% +2.0% 3 +-4% a.b", 2, ZM_MATCH_WHOLE, "a.b", { 1, 33, 2, 3, 4 } },
	{ "1 A+--33% +2.0% 3 a.b", 2, ZM_MATCH_WHOLE, "a.b", { 1, NO, 2, 3, NO } },
	{ "13.25 ~34% +139.6% 31.75 ~37% a.b",
	  2,
	  ZM_MATCH_WHOLE,
	  "a.b",
	  { 13.25, 34, 139.6, 31.75, 37 } },
	{ "1±4% +2.0% 3±5% a.b", 2, ZM_MATCH_WHOLE, "a.b", { 1, 4, 2, 3, 5 } },
	{ "-5.00 +0.1 -4.90 a.b", 2, ZM_MATCH_WHOLE, "a.b", { -5, NO, 0.1, -4.9, NO } },
	{ "-5.00 -1% +0.1 -4.90 a.b", 2, ZM_MATCH_WHOLE, "a.b", { -5, NO, 0.1, -4.9, NO } },
	{ "1 +2.0% 3 a.b <--- note", 2, ZM_MATCH_WHOLE, "a.b", { 1, NO, 2, 3, NO } },
	{ "1 +2.0% 3 +4.0% 5 a.b", 2, ZM_MATCH_NO, NULL, { 0 } },
	{ "1 +2.0% 3 +4.0% 5 a.b", 0, ZM_MATCH_WHOLE, "a.b", { 1, NO, 2, 3, NO } },
	{ "1 +2.0% 3", 2, ZM_MATCH_BEGINS, NULL, { 0 } },
	{ "1 ± 2%", 2, ZM_MATCH_BEGINS, NULL, { 0 } },
	{ "1", 2, ZM_MATCH_BEGINS, NULL, { 0 } },
	{ "1 2 a.b", 2, ZM_MATCH_NO, NULL, { 0 } },
	{ "1 +2.0% 3 word", 2, ZM_MATCH_NO, NULL, { 0 } },
	{ "28.69%  [kernel]  [k] copy.x", 2, ZM_MATCH_NO, NULL, { 0 } },
	{ "a.b 1 +2% 3", 2, ZM_MATCH_NO, NULL, { 0 } },
	{ "", 2, ZM_MATCH_NO, NULL, { 0 } },
};

static bool is_same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

static void test_rows(void **state)
{
	struct zm_mail_token tokens[ZM_MAIL_TOKENS];
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *line = strdup(rows[i].line);
		size_t nr = zm_report_table_tokens(line, tokens, ZM_MAIL_TOKENS), used = 0;
		unsigned int nr_columns = 0;

		assert_int_equal(zm_report_table_match(tokens, nr, rows[i].nr_columns, cells,
						       &nr_columns, &used),
				 rows[i].match);
		if (rows[i].match == ZM_MATCH_WHOLE) {
			assert_int_equal(tokens[used - 1].length, strlen(rows[i].metric));
			assert_memory_equal(tokens[used - 1].text, rows[i].metric,
					    strlen(rows[i].metric));
			assert_true(is_same(cells[0].value, rows[i].values[0]));
			assert_true(is_same(cells[0].stddev, rows[i].values[1]));
			assert_true(is_same(cells[1].change, rows[i].values[2]));
			assert_true(is_same(cells[1].value, rows[i].values[3]));
			assert_true(is_same(cells[1].stddev, rows[i].values[4]));
		}
		free(line);
	}
}

static void test_fails(void **state)
{
	char line[] =
		"          :4           25%           1:4      -12%  :6 dmesg.WARNING:at_mm/x.c";
	struct zm_mail_token tokens[ZM_MAIL_TOKENS];
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS];
	size_t nr = zm_report_table_tokens(line, tokens, ZM_MAIL_TOKENS), used;
	unsigned int nr_columns;

	(void)state;
	assert_int_equal(zm_report_table_match(tokens, nr, 3, cells, &nr_columns, &used),
			 ZM_MATCH_WHOLE);
	assert_int_equal(nr_columns, 3);
	assert_true(cells[0].value == 0 && cells[0].runs == 4);
	assert_true(cells[1].value == 1 && cells[1].runs == 4 && cells[1].change == 25);
	assert_true(cells[2].value == 0 && cells[2].runs == 6 && cells[2].change == -12);
}

/* Signed numbers without end are looked at a bounded number of times. */
static void test_hostile(void **state)
{
	struct zm_mail_token tokens[ZM_MAIL_TOKENS];
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS];
	char line[1024] = "";
	unsigned int nr_columns;
	size_t used;

	(void)state;
	while (strlen(line) < sizeof(line) - 16)
		(void)snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s",
			       "-1% -1 -1 ");
	for (unsigned int i = 0; i < 1000; i++) {
		size_t nr = zm_report_table_tokens(line, tokens, ZM_MAIL_TOKENS);

		assert_int_equal(zm_report_table_match(tokens + 1, nr - 1, i % 17, cells,
						       &nr_columns, &used),
				 ZM_MATCH_NO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_numbers_elsewhere),
		cmocka_unit_test(test_rows),    cmocka_unit_test(test_fails),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
