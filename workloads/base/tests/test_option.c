/* option: every type's forms, bounds and sentences; round trips; bad rows; the nearest word. */
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

#include "workloads/base/option.h"
#include "workloads/base/tests/comma_locale.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

struct chosen {
	bool verbose;
	uint64_t count;
	double ratio;
	uint64_t size;
	uint64_t time_ns;
	struct zm_amount tasks;
	unsigned int thp;
	char *dir;
	char *label;
};

static const char *const thps[] = { "never", "madvise", "always", NULL };

static const struct zm_option rows[] = {
	{ .name = "verbose",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct chosen, verbose),
	  .preset = "off" },
	{ .name = "count",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct chosen, count),
	  .preset = "10",
	  .min = 2,
	  .max = 100,
	  .unit = "rounds" },
	{ .name = "ratio",
	  .type = ZM_OPTION_DOUBLE,
	  .offset = offsetof(struct chosen, ratio),
	  .preset = "0.5",
	  .max = 4 },
	{ .name = "size",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct chosen, size),
	  .preset = "128M",
	  .min = 4096,
	  .unit = "bytes" },
	{ .name = "time",
	  .type = ZM_OPTION_DURATION,
	  .offset = offsetof(struct chosen, time_ns),
	  .preset = "5s",
	  .max = UINT64_C(3600000000000) },
	{ .name = "nr_task",
	  .type = ZM_OPTION_AMOUNT,
	  .offset = offsetof(struct chosen, tasks),
	  .preset = "100%",
	  .min = 1,
	  .max = 1024,
	  .unit = "tasks" },
	{ .name = "thp",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct chosen, thp),
	  .preset = "madvise",
	  .choices = thps },
	{ .name = "dir",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct chosen, dir),
	  .preset = "/tmp" },
	{ .name = "label", .type = ZM_OPTION_STRING, .offset = offsetof(struct chosen, label) },
	{ .name = NULL },
};

static int set_up(void **state)
{
	struct chosen *chosen = calloc(1, sizeof(*chosen));

	*state = chosen;
	return !chosen || zm_options_init(rows, chosen, NULL);
}

static int tear_down(void **state)
{
	zm_options_release(rows, *state);
	free(*state);
	return 0;
}

/* --- the struct ------------------------------------------------------------------------------ */

static void presets_are_in_force(void **state)
{
	const struct chosen *chosen = *state;

	assert_false(chosen->verbose);
	assert_int_equal(chosen->count, 10);
	assert_true(chosen->ratio == 0.5);
	assert_int_equal(chosen->size, 134217728);
	assert_int_equal(chosen->time_ns, 5000000000);
	assert_true(chosen->tasks.value == 100 && chosen->tasks.is_percent);
	assert_int_equal(chosen->thp, 1);
	assert_string_equal(chosen->dir, "/tmp");
	assert_null(chosen->label);
}

/* What is set prints in canonical form, and that form, set again, prints the same. */
static void values_are_set_and_printed(void **state)
{
	static const struct {
		const char *name, *value, *printed;
	} cases[] = {
		{ "verbose", "1", "on" },
		{ "verbose", "0", "off" },
		{ "verbose", "on", "on" },
		{ "verbose", "off", "off" },
		{ "verbose", "yes", "on" },
		{ "verbose", "no", "off" },
		{ "verbose", "true", "on" },
		{ "verbose", "false", "off" },
		{ "count", "2", "2" },
		{ "count", "0x64", "100" },
		{ "ratio", "4", "4" },
		{ "ratio", "0", "0" },
		{ "ratio", "1e-3", "0.001" },
		{ "size", "4096", "4K" },
		{ "size", "1.5G", "1536M" },
		{ "size", "10MB", "10000000" },
		{ "time", "300", "300s" },
		{ "time", "1.5s", "1500ms" },
		{ "time", "0", "0s" },
		{ "time", "1h", "3600s" },
		{ "nr_task", "1", "1" },
		{ "nr_task", "1024", "1024" },
		{ "nr_task", "12.5%", "12.5%" },
		{ "nr_task", "2000%", "2000%" },
		{ "thp", "always", "always" },
		{ "dir", "/var/tmp/a b", "/var/tmp/a b" },
		{ "dir", "", "" },
		{ "label", "x=y,z", "x=y,z" },
	};
	struct zm_why why = { "" };

	for (size_t i = 0; i < nr_of(cases); i++) {
		const struct zm_option *row = zm_option_find(rows, cases[i].name);
		char first[64], second[64];

		if (zm_option_set(rows, *state, cases[i].name, cases[i].value, &why))
			fail_msg("%s=%s: %s", cases[i].name, cases[i].value, why.text);
		assert_int_equal(zm_option_print(row, *state, first, sizeof(first)), 0);
		assert_string_equal(first, cases[i].printed);
		assert_int_equal(zm_option_set(rows, *state, cases[i].name, first, NULL), 0);
		assert_int_equal(zm_option_print(row, *state, second, sizeof(second)), 0);
		assert_string_equal(second, first);
	}
	assert_string_equal(why.text, "");
}

