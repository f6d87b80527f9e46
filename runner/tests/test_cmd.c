/*
 * cmd: lines are split into switches and words as the rows say; whatever is wrong with a line is one
 * sentence that names the switch, and nothing is left allocated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "runner/cmd.h"

#define MAX_WORDS 8

struct switches {
	bool json;
	uint64_t repeat;
	char *db, *db_b;
	unsigned int place_of;
};

static const char *const places[] = { "scatter", "compact", NULL };

static const struct zm_option rows[] = {
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct switches, json),
	  .preset = "0" },
	{ .name = "repeat",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct switches, repeat),
	  .preset = "1",
	  .min = 1 },
	{ .name = "db", .type = ZM_OPTION_STRING, .offset = offsetof(struct switches, db) },
	{ .name = "place_of",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct switches, place_of),
	  .preset = "scatter",
	  .choices = places },
	{ .name = NULL },
};

static const struct zm_cmd cmd = {
	.name = "show",
	.switches = rows,
	.switches_size = sizeof(struct switches),
};

/* The parser takes lines as main gets them. */
static int parse(const struct zm_cmd *command, const char *const *line, struct zm_args *ret_args,
		 struct zm_why *why)
{
	int n = 0;

	while (line[n])
		n++;
	return zm_cmd_parse(command, n, (char *const *)line, ret_args, why);
}

