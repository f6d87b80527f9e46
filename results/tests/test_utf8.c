/* utf8: what is UTF-8 stays, what is not becomes U+FFFD, nothing moves a cursor. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "results/utf8.h"
#include "workloads/base/random.h"

#define BAD "\xef\xbf\xbd"

static void texts_become_printable(void **state)
{
	static const struct {
		const char *text, *printable;
		size_t width;
	} cases[] = {
		{ "", "", 0 },
		{ "plain", "plain", 5 },
		{ "gr\xc3\xbc\xc3\x9f"
		  "e",
		  "gr\xc3\xbc\xc3\x9f"
		  "e",
		  5 },
		{ "\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac", 4 },
		{ "e\xcc\x81", "e\xcc\x81", 1 },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 2 },
		{ "\x1b[31mred\n", "?[31mred?", 9 },
		{ "\xc2\x9b"
		  "31m",
		  "?31m", 4 }, /* a C1 control */
		{ "a\xe2\x80\xae"
		  "b",
		  "a?b", 3 }, /* turns the direction */
		{ "\xff", BAD, 1 },
		{ "\xc3", BAD, 1 },
		{ "\xc0\xaf", BAD BAD, 2 }, /* overlong */
		{ "\xe0\x80\xaf", BAD BAD BAD, 3 },
		{ "\xed\xa0\x80", BAD BAD BAD, 3 }, /* a surrogate */
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD, 4 },
		{ "\xe6\x97x", BAD BAD "x", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *printable = zm_utf8_printable(cases[i].text);

		assert_string_equal(printable, cases[i].printable);
		assert_int_equal(zm_utf8_width(printable), cases[i].width);
		free(printable);
	}
}

static void valid_texts_keep_their_controls(void **state)
{
	char *valid = zm_utf8_valid("a\x1b\n\xff");

	(void)state;
	assert_string_equal(valid, "a\x1b\n" BAD);
	free(valid);
}

static void cuts_fall_between_characters(void **state)
{
	static const struct {
		const char *text;
		size_t columns, bytes;
	} cases[] = {
		{ "abc", 2, 2 },           { "abc", 9, 3 },        { "\xe6\x97\xa5x", 1, 0 },
		{ "\xe6\x97\xa5x", 2, 3 }, { "e\xcc\x81x", 1, 3 }, { "", 5, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(zm_utf8_cut(cases[i].text, cases[i].columns), cases[i].bytes);
}

/* Whatever the bytes: what comes out is UTF-8 (making it so again changes nothing) and has no control
 * character. */
static void any_bytes_become_utf8(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 21, 0);
	for (size_t round = 0; round < 20000; round++) {
		char text[24];
		size_t length = zm_random_below(&random, sizeof(text));
		char *once, *twice;

		for (size_t i = 0; i < length; i++)
			text[i] = (char)(1 + zm_random_below(&random, 255));
		text[length] = '\0';
		once = zm_utf8_printable(text);
		twice = zm_utf8_valid(once);
		assert_string_equal(once, twice);
		for (const char *at = once; *at; at++)
			assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
		free(once);
		free(twice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_printable),
		cmocka_unit_test(valid_texts_keep_their_controls),
		cmocka_unit_test(cuts_fall_between_characters),
		cmocka_unit_test(any_bytes_become_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
