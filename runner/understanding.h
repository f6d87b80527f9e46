/*
 * understanding: what was read in a report, as data, as a text, and beside what was measured here.
 */
#ifndef ZM_RUNNER_UNDERSTANDING_H
#define ZM_RUNNER_UNDERSTANDING_H

#include <jansson.h>
#include <stdio.h>

#include "runner/measured.h"
#include "runner/reproduce.h"

struct zm_understanding {
	const struct zm_report_mail *report;
	struct zm_reproduction *reproductions; /* one per record of the report */
};

/* {"subject", "commit", "title", "records": [one per table block]}. NULL: no memory. */
json_t *zm_understanding_json(const struct zm_understanding *understanding);

/* What the reader should know before it is run. -ENOMEM. */
int zm_understanding_print(const struct zm_understanding *understanding, FILE *out);

/* The mail's figures beside this machine's, in the mail's own form: a table that can be read as one.
 * measured: of one cell, which `title` names. */
void zm_understanding_compare(const struct zm_reproduction *reproduction,
			      const struct zm_measured *measured, const char *title,
			      const char *kernel, FILE *out);

/* The same as data. NULL: no memory. */
json_t *zm_understanding_measured_json(const struct zm_reproduction *reproduction,
				       const struct zm_measured *measured, const char *title);

#endif