static void lines_are_split(void **state)
{
	static const struct {
		const char *line[MAX_WORDS];
		const char *words[MAX_WORDS];
		bool json;
		uint64_t repeat;
		const char *db;
		unsigned int place_of;
	} cases[] = {
		{ { "show" }, { NULL }, false, 1, NULL, 0 },
		{ { "show", "--json" }, { NULL }, true, 1, NULL, 0 },
		{ { "show", "--json=0" }, { NULL }, false, 1, NULL, 0 },
		{ { "show", "a", "--repeat", "3", "b" }, { "a", "b" }, false, 3, NULL, 0 },
		{ { "show", "--repeat=3", "--repeat=4" }, { NULL }, false, 4, NULL, 0 },
		{ { "show", "--db", "x=y", "nr_task=1" }, { "nr_task=1" }, false, 1, "x=y", 0 },
		{ { "show", "--db=--json" }, { NULL }, false, 1, "--json", 0 },
		{ { "show", "--db", "--json" }, { NULL }, false, 1, "--json", 0 },
		{ { "show", "--place-of", "compact" }, { NULL }, false, 1, NULL, 1 },
		{ { "show", "--place_of=compact" }, { NULL }, false, 1, NULL, 1 },
		{ { "show", "--", "--json", "-h" }, { "--json", "-h" }, false, 1, NULL, 0 },
		{ { "show", "-", "--json", "--" }, { "-" }, true, 1, NULL, 0 },
		{ { "show", "" }, { "" }, false, 1, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct switches *got;
		struct zm_args args;
		struct zm_why why;
		size_t n = 0;

		assert_int_equal(parse(&cmd, cases[i].line, &args, &why), 0);
		got = args.switches;
		assert_false(args.wants_help);
		assert_int_equal(got->json, cases[i].json);
		assert_int_equal(got->repeat, cases[i].repeat);
		assert_int_equal(got->place_of, cases[i].place_of);
		assert_true(cases[i].db ? strcmp(got->db, cases[i].db) == 0 : !got->db);
		for (; cases[i].words[n]; n++)
			assert_string_equal(args.words[n], cases[i].words[n]);
		assert_int_equal(args.nr_words, n);
		zm_args_release(&cmd, &args);
		zm_args_release(&cmd, &args);
	}
}

static void wrong_lines_are_said(void **state)
{
	static const struct {
		const char *line[MAX_WORDS];
		int error;
		const char *says; /* part of the sentence */
	} cases[] = {
		{ { "show", "--jsn" }, -ENOENT, "--jsn; did you mean --json?" },
		{ { "show", "--place-fo=x" }, -ENOENT, "--place-fo; did you mean --place-of?" },
		{ { "show", "--nothing-like-it" }, -ENOENT, "show --help" },
		{ { "show", "--"
			    "=x" },
		  -ENOENT,
		  "show" },
		{ { "show", "-x" }, -ENOENT, "-x" },
		{ { "show", "-json" }, -ENOENT, "-json" },
		{ { "show", "--repeat" }, -EINVAL, "--repeat needs a value" },
		{ { "show", "--db=" }, -EINVAL, "needs a value" },
		{ { "show", "--db", "" }, -EINVAL, "needs a value" },
		{ { "show", "--db", "a", "--db=b" }, -EINVAL, "--db is there twice" },
		{ { "show", "--repeat=x" }, -EINVAL, "show: " },
		{ { "show", "--repeat=0" }, -ERANGE, "show: " },
		{ { "show", "--json=maybe" }, -EINVAL, "show: " },
		{ { "show", "--place-of=best" }, -EINVAL, "show: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_args args = { .argc = 4711 };
		struct zm_why why = { .text = "" };

		assert_int_equal(parse(&cmd, cases[i].line, &args, &why), cases[i].error);
		assert_non_null(strstr(why.text, cases[i].says));
		assert_int_equal(args.argc, 4711); /* outputs are untouched */
	}
}

static void help_is_seen_first(void **state)
{
	static const struct {
		const char *line[MAX_WORDS];
		bool wants_help;
	} cases[] = {
		{ { "show", "--help" }, true },
		{ { "show", "--wrong", "-h" }, true },
		{ { "show", "a", "--repeat=x", "--help" }, true },
		{ { "show", "--", "--help" }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_args args;
		struct zm_why why;

		assert_int_equal(parse(&cmd, cases[i].line, &args, &why), 0);
		assert_int_equal(args.wants_help, cases[i].wants_help);
		zm_args_release(&cmd, &args);
	}
}

static void a_command_without_switches_takes_words_only(void **state)
{
	static const struct zm_cmd plain = { .name = "runs" };
	const char *good[] = { "runs", "x", NULL };
	const char *bad[] = { "runs", "--hepl", NULL };
	struct zm_args args;
	struct zm_why why;

	(void)state;
	assert_int_equal(parse(&plain, good, &args, &why), 0);
	assert_int_equal(args.nr_words, 1);
	zm_args_release(&plain, &args);
	assert_int_equal(parse(&plain, bad, &args, &why), -ENOENT);
	assert_non_null(strstr(why.text, "did you mean --help?"));
}

/* What stands behind the first word belongs to the other command. */
static void a_line_is_left_as_it_is(void **state)
{
	static const struct zm_cmd carrier = {
		.name = "vm",
		.switches = rows,
		.switches_size = sizeof(struct switches),
		.takes_a_line = true,
	};
	static const struct {
		const char *line[MAX_WORDS];
		size_t nr_words;
		bool wants_help;
	} cases[] = {
		{ { "vm", "run", "null", "--repeat", "3" }, 4, false },
		{ { "vm", "--db", "x", "run", "--wrong", "--help" }, 3, false },
		{ { "vm", "--db", "x", "--", "run", "--json" }, 2, false },
		{ { "vm", "--db", "x", "--help" }, 0, true },
		{ { "vm", "--json", "--help", "run" }, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_args args;
		struct zm_why why;

		assert_int_equal(parse(&carrier, cases[i].line, &args, &why), 0);
		assert_int_equal(args.wants_help, cases[i].wants_help);
		assert_int_equal(args.nr_words, cases[i].nr_words);
		zm_args_release(&carrier, &args);
	}
}

/* The second value of a switch goes to the row behind it, when that is also called so. */
static void a_pair_takes_two_values(void **state)
{
	static const struct zm_option pair[] = {
		{ .name = "db", .type = ZM_OPTION_STRING, .offset = offsetof(struct switches, db) },
		{ .name = "db_b",
		  .also = "db",
		  .type = ZM_OPTION_STRING,
		  .offset = offsetof(struct switches, db_b) },
		{ .name = NULL },
	};
	static const struct zm_cmd both = { .name = "both",
					    .switches = pair,
					    .switches_size = sizeof(struct switches) };
	static const struct {
		const char *line[MAX_WORDS];
		const char *db, *db_b; /* NULL: it is refused */
	} cases[] = {
		{ { "both", "--db", "x", "--db", "y" }, "x", "y" },
		{ { "both", "--db=x", "--db-b=y" }, "x", "y" },
		{ { "both", "--db-b=y", "--db=x" }, "x", "y" },
		{ { "both", "--db=x", "--db=y", "--db=z" }, NULL, NULL },
		{ { "both", "--db=x", "--db-b=y", "--db=z" }, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct switches *got;
		struct zm_args args;
		struct zm_why why;
		int r = parse(&both, cases[i].line, &args, &why);

		if (!cases[i].db) {
			assert_int_equal(r, -EINVAL);
			continue;
		}
		assert_int_equal(r, 0);
		got = args.switches;
		assert_string_equal(got->db, cases[i].db);
		assert_string_equal(got->db_b, cases[i].db_b);
		zm_args_release(&both, &args);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_split),
		cmocka_unit_test(a_pair_takes_two_values),
		cmocka_unit_test(wrong_lines_are_said),
		cmocka_unit_test(help_is_seen_first),
		cmocka_unit_test(a_command_without_switches_takes_words_only),
		cmocka_unit_test(a_line_is_left_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
