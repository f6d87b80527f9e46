/* mime: encodings by tables of cases, and what is damaged. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "results/mime.h"

static void check(struct zm_buf *buf, const char *expected)
{
	assert_int_equal(buf->error, 0);
	assert_int_equal(buf->size, strlen(expected));
	if (buf->size > 0)
		assert_memory_equal(buf->data, expected, buf->size);
	zm_buf_release(buf);
}

static void test_quoted(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "plain", "plain" },
		{ "a=3Db", "a=b" },
		{ "=C2=B1", "\xc2\xb1" },
		{ "=c2=b1", "\xc2\xb1" },
		{ "soft=\nbreak", "softbreak" },
		{ "soft=\r\nbreak", "softbreak" },
		{ "soft= \t\nbreak", "softbreak" },
		{ "end=", "end" },
		{ "nr_task=x", "nr_task=x" },
		{ "a=3", "a=3" },
		{ "==3D", "==" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_buf out = { 0 };

		zm_mime_quoted(&out, cases[i].text, strlen(cases[i].text));
		check(&out, cases[i].plain);
	}
}

static void test_base64(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zm8=", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm9vYg==", "foob" },
		{ "Zm9v\r\nYmFy\n", "foobar" },
		{ "Zm 9v!?YmFy", "foobar" },
		{ "Zg==Zg==", "ff" },
		{ "Zm9", "fo" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_buf out = { 0 };

		zm_mime_base64(&out, cases[i].text, strlen(cases[i].text));
		check(&out, cases[i].plain);
	}
}

static void test_utf8(void **state)
{
	static const struct {
		const char *text, *charset, *plain;
	} cases[] = {
		{ "abc", NULL, "abc" },
		{ "\xc2\xb1", "utf-8", "\xc2\xb1" },
		{ "\xb1", "iso-8859-1", "\xc2\xb1" },
		{ "\xb1", "iso-8859-15", "\xc2\xb1" },
		{ "\xb1", "windows-1252", "\xc2\xb1" },
		{ "\xb1", "iso-8859-2", "\xc4\x85" },
		{ "\xa4\xa2", "euc-jp", "\xe3\x81\x82" },
		{ "a\xb1z", NULL, "a\xc2\xb1z" },                  /* not UTF-8 */
		{ "\xc2\xb1 \xb1", "utf-8", "\xc2\xb1 \xc2\xb1" }, /* both */
		{ "\xb1", "no-such-charset", "\xc2\xb1" },
		{ "\xb1", "utf-8//TRANSLIT", "\xc2\xb1" },
		{ "\x93x\x94", NULL, "\xe2\x80\x9cx\xe2\x80\x9d" },
		{ "\xed\xa0\x80", NULL, "\xc3\xad\xc2\xa0\xe2\x82\xac" }, /* a surrogate */
		{ "\xc0\x80", NULL, "\xc3\x80\xe2\x82\xac" },             /* overlong */
		{ "\xf0\x9f\x98\x80", NULL, "\xf0\x9f\x98\x80" },
		{ "\xff\xfe\x41\x00\xb1\x00", NULL, NULL }, /* below */
		{ "\xef\xbb\xbfx", "utf-8", "x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_buf out = { 0 };

		if (!cases[i].plain)
			continue;
		zm_mime_utf8(&out, cases[i].text, strlen(cases[i].text), cases[i].charset);
		check(&out, cases[i].plain);
	}
}

static void test_utf16_and_nul(void **state)
{
	struct zm_buf out = { 0 };

	(void)state;
	zm_mime_utf8(&out, "\xff\xfe\x41\x00\xb1\x00", 6, NULL);
	check(&out, "A\xc2\xb1");
	out = (struct zm_buf){ 0 };
	zm_mime_utf8(&out, "a\0b", 3, NULL);
	check(&out, "a b");
}

static void test_words(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "plain text", "plain text" },
		{ "=?utf-8?q?a=C2=B1b?=", "a\xc2\xb1"
					  "b" },
		{ "=?iso-8859-1?Q?=B1_x?= y", "\xc2\xb1 x y" },
		{ "=?utf-8?B?wrE=?=", "\xc2\xb1" },
		{ "=?utf-8?q?a?= =?utf-8?q?b?=", "ab" }, /* the blank between words is none */
		{ "x =?utf-8?q?a?= y", "x a y" },
		{ "folded\n  line", "folded line" },
		{ "=?broken", "=?broken" },
		{ "=?utf-8?q?open", "=?utf-8?q?open" },
		{ "a=b", "a=b" },
		{ "=?utf-8*en?q?a?=", "a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_buf out = { 0 };

		zm_mime_words(&out, cases[i].text, strlen(cases[i].text));
		check(&out, cases[i].plain);
	}
}

static void test_parameter(void **state)
{
	static const struct {
		const char *value, *name, *expected;
	} cases[] = {
		{ "text/plain; charset=utf-8", "charset", "utf-8" },
		{ "text/plain; charset=\"utf-8\"", "charset", "utf-8" },
		{ "text/plain; format=flowed; charset=us-ascii", "charset", "us-ascii" },
		{ "multipart/mixed;\n boundary=\"=_a b\"", "boundary", "=_a b" },
		{ "x/y; name=\"a\\\"b\"", "name", "a\"b" },
		{ "x/y; CHARSET=x", "charset", "x" },
		{ "x/y", "charset", NULL },
		{ "x/y; charset", "charset", NULL },
		{ "x/y; charset=", "charset", NULL },
		{ "x/y; a=1;;b=2", "b", "2" },
		{ "x/y; charset=123456789012345678901234567890", "charset", NULL },
	};
	char buf[24];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = zm_mime_parameter(cases[i].value, cases[i].name, buf, sizeof(buf));

		assert_int_equal(found, cases[i].expected != NULL);
		if (found)
			assert_string_equal(buf, cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quoted), cmocka_unit_test(test_base64),
		cmocka_unit_test(test_utf8),   cmocka_unit_test(test_utf16_and_nul),
		cmocka_unit_test(test_words),  cmocka_unit_test(test_parameter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
