/*
 * document_view: a documented table and what was measured here, side by side in the document's own
 * columns; and, where two kernels were measured, whether the shape agrees.
 */
#ifndef ZM_RUNNER_DOCUMENT_VIEW_H
#define ZM_RUNNER_DOCUMENT_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "results/document.h"
#include "runner/measured.h"

#define ZM_VIEW_NO_CELL ((size_t)-1)

/* A kernel that was measured. */
struct zm_view_side {
	const char *name;
	unsigned int variant; /* which of the document's kernels it stands for */
};

struct zm_view {
	const struct zm_document *document;
	const struct zm_document_table *table;
	const struct zm_view_side *sides; /* the base first */
	size_t nr_sides;
	const char *const *titles; /* of the cells that were run */
	size_t nr_cells;
	const struct zm_measured *measured; /* [side * nr_cells + cell] */
	bool is_between_boots; /* one boot a kernel: what differs between two is in it */
	const size_t *cells;   /* of each point (of one, without points); ZM_VIEW_NO_CELL: none */
};

/* The first of these metrics that the kernel has in that cell; NULL: none. */
const struct zm_measured_figure *zm_document_view_figure(const struct zm_view *view, size_t side,
							 size_t cell, const char *const *metrics);

/* -ENOMEM. */
int zm_document_view_print(const struct zm_view *view, FILE *out);

/* {"id", "table", "cells", "measured": […], "shape": […]}. NULL: no memory. */
json_t *zm_document_view_json(const struct zm_view *view);

#endif