static void the_empty_string_is_unset(void **state)
{
	struct chosen *chosen = *state;

	assert_int_equal(zm_option_set(rows, chosen, "dir", "", NULL), 0);
	assert_null(chosen->dir);
	assert_int_equal(zm_option_set(rows, chosen, "dir", "/x", NULL), 0);
	assert_string_equal(chosen->dir, "/x");
}

static void bad_values_are_refused_in_one_sentence(void **state)
{
	static const struct {
		const char *name, *value;
		int error;
		const char *sentence;
	} cases[] = {
		{ "nr_taks", "1", -ENOENT, "nr_taks: no such option; did you mean nr_task?" },
		{ "zzzzz", "1", -ENOENT, "zzzzz: no such option" },
		{ "", "1", -ENOENT, ": no such option" },
		{ "verbose", "maybe", -EINVAL, "verbose=maybe: not a switch; write on or off" },
		{ "verbose", "", -EINVAL, "verbose=: not a switch; write on or off" },
		{ "count", "12K", -EINVAL,
		  "count=12K: not a whole number; write digits, as 16 or 0x10" },
		{ "count", "1", -ERANGE, "count=1: too small; the least is 2 rounds" },
		{ "count", "101", -ERANGE, "count=101: too large; the most is 100 rounds" },
		{ "count", "99999999999999999999", -ERANGE,
		  "count=99999999999999999999: too large a number" },
		{ "ratio", "nan", -EINVAL, "ratio=nan: not a number; write it as 2 or 0.5" },
		{ "ratio", "-0.1", -ERANGE, "ratio=-0.1: too small; the least is 0" },
		{ "ratio", "4.0001", -ERANGE, "ratio=4.0001: too large; the most is 4" },
		{ "size", "12Q", -EINVAL,
		  "size=12Q: not a size; write bytes as 4096, 128M or 1.5G" },
		{ "size", "1K", -ERANGE, "size=1K: too small; the least is 4K bytes" },
		{ "time", "1 s", -EINVAL,
		  "time=1 s: not a duration; write it as 300, 1.5s, 250ms or 2m" },
		{ "time", "61m", -ERANGE, "time=61m: too large; the most is 3600s" },
		{ "nr_task", "0", -ERANGE, "nr_task=0: too small; the least is 1 tasks" },
		{ "nr_task", "0%", -ERANGE, "nr_task=0%: too small; the least is 1 tasks" },
		{ "nr_task", "1025", -ERANGE, "nr_task=1025: too large; the most is 1024 tasks" },
		{ "nr_task", "1.5", -EINVAL,
		  "nr_task=1.5: not a count or a share; write it as 16 or 50%" },
		{ "thp", "alway", -EINVAL,
		  "thp=alway: did you mean always? The choices are never, madvise, always" },
		{ "thp", "on", -EINVAL, "thp=on: the choices are never, madvise, always" },
	};
	const struct chosen before = *(struct chosen *)*state;
	struct zm_why why;

	for (size_t i = 0; i < nr_of(cases); i++) {
		int error = zm_option_set(rows, *state, cases[i].name, cases[i].value, &why);

		assert_int_equal(error, cases[i].error);
		assert_string_equal(why.text, cases[i].sentence);
		assert_int_equal(zm_option_set(rows, *state, cases[i].name, cases[i].value, NULL),
				 error);
	}
	assert_memory_equal(*state, &before, sizeof(before));
}

