/*
 * cmd: a command's line, from typed rows, and its last words.
 *
 *     parse   argv[1 …] -> switches (--name value, --name=value, --flag) and words
 *     fail    the one sentence on stderr
 *     close   was the answer on stdout really written?
 */
#include "runner/cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct parser {
	const struct zm_cmd *cmd;
	void *switches;
	const char **words;
	size_t nr_words;
	bool *was_given; /* per row */
};

static size_t count_rows(const struct zm_option *rows)
{
	size_t n = 0;

	while (rows && rows[n].name)
		n++;
	return n;
}

/* The row of a switch as typed (`-` for `_`), `length` bytes long. */
static const struct zm_option *find_switch(const struct zm_option *rows, const char *typed,
					   size_t length)
{
	for (; rows && rows->name; rows++) {
		size_t i = 0;

		while (i < length && rows->name[i] &&
		       (typed[i] == rows->name[i] || (typed[i] == '-' && rows->name[i] == '_')))
			i++;
		if (i == length && rows->name[i] == '\0')
			return rows;
	}
	return NULL;
}

/* A name with `-` and `_` exchanged, in a buffer. */
static char *exchange(char *buf, size_t size, const char *name, size_t length, char from, char to)
{
	size_t i;

	for (i = 0; i < length && i + 1 < size; i++)
		buf[i] = name[i] == from ? to : name[i];
	buf[i] = '\0';
	return buf;
}

static int no_such_switch(const struct zm_cmd *cmd, const char *typed, size_t length,
			  struct zm_why *why)
{
	size_t nr_rows = count_rows(cmd->switches);
	const char **names = calloc(nr_rows + 2, sizeof(*names));
	const char *nearest;
	char word[64];

	if (!names)
		return zm_why_errno(why, -ENOMEM, "%s", cmd->name);
	for (size_t i = 0; i < nr_rows; i++)
		names[i] = cmd->switches[i].name;
	names[nr_rows] = "help";
	nearest = zm_option_nearest(exchange(word, sizeof(word), typed, length, '-', '_'), names);
	free(names);
	if (!nearest)
		return zm_why_set(why, -ENOENT,
				  "%s has no switch --%.*s; `zonemark %s --help` lists them",
				  cmd->name, (int)length, typed, cmd->name);
	return zm_why_set(why, -ENOENT, "%s has no switch --%.*s; did you mean --%s?", cmd->name,
			  (int)length, typed,
			  exchange(word, sizeof(word), nearest, strlen(nearest), '_', '-'));
}

/* What the word names as a switch, without the dashes: "--name", or -o for --output where there is one. NULL: it
 * is no switch. */
static const char *switch_of(const struct zm_cmd *cmd, const char *word)
{
	if (strncmp(word, "--", 2) == 0)
		return word + 2;
	if (strcmp(word, "-o") == 0 && find_switch(cmd->switches, "output", strlen("output")))
		return "output";
	return NULL;
}

/* What the row is without a value; NULL: it needs one. */
static const char *bare_value(const struct zm_cmd *cmd, const struct zm_option *row)
{
	const char *equals = cmd->bare ? strchr(cmd->bare, '=') : NULL;
	size_t length = equals ? (size_t)(equals - cmd->bare) : 0;

	if (!equals || strlen(row->name) != length || memcmp(row->name, cmd->bare, length) != 0)
		return NULL;
	return equals + 1;
}

/* The switch at argv[*i] ("--name", "--name=value"); steps over a value of its own. */
static int parse_switch(struct parser *parser, int argc, char *const *argv, int *i,
			struct zm_why *why)
{
	const struct zm_cmd *cmd = parser->cmd;
	const char *typed = switch_of(cmd, argv[*i]);
	const char *equals = strchr(typed, '=');
	size_t length = equals ? (size_t)(equals - typed) : strlen(typed);
	const struct zm_option *row = find_switch(cmd->switches, typed, length);
	const char *value = equals ? equals + 1 : NULL;
	int r;

	if (!row)
		return no_such_switch(cmd, typed, length, why);
	if (!value && row->type == ZM_OPTION_BOOL)
		value = "1";
	if (!value && (*i + 1 == argc || argv[*i + 1][0] == '-'))
		value = bare_value(cmd, row);
	if (!value && *i + 1 < argc)
		value = argv[++*i];
	if (!value || !*value)
		return zm_why_set(why, -EINVAL, "%s: --%.*s needs a value", cmd->name, (int)length,
				  typed);
	if (parser->was_given[row - cmd->switches] && row[1].also &&
	    strcmp(row[1].also, row->name) == 0)
		row++;
	if (row->type == ZM_OPTION_STRING && parser->was_given[row - cmd->switches])
		return zm_why_set(why, -EINVAL, "%s: --%.*s is there twice; give it once",
				  cmd->name, (int)length, typed);
	parser->was_given[row - cmd->switches] = true;
	r = zm_option_set(row, parser->switches, row->name, value, why);
	if (r < 0)
		zm_why_prefix(why, "%s", cmd->name);
	return r;
}

