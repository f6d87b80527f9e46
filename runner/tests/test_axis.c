/* axis: what a list of values is read as, and what the combinations of several are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/axis.h"

static const struct {
	const char *word;
	bool has_ranges;
	const char *values; /* with | between them */
} good[] = {
	{ "a=1", true, "1" },
	{ "a=1,25%,100%", true, "1|25%|100%" },
	{ "a=1-4", true, "1|2|3|4" },
	{ "a=7-7,9", true, "7|9" },
	{ "a=1-4", false, "1-4" },
	{ "a=0x1-0x3", true, "1|2|3" },
	{ "a=", false, "" },
	{ "a=,", false, "|" },
	{ "a=x\\,y,z", false, "x,y|z" },
	{ "a=x\\y", false, "x\\y" },
	{ "sysctl.vm.swappiness=1,60", false, "1|60" },
	{ "a=b=c", false, "b=c" },
	{ "a=-5", true, "-5" },
	{ "a=5-", true, "5-" },
};

static void check_values(const struct zm_axis *axis, const char *expected)
{
	char joined[256] = "";

	for (size_t i = 0; i < axis->nr_values; i++) {
		size_t length = strlen(joined);

		(void)snprintf(joined + length, sizeof(joined) - length, "%s%s", i ? "|" : "",
			       axis->values[i]);
	}
	assert_string_equal(joined, expected);
}

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct zm_axis axis;
		struct zm_why why;

		assert_int_equal(zm_axis_parse(good[i].word, good[i].has_ranges, &axis, &why), 0);
		check_values(&axis, good[i].values);
		zm_axis_release(&axis);
	}
}

static const struct {
	const char *word;
	int error;
	const char *says;
} bad[] = {
	{ "=1", -EINVAL, "NAME=VALUE" },
	{ "word", -EINVAL, "NAME=VALUE" },
	{ "a=4-1", -EINVAL, "from the smaller to the larger" },
	{ "a=1-5000", -ERANGE, "more than 4096 values" },
	{ "a=0-18446744073709551615", -ERANGE, "more than 4096 values" },
	{ "a=1-3000,1-3000", -ERANGE, "more than 4096 values" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zm_axis axis = { .nr_values = 77 };
		struct zm_why why;

		assert_int_equal(zm_axis_parse(bad[i].word, true, &axis, &why), bad[i].error);
		assert_non_null(strstr(why.text, bad[i].says));
		assert_int_equal(axis.nr_values, 77);
	}
}

static void put(struct zm_axes *axes, const char *word)
{
	struct zm_axis axis;

	assert_int_equal(zm_axis_parse(word, true, &axis, NULL), 0);
	assert_int_equal(zm_axes_put(axes, &axis), 0);
}

static void test_combinations(void **state)
{
	static const char *const expected[] = { "1x", "1y", "2x", "2y", "3x", "3y" };
	struct zm_axes axes = { 0 }, copy = { 0 };

	(void)state;
	assert_int_equal(zm_axes_count(&axes), 1);
	put(&axes, "n=9");
	put(&axes, "s=x,y");
	put(&axes, "n=1-3"); /* replaces, in its place */
	assert_int_equal(zm_axes_copy(&copy, &axes), 0);
	zm_axes_release(&axes);
	assert_int_equal(copy.nr, 2);
	assert_int_equal(zm_axes_count(&copy), 6);
	for (size_t i = 0; i < 6; i++) {
		char both[8];

		(void)snprintf(both, sizeof(both), "%s%s", zm_axes_value(&copy, i, 0),
			       zm_axes_value(&copy, i, 1));
		assert_string_equal(both, expected[i]);
	}
	assert_non_null(zm_axes_find(&copy, "s"));
	assert_null(zm_axes_find(&copy, "t"));
	zm_axes_release(&copy);
}

static void test_too_many_combinations(void **state)
{
	struct zm_axes axes = { 0 };

	(void)state;
	for (char name = 'a'; name <= 'f'; name++) {
		char word[16];

		(void)snprintf(word, sizeof(word), "%c=1-4000", name);
		put(&axes, word);
	}
	assert_int_equal(zm_axes_count(&axes), 0);
	zm_axes_release(&axes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_too_many_combinations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
