/*
 * cmd_rows: switches that many commands have, so that they say the same everywhere.
 *
 * Each is an option's row for a member of that name in the command's own struct of switches.
 */
#ifndef ZM_RUNNER_CMD_ROWS_H
#define ZM_RUNNER_CMD_ROWS_H

#include <stddef.h>

#include "workloads/base/option.h"

#define ZM_ROW_DB(switches)                                                                        \
	{                                                                                          \
		.name = "db", .type = ZM_OPTION_STRING, .offset = offsetof(switches, db),          \
		.unit = "file",                                                                    \
		.help = "the store: a file, or postgresql://HOST/NAME; otherwise $ZONEMARK_DB or " \
			"zonemark/zonemark.db in the data folder",                                 \
	}

#define ZM_ROW_JSON(switches)                                                                      \
	{                                                                                          \
		.name = "json", .type = ZM_OPTION_BOOL, .offset = offsetof(switches, json),        \
		.preset = "0", .help = "answer in JSON",                                           \
	}

#define ZM_ROW_OUTPUT(switches)                                                                    \
	{                                                                                          \
		.name = "output", .type = ZM_OPTION_STRING, .offset = offsetof(switches, output),  \
		.unit = "file",                                                                    \
		.help = "write into this file (also -o), whole or not at all; otherwise to "       \
			"standard output",                                                         \
	}

#define ZM_ROW_LEAST_AT(at)                                                                        \
	{                                                                                          \
		.name = "least", .type = ZM_OPTION_DOUBLE, .offset = (at), .preset = "1",          \
		.max = 1000, .unit = "percent", .help = "the smallest change that matters",        \
	}
#define ZM_ROW_LEAST(switches) ZM_ROW_LEAST_AT(offsetof(switches, least))

/* most: of what may be asked for. */
#define ZM_ROW_CONFIDENCE_AT(at, what, most)                                                       \
	{                                                                                          \
		.name = "confidence", .type = ZM_OPTION_DOUBLE, .offset = (at), .preset = "95",    \
		.min = 50, .max = (most), .unit = "percent", .help = (what),                       \
	}
#define ZM_ROW_CONFIDENCE(switches, what)                                                          \
	ZM_ROW_CONFIDENCE_AT(offsetof(switches, confidence), what, 99)

#endif
