/* fields: names and numbers of any line, and nothing of what is none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "runner/monitors/fields.h"
#include "workloads/sample.h"

static const struct {
	const char *line;
	unsigned int skip_words;
	const char *name; /* NULL: it is no field */
	uint64_t value;
	const char *unit;
	uint32_t flags;
} lines[] = {
	{ "MemTotal:       24686576 kB", 0, "MemTotal", 24686576, "kB", 0 },
	{ "nr_free_pages 5871234", 0, "nr_free_pages", 5871234, "", 0 },
	{ "Node 0 MemFree:  1234 kB", 2, "MemFree", 1234, "kB", 0 },
	{ "  \tHugePages_Total:\t3 \r", 0, "HugePages_Total", 3, "", 0 },
	{ "Active(anon): 0 kB", 0, "Active(anon)", 0, "kB", 0 },
	{ "a 18446744073709551615", 0, "a", UINT64_MAX, "", 0 },
	{ "a 18446744073709551616", 0, "a", UINT64_MAX, "", ZM_FLAG_SATURATED },
	{ "a 99999999999999999999999999999999", 0, "a", UINT64_MAX, "", ZM_FLAG_SATURATED },
	{ "a 007", 0, "a", 7, "", 0 },
	{ "intr 5 6 7", 0, "intr", 5, "6", 0 },
	{ "", 0, NULL, 0, NULL, 0 },
	{ "   ", 0, NULL, 0, NULL, 0 },
	{ "name", 0, NULL, 0, NULL, 0 },
	{ "name:", 0, NULL, 0, NULL, 0 },
	{ ": 5", 0, NULL, 0, NULL, 0 },
	{ "name -5", 0, NULL, 0, NULL, 0 },
	{ "name 5.5", 0, NULL, 0, NULL, 0 },
	{ "name 5kB", 0, NULL, 0, NULL, 0 },
	{ "name 0x5", 0, NULL, 0, NULL, 0 },
	{ "        total:    used:", 0, NULL, 0, NULL, 0 },
	{ "protection: (0, 2, 3)", 0, NULL, 0, NULL, 0 },
	{ "Node 0 MemFree:  1234 kB", 4, NULL, 0, NULL, 0 },
	{ "Node 0 MemFree:  1234 kB", 9, NULL, 0, NULL, 0 },
};

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct zm_field field = { 0 };
		bool is_field = zm_fields_parse(lines[i].line, strlen(lines[i].line),
						lines[i].skip_words, &field);

		assert_int_equal(is_field, lines[i].name != NULL);
		if (!is_field)
			continue;
		assert_true(zm_field_is(&field, lines[i].name));
		assert_int_equal(field.value, lines[i].value);
		assert_true(zm_name_is(field.unit, field.unit_length, lines[i].unit));
		assert_int_equal(field.flags, lines[i].flags);
	}
}

/* However a text is cut, what was whole before the cut is found, and nothing else. */
static void test_every_cut(void **state)
{
	static const char text[] = "heading\n\nfirst: 11 kB\nsecond 22\nword word\nthird 33";
	static const size_t ends[] = { 17, 30, 49 }; /* of the lines' first digit */
	char cut[sizeof(text)];

	(void)state;
	for (size_t length = 0; length < sizeof(text); length++) {
		const char *at = cut;
		struct zm_field field;
		unsigned int nr_fields = 0, nr_expected = 0;

		memcpy(cut, text, length);
		cut[length] = '\0';
		for (size_t i = 0; i < 3; i++)
			nr_expected += length >= ends[i];
		while (zm_fields_next(&at, 0, &field))
			nr_fields++;
		assert_int_equal(nr_fields, nr_expected);
		assert_ptr_equal(at, cut + length);
	}
}

static void test_find(void **state)
{
	static const char text[] = "pgfault 10\nnr_free_pages 20\npgfault 11\nlast 5";
	uint64_t value = 77;

	(void)state;
	assert_false(zm_fields_find(text, 0, "pgfaul", &value));
	assert_false(zm_fields_find("", 0, "pgfault", &value));
	assert_int_equal(value, 77);
	assert_true(zm_fields_find(text, 0, "pgfault", &value));
	assert_int_equal(value, 10);
	assert_true(zm_fields_find(text, 0, "last", &value));
	assert_int_equal(value, 5);
}

static void test_words(void **state)
{
	static const char text[] = "  one\ttwo three  ";
	static const char *const words[] = { "one", "two", "three" };
	const char *at = text, *word;
	size_t length;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_true(zm_fields_next_word(&at, text + sizeof(text) - 1, &word, &length));
		assert_true(zm_name_is(word, length, words[i]));
	}
	assert_false(zm_fields_next_word(&at, text + sizeof(text) - 1, &word, &length));
	assert_true(zm_name_starts("total=5", 7, "total="));
	assert_false(zm_name_starts("tot", 3, "total="));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