static int parse_words(struct parser *parser, int argc, char *const *argv, struct zm_why *why)
{
	bool is_over = false; /* after "--" everything is a word */

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		int r;

		if (is_over || word[0] != '-' || word[1] == '\0') {
			parser->words[parser->nr_words++] = word;
			is_over = is_over || parser->cmd->takes_a_line;
		} else if (strcmp(word, "--") == 0) {
			is_over = true;
		} else if (!switch_of(parser->cmd, word)) {
			return zm_why_set(
				why, -ENOENT,
				"%s has no switch %s; `zonemark %s --help` lists its switches",
				parser->cmd->name, word, parser->cmd->name);
		} else {
			r = parse_switch(parser, argc, argv, &i, why);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Does the switch at argv[i] take the next word as its value? */
static bool takes_next(const struct zm_cmd *cmd, const char *word)
{
	const char *typed = switch_of(cmd, word);
	const struct zm_option *row;

	if (!typed || strchr(typed, '='))
		return false;
	row = find_switch(cmd->switches, typed, strlen(typed));
	return row && row->type != ZM_OPTION_BOOL;
}

static bool asks_for_help(const struct zm_cmd *cmd, int argc, char *const *argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
		if (cmd->takes_a_line && argv[i][0] != '-')
			return false;
		if (cmd->takes_a_line && takes_next(cmd, argv[i]))
			i++;
	}
	return false;
}

int zm_cmd_parse(const struct zm_cmd *cmd, int argc, char *const *argv, struct zm_args *ret_args,
		 struct zm_why *why)
{
	struct parser parser = { .cmd = cmd };
	struct zm_args args = { .argc = argc, .argv = argv };
	int r = -ENOMEM;

	if (asks_for_help(cmd, argc, argv)) {
		args.wants_help = true;
		*ret_args = args;
		return 0;
	}
	parser.switches = calloc(1, cmd->switches_size + 1);
	parser.words = calloc((size_t)argc + 1, sizeof(*parser.words));
	parser.was_given = calloc(count_rows(cmd->switches) + 1, sizeof(*parser.was_given));
	if (!parser.switches || !parser.words || !parser.was_given)
		(void)zm_why_errno(why, r, "%s", cmd->name);
	else
		r = cmd->switches ? zm_options_init(cmd->switches, parser.switches, why) : 0;
	if (r == 0)
		r = parse_words(&parser, argc, argv, why);
	free(parser.was_given);
	args.switches = parser.switches;
	args.words = parser.words;
	args.nr_words = parser.nr_words;
	if (r < 0)
		zm_args_release(cmd, &args);
	else
		*ret_args = args;
	return r;
}

void zm_args_release(const struct zm_cmd *cmd, struct zm_args *args)
{
	if (args->switches && cmd->switches)
		zm_options_release(cmd->switches, (void *)args->switches);
	free((void *)args->switches);
	free((void *)args->words);
	args->switches = NULL;
	args->words = NULL;
	args->nr_words = 0;
}

int zm_cmd_fail(enum zm_exit status, const struct zm_why *why)
{
	char line[ZM_WHY_SIZE + 16];
	int length = snprintf(line, sizeof(line), "zonemark: %s\n",
			      why && why->text[0] ? why->text : "failed without a reason");

	if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
		return (int)status; /* nobody can be told */
	return (int)status;
}

int zm_cmd_failf(enum zm_exit status, const char *format, ...)
{
	struct zm_why why;
	va_list list;

	va_start(list, format);
	(void)vsnprintf(why.text, sizeof(why.text), format, list);
	va_end(list);
	return zm_cmd_fail(status, &why);
}

/* A pipe or socket whose other end has gone. */
static bool has_no_reader(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };

	return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLERR);
}

int zm_cmd_close_stdout(int status)
{
	bool is_broken = has_no_reader(STDOUT_FILENO);
	bool had_error = ferror(stdout) != 0;
	int error = fclose(stdout) ? errno : 0;

	if (!had_error && error == 0)
		return status;
	if (is_broken) {
		(void)signal(SIGPIPE, SIG_DFL);
		(void)raise(SIGPIPE);
	}
	(void)zm_cmd_failf(ZM_EXIT_USAGE, "the answer could not be written to standard output: %s",
			   error ? strerror(error) : "write error");
	return status == ZM_EXIT_OK ? ZM_EXIT_USAGE : status;
}
