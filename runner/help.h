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

/* What stands for a row's value: "N", "SIZE", "scatter|compact"; "" for a flag. Returns buf. */
char *zm_help_value(char *buf, size_t size, const struct zm_option *row);

/* A row's name as a switch: `_` becomes `-`. Returns buf. */
char *zm_help_switch(char *buf, size_t size, const struct zm_option *row);

/* Two columns, the second filled to the width of the page; `indent` spaces before the first. */
void zm_help_columns(FILE *out, int indent, int left_width, const char *left, const char *right);

#endif
