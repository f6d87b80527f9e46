/* table: every name finds its own series, in any order, once per round. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/monitors/table.h"

#define NR_NAMES 5000

static void print_name(char *buf, size_t size, unsigned int i)
{
	(void)snprintf(buf, size, "name_%u", i / 2);
}

/* Two groups of 2,500 names. */
static void fill(struct zm_table *table)
{
	char name[32];

	for (unsigned int i = 0; i < NR_NAMES; i++) {
		print_name(name, sizeof(name), i);
		assert_int_equal(zm_table_add(table, i % 2, name, strlen(name), i), 0);
		assert_int_equal(zm_table_add(table, i % 2, name, strlen(name), 7), -EEXIST);
	}
}

static void find_all(struct zm_table *table, unsigned int step)
{
	char name[32];

	zm_table_begin(table);
	for (unsigned int k = 0, i = 0; k < NR_NAMES; k++, i = (i + step) % NR_NAMES) {
		const struct zm_table_row *row;

		print_name(name, sizeof(name), i);
		row = zm_table_find(table, i % 2, name, strlen(name));
		assert_non_null(row);
		assert_int_equal(row->series, i);
		assert_null(zm_table_find(table, i % 2, name, strlen(name)));
	}
}

static void test_every_order(void **state)
{
	static const unsigned int steps[] = { 1, NR_NAMES - 1, 7, 1999 };
	struct zm_table table = { 0 };

	(void)state;
	fill(&table);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		find_all(&table, steps[i]);
	zm_table_release(&table);
}

static void test_unknown_names(void **state)
{
	static const char *const unknown[] = { "", "name_", "name_99999", "name_1 " };
	struct zm_table table = { 0 };

	(void)state;
	assert_null(zm_table_find(&table, 0, "name_1", 6));
	fill(&table);
	zm_table_begin(&table);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_null(zm_table_find(&table, 0, unknown[i], strlen(unknown[i])));
	assert_null(zm_table_find(&table, 2, "name_1", 6));
	assert_non_null(zm_table_find(&table, 0, "name_1", 6));
	zm_table_release(&table);
	zm_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_order),
		cmocka_unit_test(test_unknown_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
