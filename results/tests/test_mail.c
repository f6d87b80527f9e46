/* mail: which parts a mail has, by cases; depth, number and size have an end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/mail.h"

static const struct {
	const char *bytes;
	const char *subject;
	const char *parts[6]; /* name, text; "" is no name */
} cases[] = {
	{ "just a text\n", NULL, { NULL, "just a text\n" } },
	{ "commit: abc\nmode: x\n\nmore", NULL, { NULL, "commit: abc\nmode: x\n\nmore" } },
	{ "Subject: s\n\nbody", "s", { NULL, "body" } },
	{ "From x@y Tue\nFrom: a\nSubject: s\n  folded\n\nbody", "s folded", { NULL, "body" } },
	{ "From: a\nContent-Transfer-Encoding: quoted-printable\n\na=3Db", NULL, { NULL, "a=b" } },
	{ "From: a\nContent-Transfer-Encoding: BASE64\n\nYQpi", NULL, { NULL, "a\nb" } },
	{ "From: a\r\nSubject: s\r\n\r\nb\r\n", "s", { NULL, "b\r\n" } },
	{ "From: a\nContent-Type: text/plain; charset=iso-8859-1\n\n\xb1",
	  NULL,
	  { NULL, "\xc2\xb1" } },
	{ "From: a\nContent-Type: multipart/mixed; boundary=X\n\npre\n--X\n\none\n--X\n"
	  "Content-Type: text/plain; name=job.yaml\n\ntwo\n--X--\npost",
	  NULL,
	  { NULL, "one\n", "job.yaml", "two\n" } },
	{ "From: a\nContent-Type: multipart/alternative; boundary=X\n\n--X\n\none\n--X\n"
	  "Content-Type: text/html\n\n<b>two</b>\n--X--\n",
	  NULL,
	  { NULL, "one\n" } },
	{ "From: a\nContent-Type: text/html\n\n<p>a&lt;b&amp;c&plusmn;<br/>d</p>",
	  NULL,
	  { NULL, "\na<b&c~\nd\n" } },
	{ "From: a\nContent-Type: text/html\n\na < b < c", NULL, { NULL, "a < b < c" } },
	{ "From: a\nContent-Type: multipart/mixed; boundary=X\n\n--X\n"
	  "Content-Type: message/rfc822\n\nSubject: inner\nFrom: b\n\nin it\n--X--\n",
	  "inner",
	  { NULL, "in it\n" } },
	{ "From: a\nContent-Type: multipart/mixed; boundary=X\n\n--X\n"
	  "Content-Type: application/x-xz\nContent-Transfer-Encoding: "
	  "base64\n\nYQ==\n--X\n\nb\n--X--\n",
	  NULL,
	  { NULL, "b\n" } },
	{ "From: a\nContent-Type: multipart/mixed\n\nno border", NULL, { NULL, "no border" } },
	{ "=3D=3D=3D=3D=3D=3D=3D=\n=3D undecoded", NULL, { NULL, "======== undecoded" } },
	{ "a\033[2Jb\x7f\xc2\x9b\fc\td", NULL, { NULL, "a?[2Jb???c\td" } },
	{ "From: a\nSubject: a\033b\n\nx", "a?b", { NULL, "x" } },
	{ "nr_task=16 stays", NULL, { NULL, "nr_task=16 stays" } },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_mail mail;
		size_t nr = 0;

		assert_int_equal(zm_mail_read(cases[i].bytes, strlen(cases[i].bytes), &mail, NULL),
				 0);
		if (cases[i].subject)
			assert_string_equal(mail.subject, cases[i].subject);
		else
			assert_null(mail.subject);
		for (; nr < 3 && cases[i].parts[2 * nr + 1]; nr++) {
			assert_true(nr < mail.nr_parts);
			assert_string_equal(mail.parts[nr].text, cases[i].parts[2 * nr + 1]);
			assert_int_equal(mail.parts[nr].length, strlen(mail.parts[nr].text));
			if (cases[i].parts[2 * nr])
				assert_string_equal(mail.parts[nr].name, cases[i].parts[2 * nr]);
			else
				assert_null(mail.parts[nr].name);
		}
		assert_int_equal(mail.nr_parts, nr);
		zm_mail_release(&mail);
	}
}

static void test_empty(void **state)
{
	struct zm_mail mail;

	(void)state;
	assert_int_equal(zm_mail_read("", 0, &mail, NULL), 0);
	assert_int_equal(mail.nr_parts, 0);
	zm_mail_release(&mail);
	zm_mail_release(&mail);
}

/* A mail within a mail within a mail…, and one with thousands of parts. */
static void test_bounds(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct zm_mail mail;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		(void)fprintf(out,
			      "From: a\nContent-Type: multipart/mixed; boundary=X%u\n\n--X%u\n", i,
			      i);
	(void)fclose(out);
	assert_int_equal(zm_mail_read(text, size, &mail, NULL), 0);
	zm_mail_release(&mail);
	free(text);

	out = open_memstream(&text, &size);
	(void)fputs("From: a\nContent-Type: multipart/mixed; boundary=X\n\n", out);
	for (unsigned int i = 0; i < 5000; i++)
		(void)fputs("--X\n\npart\n", out);
	(void)fclose(out);
	assert_int_equal(zm_mail_read(text, size, &mail, NULL), 0);
	assert_int_equal(mail.nr_parts, ZM_MAIL_PARTS);
	zm_mail_release(&mail);
	free(text);
}

static void test_too_large(void **state)
{
	size_t size = ZM_MAIL_BYTES + 1;
	char *text = calloc(1, size);
	struct zm_why why;
	struct zm_mail mail;

	(void)state;
	assert_non_null(text);
	assert_int_equal(zm_mail_read(text, size, &mail, &why), -EFBIG);
	assert_non_null(strstr(why.text, "32 MiB"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
