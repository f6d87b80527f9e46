/* why: what is kept of a sentence that is too long, and of its reason. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "workloads/base/why.h"

#define MAX_LENGTH (ZM_WHY_SIZE - 1)

static void returns_the_error_and_keeps_errno(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	errno = EDOM;
	assert_int_equal(zm_why_set(&why, -EINVAL, "nr_task=%d: at least one", 0), -EINVAL);
	assert_string_equal(why.text, "nr_task=0: at least one");
	assert_int_equal(zm_why_errno(&why, -ENOSPC, "cannot write %s", "x.db"), -ENOSPC);
	assert_string_equal(why.text, "cannot write x.db: No space left on device");
	assert_int_equal(zm_why_errno(&why, -123456, "odd"), -123456);
	assert_string_equal(why.text, "odd: error -123456");
	assert_int_equal(errno, EDOM);
}

static void null_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(zm_why_set(NULL, -EINVAL, "%s", "dropped"), -EINVAL);
	assert_int_equal(zm_why_errno(NULL, -EIO, "dropped"), -EIO);
	zm_why_prefix(NULL, "dropped");
}

/* A sentence of `lead` plain bytes, then characters of several bytes to beyond the end. */
static void fill(char *text, size_t size, size_t lead, const char *character)
{
	size_t length = strlen(character), at = lead;

	memset(text, 'a', lead);
	for (; at + length < size; at += length)
		memcpy(text + at, character, length);
	text[at] = '\0';
}

static void is_cut_between_characters(void **state)
{
	static const char *const characters[] = { "x", "\xc3\xa4", "\xe2\x82\xac",
						  "\xf0\x9f\x98\x80" };
	char text[2 * ZM_WHY_SIZE];
	struct zm_why why;

	(void)state;
	for (size_t c = 0; c < sizeof(characters) / sizeof(characters[0]); c++) {
		size_t length = strlen(characters[c]);

		for (size_t lead = 0; lead < 5; lead++) {
			fill(text, sizeof(text), lead, characters[c]);
			zm_why_set(&why, -1, "%s", text);
			assert_true(strlen(why.text) <= MAX_LENGTH);
			assert_true(strlen(why.text) > MAX_LENGTH - length);
			assert_int_equal((strlen(why.text) - lead) % length, 0);
			assert_memory_equal(why.text, text, strlen(why.text));
		}
	}
}

static void broken_characters_are_cut_too(void **state)
{
	char text[2 * ZM_WHY_SIZE];
	struct zm_why why;

	(void)state;
	memset(text, 0x80, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	zm_why_set(&why, -1, "%s", text);
	assert_int_equal(strlen(why.text), MAX_LENGTH);
}

static void the_length_that_just_fits_is_kept(void **state)
{
	char text[ZM_WHY_SIZE];
	struct zm_why why;

	(void)state;
	fill(text, sizeof(text), 0, "y");
	assert_int_equal(strlen(text), MAX_LENGTH);
	zm_why_set(&why, -1, "%s", text);
	assert_string_equal(why.text, text);
}

static void the_reason_survives_a_long_sentence(void **state)
{
	static const char reason[] = ": Permission denied";
	char text[2 * ZM_WHY_SIZE];
	struct zm_why why;

	(void)state;
	fill(text, sizeof(text), 1, "\xc3\xa4");
	zm_why_errno(&why, -EACCES, "%s", text);
	assert_true(strlen(why.text) >= MAX_LENGTH - 1);
	assert_string_equal(why.text + strlen(why.text) - strlen(reason), reason);
}

static void it_stays_one_harmless_line(void **state)
{
	struct zm_why why;

	(void)state;
	zm_why_set(&why, -1, "%s", "size=1\n2\t\x1b[31m\x7f: not a size");
	assert_string_equal(why.text, "size=1?2??[31m?: not a size");
}

static void a_sentence_may_hold_the_old_one(void **state)
{
	struct zm_why why;

	(void)state;
	zm_why_set(&why, -1, "inner");
	zm_why_set(&why, -1, "outer (%s)", why.text);
	assert_string_equal(why.text, "outer (inner)");
	zm_why_prefix(&why, "run %d", 7);
	assert_string_equal(why.text, "run 7: outer (inner)");
	for (int i = 0; i < 200; i++)
		zm_why_prefix(&why, "again");
	assert_int_equal(strlen(why.text), MAX_LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_the_error_and_keeps_errno),
		cmocka_unit_test(null_is_allowed),
		cmocka_unit_test(is_cut_between_characters),
		cmocka_unit_test(broken_characters_are_cut_too),
		cmocka_unit_test(the_length_that_just_fits_is_kept),
		cmocka_unit_test(the_reason_survives_a_long_sentence),
		cmocka_unit_test(it_stays_one_harmless_line),
		cmocka_unit_test(a_sentence_may_hold_the_old_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
