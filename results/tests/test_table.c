/* table: columns stand below each other whatever is in them, and fit the terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/table.h"
#include "results/utf8.h"

static const struct zm_column columns[] = {
	{ .title = "name", .may_be_cut = true },
	{ .title = "value", .is_right = true },
	{ .title = "never" },
	{ .title = "unit" },
};

static char *print(const struct zm_table *table, size_t width)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(zm_table_print(table, out, width, "  "), 0);
	(void)fclose(out);
	return text;
}

static struct zm_table *make_table(void)
{
	struct zm_table *table = zm_table_new(columns, 4);

	zm_table_cell(table, "%s",
		      "gr\xc3\xbc\xc3\x9f"
		      "e");
	zm_table_figure(table, 12.5);
	zm_table_cell(table, "%s", "");
	zm_table_cell(table, "%s", "pages/s");
	zm_table_cell(table, "%s", "a name that is much longer than the others\x1b");
	zm_table_figure(table, NAN);
	zm_table_cell(table, "%s", "");
	zm_table_cell(table, "%s", "");
	return table;
}

static void cells_stand_in_columns(void **state)
{
	struct zm_table *table = make_table();
	char *text = print(table, 0);

	(void)state;
	assert_string_equal(text, "  name                                         value  unit\n"
				  "  gr\xc3\xbc\xc3\x9f"
				  "e                                        12.50  pages/s\n"
				  "  a name that is much longer than the others?\n");
	assert_int_equal(zm_table_nr_rows(table), 2);
	free(text);
	zm_table_free(table);
}

static void tables_fit_the_terminal(void **state)
{
	struct zm_table *table = make_table();

	(void)state;
	for (size_t width = 34; width < 70; width++) {
		char *text = print(table, width);
		char *rest = text;

		for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
			assert_true(zm_utf8_width(line) <= width);
		free(text);
	}
	zm_table_free(table);
}

static void an_empty_table_prints_nothing(void **state)
{
	struct zm_table *table = zm_table_new(columns, 4);
	char *text = print(table, 80);

	(void)state;
	assert_string_equal(text, "");
	free(text);
	zm_table_free(table);
	zm_table_free(NULL);
	zm_table_cell(NULL, "%s", "");
}

static void numbers_have_four_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ -3, "-3" },
		{ 301245, "301245" },
		{ 301245.4, "301245" },
		{ 1234.56, "1235" },
		{ 123.456, "123.5" },
		{ 9.87654, "9.877" },
		{ 0.5, "0.5000" },
		{ 0.012345, "0.01235" },
		{ 1.5e-7, "1.500e-07" },
		{ 2.5e15, "2.500e+15" },
		{ -0.25, "-0.2500" },
		{ NAN, "" },
		{ 0.001, "0.001000" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(zm_table_number(text, sizeof(text), cases[i].value),
				    cases[i].text);
}

static void shares_are_percent(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(zm_table_percent(text, sizeof(text), 0.123), "12.3%");
	assert_string_equal(zm_table_percent(text, sizeof(text), 0.00049), "0.05%");
	assert_string_equal(zm_table_percent(text, sizeof(text), -0.5), "-50.0%");
	assert_string_equal(zm_table_percent(text, sizeof(text), NAN), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_stand_in_columns),
		cmocka_unit_test(tables_fit_the_terminal),
		cmocka_unit_test(an_empty_table_prints_nothing),
		cmocka_unit_test(numbers_have_four_digits),
		cmocka_unit_test(shares_are_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