/* Values and names of any length stay readable in the sentence, and cut between characters. */
static void long_values_are_cut(void **state)
{
	size_t length = 100000;
	char *value = malloc(length + 1);
	struct zm_why why;

	assert_non_null(value);
	for (size_t i = 0; i + 1 < length; i += 2)
		memcpy(value + i, "\xc3\xa4", 2);
	value[length] = '\0';
	value[0] = 'x';
	value[1] = 'y';
	assert_int_equal(zm_option_set(rows, *state, "count", value, &why), -EINVAL);
	assert_non_null(strstr(why.text, "not a whole number"));
	assert_int_equal(zm_option_set(rows, *state, value, "1", &why), -ENOENT);
	assert_non_null(strstr(why.text, "no such option"));
	assert_int_equal(zm_option_set(rows, *state, value + 3, "1", &why), -ENOENT);
	assert_int_equal(zm_option_set(rows, *state, "dir", value, &why), 0);
	assert_string_equal(((struct chosen *)*state)->dir, value);
	free(value);
}

static void print_says_when_it_does_not_fit(void **state)
{
	char buf[16];

	for (const struct zm_option *row = rows; row->name; row++) {
		char whole[64];
		size_t length;

		assert_int_equal(zm_option_print(row, *state, whole, sizeof(whole)), 0);
		length = strlen(whole);
		for (size_t size = 0; size < sizeof(buf); size++) {
			memset(buf, '#', sizeof(buf));
			assert_int_equal(zm_option_print(row, *state, buf, size),
					 size > length ? 0 : -ENOBUFS);
			for (size_t i = size; i < sizeof(buf); i++)
				assert_int_equal(buf[i], '#');
		}
	}
}

static void a_choice_out_of_range_does_not_print(void **state)
{
	struct chosen *chosen = *state;
	char buf[16];

	chosen->thp = 3;
	assert_int_equal(zm_option_print(zm_option_find(rows, "thp"), chosen, buf, sizeof(buf)),
			 -EINVAL);
}

static void rows_are_found_by_whole_name(void **state)
{
	(void)state;
	for (const struct zm_option *row = rows; row->name; row++)
		assert_ptr_equal(zm_option_find(rows, row->name), row);
	assert_null(zm_option_find(rows, "nr_tas"));
	assert_null(zm_option_find(rows, "nr_tasks"));
	assert_null(zm_option_find(rows, ""));
	assert_null(zm_option_find(NULL, "size"));
}

static void a_row_is_found_by_its_other_name_too(void **state)
{
	static const struct zm_option two[] = {
		{ .name = "nr_task", .also = "nr_threads", .type = ZM_OPTION_U64, .preset = "1" },
		{ .name = NULL },
	};
	uint64_t nr_task = 0;

	(void)state;
	assert_ptr_equal(zm_option_find(two, "nr_threads"), &two[0]);
	assert_ptr_equal(zm_option_find(two, "nr_task"), &two[0]);
	assert_null(zm_option_find(two, "nr_thread"));
	assert_int_equal(zm_option_set(two, &nr_task, "nr_threads", "7", NULL), 0);
	assert_int_equal(nr_task, 7);
}

static void no_rows_are_fine(void **state)
{
	char nothing;

	(void)state;
	assert_int_equal(zm_options_init(NULL, NULL, NULL), 0);
	zm_options_release(NULL, &nothing);
	zm_options_release(rows, NULL);
	assert_int_equal(zm_option_set(NULL, NULL, "size", "1", NULL), -ENOENT);
}

/* --- bad rows -------------------------------------------------------------------------------- */

