/*
 * format_run: one run's digest, as a text for a terminal and as a JSON object.
 */
#ifndef ZM_RESULTS_FORMAT_RUN_H
#define ZM_RESULTS_FORMAT_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "results/digest.h"
#include "results/plot.h"

struct zm_format_run {
	size_t width;    /* of the terminal; 0: as wide as it gets */
	bool all;        /* what stayed at 0, and every scope by itself */
	bool trace;      /* what each figure came from: raw count, interval, source, readings */
	bool only_found; /* the metrics' tables only: a pattern was given */
};

/* -ENOMEM. Curves are not part of it. */
int zm_format_run_text(const struct zm_digest *digest, const struct zm_format_run *options,
		       FILE *out);

/* A new reference, or NULL without memory. docs/store.md says what is in it. */
json_t *zm_format_run_json(const struct zm_digest *digest);

/* The curves of throughput and used memory with the phases. *ret_plot refers to the digest and to the
 * other structs. Panels without a point are left out; nr_panels may be 0. */
struct zm_format_curves {
	struct zm_curve curves[2];
	struct zm_panel panels[2];
	struct zm_band bands[ZM_NR_PHASES * 2];
	char labels[2][64];
	char title[256], words[384]; /* the parameters, cut into lines at its NULs */
	double *scaled;              /* used memory in the label's unit */
	struct zm_plot plot;
};

int zm_format_run_curves(const struct zm_digest *digest, struct zm_format_curves *ret_curves);
void zm_format_run_curves_release(struct zm_format_curves *curves);

/* The same as a table of at most nr_rows moments, for where nothing can be drawn. */
int zm_format_run_points(const struct zm_digest *digest, size_t nr_rows, size_t width, FILE *out);

#endif
