/* mail_text: quotes come off, and a line that once was many is many again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "results/mail_text.h"

#define RULE "========================================================="

static const struct {
	const char *text;
	const char *lines[12];
	unsigned int depth; /* of the first */
} cases[] = {
	{ "a\nb\n", { "a", "b" }, 0 },
	{ "a\r\nb", { "a", "b" }, 0 },
	{ "\n\n", { "", "" }, 0 },
	{ "> a", { "a" }, 1 },
	{ ">a", { "a" }, 1 },
	{ "> > a", { "a" }, 2 },
	{ ">>> a", { "a" }, 3 },
	{ "> >>> > a", { "a" }, 5 },
	{ ">\ta", { "\ta" }, 1 },
	{ "> \ta", { "\ta" }, 1 },
	{ ">> \truntime: 300s", { "\truntime: 300s" }, 2 },
	{ " > no quote", { " > no quote" }, 0 },
	{ "a > b", { "a > b" }, 0 },
	{ ">", { "" }, 1 },
	{ RULE, { RULE }, 0 },
	{ "x " RULE " mode/testcase: process/netperf y",
	  { "x", RULE, "mode/testcase:", "process/netperf y" },
	  0 },
	{ "mode/test/testcase: thread/brk1/will-it-scale commit: 0123456789ab (\"t u\") v6.1 z",
	  { "mode/test/testcase:", "thread/brk1/will-it-scale",
	    "commit:", "0123456789ab (\"t u\") v6.1 z" },
	  0 },
	{ "aaaa bbbb ---------------- --------------------------- %stddev %change %stddev \\ | \\ "
	  "1 "
	  "+2.0% 3 x.y 4 \xc2\xb1 5% -6.0 7 \xc2\xb1 8% z.w",
	  { "aaaa bbbb", "---------------- ---------------------------",
	    "%stddev %change %stddev \\ | \\", "1 +2.0% 3 x.y",
	    "4 \xc2\xb1 5% -6.0 7 \xc2\xb1 8% z.w" },
	  0 },
	{ "testcase: netperf test machine: 4 threads with 1G memory parameters: ip: ipv4 test: X "
	  "text goes "
	  "on here",
	  { "testcase: netperf", "test machine: 4 threads with 1G memory",
	    "parameters:", "ip: ipv4", "test: X", "text goes on here" },
	  0 },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *copy = strdup(cases[i].text);
		struct zm_mail_text text;
		size_t nr = 0;

		assert_int_equal(zm_mail_text_read(copy, &text), 0);
		for (; cases[i].lines[nr]; nr++) {
			assert_true(nr < text.nr_lines);
			assert_string_equal(text.lines[nr].text, cases[i].lines[nr]);
			assert_int_equal(text.lines[nr].length, strlen(cases[i].lines[nr]));
		}
		assert_int_equal(text.nr_lines, nr);
		assert_int_equal(text.lines[0].depth, cases[i].depth);
		zm_mail_text_release(&text);
		free(copy);
	}
}

static void test_keys(void **state)
{
	static const struct {
		const char *word;
		bool is;
	} words[] = {
		{ "mode/testcase:", true }, { "testcase/mode:", true },
		{ "a/testcase/b:", true },  { "testcase:", false },
		{ "a/mytestcase:", false }, { "a/testcases:", false },
		{ "a/testcase", false },    { "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_int_equal(zm_mail_is_keys(words[i].word, strlen(words[i].word)),
				 words[i].is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
