/* test_emit: whatever a text holds, it comes out as a literal that means it, and no mark of HTML is left. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/utf8.h"
#include "results/web/emit.h"

static const char *const texts[] = {
	"",
	"plain",
	"</script><script>alert(1)</script>",
	"<!-- <img src=x onerror=alert(1)>",
	"\"'`\\ & ; ${x}",
	"line\nfeed\ttab\r\x01\x1b[31m",
	"\xe2\x80\xa8\xe2\x80\xa9 separators", /* U+2028, U+2029 */
	"gr\xc3\xb6\xc3\x9f\x65 \xf0\x9f\x90\xa7",
	"\xff\xc0\xaf broken \xed\xa0\x80",
};

static char *emitted(void (*emit)(FILE *out, const char *text), const char *text)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	assert_non_null(out);
	emit(out, text);
	assert_int_equal(fclose(out), 0);
	return bytes;
}

static void texts_are_literals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *literal = emitted(zm_emit_text, texts[i]), *valid = zm_utf8_valid(texts[i]);
		json_t *value = json_loads(literal, JSON_DECODE_ANY, NULL);

		assert_non_null(value);
		assert_string_equal(json_string_value(value), valid);
		assert_null(strpbrk(literal, "<>&\n\r"));
		for (const char *at = literal; *at; at++)
			assert_in_range(*at, ' ', '~');
		json_decref(value);
		free(literal);
		free(valid);
	}
}

static void no_text_is_null(void **state)
{
	char *literal = emitted(zm_emit_text, NULL);

	(void)state;
	assert_string_equal(literal, "null");
	free(literal);
}

static void html_has_no_marks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *html = emitted(zm_emit_html, texts[i]);

		assert_null(strpbrk(html, "<>\"'\n\r\x01\x1b"));
		free(html);
	}
}

static void numbers_are_numbers(void **state)
{
	static const double values[] = { 0,     1,       -3,   95000, 0.1,        1.0 / 3,
					 1e300, -2.5e-9, 1e14, 1e15,  123456.7891 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *bytes = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&bytes, &size);

		zm_emit_number(out, values[i]);
		assert_int_equal(fclose(out), 0);
		assert_true(fabs(strtod(bytes, NULL) - values[i]) <= 1e-8 * fabs(values[i]));
		free(bytes);
	}
}

static void no_number_is_null(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *bytes = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&bytes, &size);

		zm_emit_number(out, values[i]);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(bytes, "null");
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_literals), cmocka_unit_test(no_text_is_null),
		cmocka_unit_test(html_has_no_marks),  cmocka_unit_test(numbers_are_numbers),
		cmocka_unit_test(no_number_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
