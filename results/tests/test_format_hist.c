/*
 * format_hist: every value is in one row, the rows follow each other, and there are few enough of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/format_hist.h"
#include "workloads/base/random.h"

static void draw(const struct zm_hist *hist, const char *unit, char **ret_text)
{
	size_t size;
	FILE *out = open_memstream(ret_text, &size);

	assert_non_null(out);
	assert_int_equal(zm_format_hist(hist, unit, 0, out), 0);
	assert_int_equal(fclose(out), 0);
}

/* Sums the third column; checks that each row begins where the one before it ended. */
static uint64_t read_back(const char *text, unsigned int *ret_nr_rows)
{
	char from[32], below[32], last_below[32] = "", share[32];
	unsigned long long values;
	uint64_t sum = 0;

	*ret_nr_rows = 0;
	for (const char *line = strchr(text, '\n'); line && line[1];
	     line = strchr(line + 1, '\n')) {
		if (sscanf(line + 1, " %31s %31s %llu %31s", from, below, &values, share) != 4)
			continue;
		if (*last_below)
			assert_string_equal(from, last_below);
		(void)snprintf(last_below, sizeof(last_below), "%s", below);
		sum += values;
		(*ret_nr_rows)++;
	}
	return sum;
}

static void test_rows(void **state)
{
	static const struct {
		uint64_t least, greatest;
	} rows[] = { { 0, 0 },       { 0, 3 },          { 1, 1 },
		     { 5, 100 },     { 1000, 1001 },    { 300, 90000 },
		     { 0, 1 << 30 }, { 0, UINT64_MAX }, { UINT64_MAX, UINT64_MAX } };
	static struct zm_hist hist;
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 7, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned int nr_rows;
		char *text = NULL;

		zm_hist_init(&hist);
		zm_hist_add(&hist, rows[i].least, 1);
		zm_hist_add(&hist, rows[i].greatest, 2);
		for (unsigned int k = 0; k < 97; k++) {
			uint64_t width = rows[i].greatest - rows[i].least;
			uint64_t value = zm_random_next(&random);

			zm_hist_add(&hist,
				    rows[i].least +
					    (width < UINT64_MAX ? value % (width + 1) : value),
				    1);
		}
		draw(&hist, "blocks", &text);
		assert_int_equal(read_back(text, &nr_rows), 100);
		assert_in_range(nr_rows, 1, 64);
		free(text);
	}
}

static void test_text(void **state)
{
	static struct zm_hist hist;
	char *text = NULL;

	(void)state;
	zm_hist_init(&hist);
	draw(&hist, "ns", &text);
	assert_string_equal(text ? text : "", "");
	free(text);
	zm_hist_add(&hist, 2000, 3);
	zm_hist_add(&hist, 2040, 1);
	draw(&hist, "ns", &text);
	assert_non_null(strstr(text, "us"));
	assert_non_null(strstr(text, "100.0%"));
	assert_non_null(strstr(text, "########################################\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