static void bad_rows_are_named(void **state)
{
	static const char *const no_words[] = { NULL };
	static const struct {
		struct zm_option row;
		const char *sentence;
	} cases[] = {
		{ { .name = "", .type = ZM_OPTION_U64, .preset = "1" }, "option 1: no name" },
		{ { .name = "a", .type = (enum zm_option_type)99, .preset = "1" },
		  "option a: no such type" },
		{ { .name = "a", .type = ZM_OPTION_U64 }, "option a: no preset" },
		{ { .name = "a", .type = ZM_OPTION_CHOICE, .preset = "x" },
		  "option a: no choices" },
		{ { .name = "a", .type = ZM_OPTION_CHOICE, .preset = "x", .choices = no_words },
		  "option a: no choices" },
		{ { .name = "a", .type = ZM_OPTION_U64, .preset = "1", .min = 3, .max = 2 },
		  "option a: min is above max" },
		{ { .name = "first", .type = ZM_OPTION_U64, .preset = "1" },
		  "option first: there are two of it" },
		{ { .name = "a", .type = ZM_OPTION_U64, .preset = "many" },
		  "the preset of option a: a=many: not a whole number; write digits, as 16 or "
		  "0x10" },
		{ { .name = "a", .type = ZM_OPTION_U64, .preset = "1", .min = 2 },
		  "the preset of option a: a=1: too small; the least is 2" },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct {
			char *first;
			uint64_t second;
		} memory = { NULL, 0 };
		struct zm_option both[3] = {
			{ .name = "first", .type = ZM_OPTION_STRING, .preset = "text" },
		};
		struct zm_why why;

		both[1] = cases[i].row;
		both[1].offset = sizeof(char *);
		assert_int_equal(zm_options_init(both, &memory, &why), -EINVAL);
		assert_string_equal(why.text, cases[i].sentence);
		assert_null(memory.first);
	}
}

/* --- the nearest word ------------------------------------------------------------------------ */

static void the_nearest_word(void **state)
{
	static const char *const names[] = { "page_fault1", "page_fault2", "anon_cow_rand",
					     "null",        "list",        "run",
					     "runs",        "nr_task",     NULL };
	static const struct {
		const char *word, *nearest;
	} cases[] = {
		{ "page_fault1", "page_fault1" },
		{ "page_falut1", "page_fault1" },
		{ "pagefault2", "page_fault2" },
		{ "page_fault", "page_fault1" },
		{ "page_fault3", "page_fault1" },
		{ "anon_cow", NULL },
		{ "anon_cow_rnd", "anon_cow_rand" },
		{ "nul", "null" },
		{ "nulll", "null" },
		{ "lsit", "list" },
		{ "rum", "run" },
		{ "rnu", "run" },
		{ "ru", NULL },
		{ "x", NULL },
		{ "", NULL },
		{ "completely", NULL },
		{ "nr_tasks", "nr_task" },
		{ "NR_TASK", NULL },
		{ "0123456789012345678901234567890123456789012345678901234567890123456789", NULL },
	};
	static const char *const none[] = { NULL };

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		const char *nearest = zm_option_nearest(cases[i].word, names);

		if (!nearest != !cases[i].nearest ||
		    (nearest && strcmp(nearest, cases[i].nearest) != 0))
			fail_msg("\"%s\": %s", cases[i].word, nearest ? nearest : "none");
	}
	assert_null(zm_option_nearest("list", none));
}

/* A name as long as the table allows, and one longer, are both walked past. */
static void long_names_do_no_harm(void **state)
{
	char name[80], word[80];
	const char *const names[] = { name, NULL };

	(void)state;
	for (size_t length = 1; length < sizeof(name) - 1; length++) {
		memset(name, 'n', length);
		name[length] = '\0';
		memset(word, 'n', length);
		word[length] = '\0';
		if (length > 3)
			word[length / 2] = 'm';
		assert_true(!zm_option_nearest(word, names) == (length > 63));
	}
}

static void in_a_comma_locale(void **state)
{
	if (!comma_locale_use())
		skip();
	values_are_set_and_printed(state);
	assert_int_equal(zm_option_set(rows, *state, "ratio", "0,5", NULL), -EINVAL);
	(void)setlocale(LC_ALL, "C");
}

#define test_with_presets(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_with_presets(presets_are_in_force),
		test_with_presets(values_are_set_and_printed),
		test_with_presets(the_empty_string_is_unset),
		test_with_presets(bad_values_are_refused_in_one_sentence),
		test_with_presets(long_values_are_cut),
		test_with_presets(print_says_when_it_does_not_fit),
		test_with_presets(a_choice_out_of_range_does_not_print),
		cmocka_unit_test(rows_are_found_by_whole_name),
		cmocka_unit_test(a_row_is_found_by_its_other_name_too),
		cmocka_unit_test(no_rows_are_fine),
		cmocka_unit_test(bad_rows_are_named),
		cmocka_unit_test(the_nearest_word),
		cmocka_unit_test(long_names_do_no_harm),
		test_with_presets(in_a_comma_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
