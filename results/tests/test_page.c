/* page: any text is text, pictures are what went in, tables have their rows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/page.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* What is written between opening and closing. */
struct written {
	char *text;
	size_t length;
	FILE *out;
};

static FILE *written_open(struct written *written)
{
	written->out = open_memstream(&written->text, &written->length);
	assert_non_null(written->out);
	return written->out;
}

static void written_is(struct written *written, const char *wanted)
{
	assert_int_equal(fclose(written->out), 0);
	assert_string_equal(written->text, wanted);
	free(written->text);
}

static void texts_are_never_markup(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "", "" },
		{ NULL, "" },
		{ "a b", "a b" },
		{ "<script>alert('1')</script>",
		  "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;" },
		{ "\" onload=\"x", "&quot; onload=&quot;x" },
		{ "&lt;", "&amp;lt;" },
		{ "a\nb\033[2J", "a?b?[2J" },
		{ "\xc3\xa4", "\xc3\xa4" },
		{ "\xff<", "\xef\xbf\xbd&lt;" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct written written;

		zm_page_text(written_open(&written), cases[i].text);
		written_is(&written, cases[i].wanted);
	}
}

/* RFC 4648, section 10. */
static void pictures_are_base64(void **state)
{
	static const struct {
		const char *bytes, *wanted;
	} cases[] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct written written;
		char wanted[256];

		zm_page_picture(written_open(&written), cases[i].bytes, strlen(cases[i].bytes),
				"a < b");
		(void)snprintf(
			wanted, sizeof(wanted),
			"<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Picture\">"
			"<img alt=\"a &lt; b\" src=\"data:image/svg+xml;base64,%s\"></div>\n",
			cases[i].wanted);
		written_is(&written, wanted);
	}
}

static void tables_have_rows(void **state)
{
	static const struct zm_column columns[] = { { .title = "a&b" },
						    { .title = "n", .is_right = true } };
	struct zm_page_table table;
	struct written written;

	(void)state;
	zm_page_table_begin(&table, written_open(&written), "c", columns, NR(columns));
	zm_page_cell(&table, "%s", "<x>");
	zm_page_figure(&table, 301245);
	zm_page_cell(&table, "%d", 2);
	zm_page_figure(&table, NAN);
	zm_page_table_end(&table);
	written_is(&written,
		   "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"c\"><table>\n"
		   "<caption>c</caption>\n"
		   "<thead><tr><th scope=\"col\">a&amp;b</th><th scope=\"col\" class=\"n\">n</th>"
		   "</tr></thead>\n<tbody>\n"
		   "<tr><td>&lt;x&gt;</td><td class=\"n\">301245</td></tr>\n"
		   "<tr><td>2</td><td class=\"n\"></td></tr>\n"
		   "</tbody></table></div>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_never_markup),
		cmocka_unit_test(pictures_are_base64),
		cmocka_unit_test(tables_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
