/*
 * help: what the program says about itself, always from the rows of the catalogue.
 *
 * The same rows give the help on the terminal, the man page and the shell completion; nothing is
 * written twice.
 */
#ifndef ZM_RUNNER_HELP_H
#define ZM_RUNNER_HELP_H

#include <stdio.h>

#include "runner/cmd.h"
#include "workloads/base/option.h"

/* `zonemark --help` and `zonemark CMD --help`. */
void zm_help_program(FILE *out);
void zm_help_cmd(FILE *out, const struct zm_cmd *cmd);

/* The man page, as roff, and the completion script for bash. Both hold what the whole catalogue
 * says, and are written at build time (`zonemark help --as man`). */
void zm_help_man(FILE *out);
void zm_help_bash(FILE *out);

/* What stands for a row's value: "N", "SIZE", "process|thread" (a long list of choices: "WORD"); ""
 * for a flag. Returns buf. */
char *zm_help_value(char *buf, size_t size, const struct zm_option *row);

/* The row's help with what its value does not show: long choices, the preset (a flag's is off).
 * Returns buf. */
char *zm_help_row(char *buf, size_t size, const struct zm_option *row);

/* A row's name as a switch: `_` becomes `-`. Returns buf. */
char *zm_help_switch(char *buf, size_t size, const struct zm_option *row);

/* A row's name as an option: "nr_task=N|N%". Returns buf. */
char *zm_help_option(char *buf, size_t size, const struct zm_option *row);

/* A summary as a sentence: with a capital letter and a full stop. Returns buf. */
char *zm_help_sentence(char *buf, size_t size, const char *summary);

/* Two columns, the second filled to the width of the page; `indent` spaces before the first. */
void zm_help_columns(FILE *out, int indent, int left_width, const char *left, const char *right);

#endif
