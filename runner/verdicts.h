/*
 * verdicts: what every command that ends in verdicts is asked in the same words, and how it prints them.
 */
#ifndef ZM_RUNNER_VERDICTS_H
#define ZM_RUNNER_VERDICTS_H

#include <stdint.h>
#include <stdio.h>

#include "results/format_compare.h"
#include "runner/cmd_rows.h"
#include "workloads/base/option.h"

struct zm_verdict_switches {
	unsigned int format;      /* enum zm_compare_format */
	double least, confidence; /* percent */
	uint64_t explain;
};

/* The rows that fill it, for a command's rows; at(member) is its offset in the command's switches. `of`: what
 * the confidence is of; `most`: the most that can be asked for. */
#define ZM_VERDICT_ROWS(at, of, most)                                                              \
	{ .name = "format",                                                                        \
	  .type = ZM_OPTION_CHOICE,                                                                \
	  .offset = at(format),                                                                    \
	  .preset = "text",                                                                        \
	  .choices = zm_compare_formats,                                                           \
	  .help = "as a text, for programs, or as the field writes its tables" },                  \
		ZM_ROW_LEAST_AT(at(least)), ZM_ROW_CONFIDENCE_AT(at(confidence), of, most),        \
	{                                                                                          \
		.name = "explain", .type = ZM_OPTION_U64, .offset = at(explain), .preset = "15",   \
		.max = 1000000, .unit = "metrics",                                                 \
		.help = "at most so many explanations of each cell; 0: none"                       \
	}

/* In the form that was asked for; as wide as the terminal on standard output, else as it gets. As
 * zm_format_compare. */
int zm_verdicts_print(const struct zm_verdict_switches *switches, const struct zm_compare *compare,
		      FILE *out);

#endif
