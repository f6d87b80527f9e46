/* fold: chains by address become lines of names, each line once, and every sample is in one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "runner/monitors/fold.h"

static struct zm_ksym symbols[] = {
	{ 0x1000, "leaf" },
	{ 0x2000, "middle" },
	{ 0x3000, "outer" },
	{ 0x4000, "odd name;x" },
};
static const struct zm_ksyms ksyms = { .list = symbols, .nr = 4 };

static void test_lines(void **state)
{
	static const struct zm_fold_extra extras[] = { { "[user]", 7 },
						       { "[nothing]", 0 },
						       { .frame = NULL } };
	const uint64_t chains_of[][3] = { { 0x1001, 0x2001, 0x3001 },
					  { 0x1002, 0x2005, 0x3001 }, /* other places, same names */
					  { 0x2001, 0x3001, 0x4001 },
					  { 0x0001, 0x3001, 0x3002 } };
	struct zm_chains chains;
	char *folded;

	(void)state;
	assert_int_equal(zm_chains_init(&chains, 16, 64), 0);
	for (uint64_t i = 0; i < 4; i++)
		zm_chains_add(&chains, chains_of[i], 3, i + 1);
	assert_int_equal(zm_fold(&chains, &ksyms, extras, &folded), 0);
	assert_string_equal(folded, "odd_name_x;outer;middle 3\n"
				    "outer;middle;leaf 3\n"
				    "outer;outer;[unknown] 4\n"
				    "[user] 7\n");
	free(folded);
	zm_chains_release(&chains);
}

static void test_nothing(void **state)
{
	const struct zm_chains none = { 0 };
	char *folded;

	(void)state;
	assert_int_equal(zm_fold(&none, &ksyms, NULL, &folded), 0);
	assert_string_equal(folded, "");
	free(folded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
