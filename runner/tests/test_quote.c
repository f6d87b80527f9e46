/* quote: a shell makes the same words of it again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "runner/quote.h"

static void test_words(void **state)
{
	static const struct {
		const char *word, *quoted;
	} rows[] = {
		{ "make", "make" },
		{ "-j8", "-j8" },
		{ "a=b,c:50%", "a=b,c:50%" },
		{ "", "''" },
		{ "two words", "'two words'" },
		{ "it's", "'it'\\''s'" },
		{ "$HOME", "'$HOME'" },
		{ "*", "'*'" },
		{ "~", "'~'" },
		{ "line\nend", "'line\nend'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *line = zm_quote_line(&rows[i].word, 1);

		assert_non_null(line);
		assert_string_equal(line, rows[i].quoted);
		free(line);
	}
}

static void test_line(void **state)
{
	static const char *const words[] = { "sh", "-c", "exit 3" };
	char *line = zm_quote_line(words, 3);

	(void)state;
	assert_non_null(line);
	assert_string_equal(line, "sh -c 'exit 3'");
	free(line);
	line = zm_quote_line(words, 0);
	assert_non_null(line);
	assert_string_equal(line, "");
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
