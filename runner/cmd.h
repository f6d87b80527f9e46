/*
 * cmd: the contract of a command.
 *
 * A command is one file runner/cmd_NAME.c that ends in one constant, ZM_CMD; the build finds and
 * lists it. Its switches are typed rows: parsing, `--help`, the man page and the shell completion all
 * come from them. Answers go to stdout, talk to stderr.
 *
 * Exit status: 0 done; 1 it ran and the answer is no; 2 wrong use or a setup that cannot work; 3 a run
 * failed; 77 nothing could run here.
 */
#ifndef ZM_RUNNER_CMD_H
#define ZM_RUNNER_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads/base/option.h"
#include "workloads/base/why.h"

enum zm_exit {
	ZM_EXIT_OK = 0,
	ZM_EXIT_NO = 1,
	ZM_EXIT_USAGE = 2,
	ZM_EXIT_RUN_FAILED = 3,
	ZM_EXIT_SKIPPED = 77,
};

/* What stands behind a command's name on its line, once its switches have been taken out. */
struct zm_args {
	const void *switches;     /* the command's switch struct, filled from its rows */
	const char *const *words; /* the other words, in order */
	size_t nr_words;
	int argc; /* the line as typed from the command's name on, for the record */
	char *const *argv;
	bool wants_help; /* -h or --help was there; nothing else was looked at */
};

struct zm_cmd {
	const char *name;    /* .name = ZM_CMD_NAME */
	const char *summary; /* one line for `zonemark --help`, no full stop */
	const char *usage;   /* "WORKLOAD|MATRIX [option=value …]" */
	/* Paragraphs for `zonemark CMD --help` and the man page, with an empty line between them; they
	 * are filled to the width, but for lines that begin with a space. May be NULL. */
	const char *details;
	const char *examples; /* lines "COMMAND<tab>what it does"; may be NULL */
	/* What its words are, for the completion: names of classes with spaces between them
	 * (commands, workloads, options, settings, monitors, matrices, profiles,
	 * documented, sections, files), or "" */
	const char *completes;
	/* Typed rows as --NAME VALUE or --NAME=VALUE; a BOOL row is a flag. `_` in a name is typed
	 * `-`. NULL-terminated; may be NULL. A STRING row may be given once, and its unit is the word
	 * that help shows for the value ("file": --db FILE); the row behind it takes the second value
	 * when its `also` is that name. --json is a row where the command answers
	 * in JSON; --help is everybody's. */
	const struct zm_option *switches;
	size_t switches_size;
	/* A switch that may stand without a value, at the line's end or before another one, and what it is then:
	 * "gate=0"; may be NULL. */
	const char *bare;
	/* Its words are another command's line: switches are looked for up to the first word only. */
	bool takes_a_line;
	bool leaves_journals; /* true: dead runs' journals are not undone before it (restore itself) */
	int (*run)(const struct zm_args *args);
};

/* Takes the switches of argv[1 …] out of the words, until "--" (or the first word, where the command
 * takes a line); argv[0] is the command's name. The sentence suggests the nearest switch. zm_args_release frees what was made. */
int zm_cmd_parse(const struct zm_cmd *cmd, int argc, char *const *argv, struct zm_args *ret_args,
		 struct zm_why *why);
void zm_args_release(const struct zm_cmd *cmd, struct zm_args *args);

/* Prints "zonemark: SENTENCE" on stderr (once, in one write), and returns the exit status. */
int zm_cmd_fail(enum zm_exit status, const struct zm_why *why);
int zm_cmd_failf(enum zm_exit status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Flushes and closes stdout; a failed write (full disk, closed stdout) turns status 0 into 2 with one
 * line. When it was a pipe whose reader went away, the program ends as any filter does, silently, by
 * SIGPIPE (which is ignored until then, so that no run dies of its reader). Called by main after
 * every command. */
int zm_cmd_close_stdout(int status);

#endif
