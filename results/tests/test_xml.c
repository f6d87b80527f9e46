/* xml: nothing that a text holds ends an element or an attribute. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "results/xml.h"

static void every_mark_is_escaped(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "", "" },
		{ NULL, "" },
		{ "a b-c.%", "a b-c.%" },
		{ "<script>", "&lt;script&gt;" },
		{ "a&amp;b", "a&amp;amp;b" },
		{ "\"x' onload=", "&quot;x&#39; onload=" },
		{ "\x1b[31m\x01\n", "?[31m??" },
		{ "µs", "µs" },
		{ "\xff\xc0\x80", "\uFFFD\uFFFD\uFFFD" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		assert_non_null(out);
		zm_xml_text(out, cases[i].text);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(text, cases[i].wanted);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_mark_is_escaped) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
