/*
 * page: one HTML page that holds all it shows: opened from a file, without a network, without scripts.
 *
 *     zm_page_begin(out, title)      head, style for light and dark, a content security policy
 *     zm_page_text(out, text)        any text, escaped: nothing in it is markup
 *     zm_page_table …                a table, cell by cell
 *     zm_page_picture(out, …)        an SVG in which nothing can act: it is an image
 *     zm_page_compare, zm_page_scaling, zm_page_run    sections, each in a file of its own
 *     zm_page_end(out)
 *
 * A failed write is the stream's to tell.
 */
#ifndef ZM_RESULTS_PAGE_H
#define ZM_RESULTS_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "results/compare.h"
#include "results/digest.h"
#include "results/table.h"

void zm_page_begin(FILE *out, const char *title);
void zm_page_end(FILE *out);

/* What is no UTF-8 and control characters are made visible. NULL writes nothing. */
void zm_page_text(FILE *out, const char *text);

/* <NAME>text</NAME>. */
void zm_page_element(FILE *out, const char *name, const char *text);

/* Its members are not for others. */
struct zm_page_table {
	FILE *out;
	const struct zm_column *columns;
	size_t nr_columns, at;
};

/* The columns must live as long as the table. */
void zm_page_table_begin(struct zm_page_table *table, FILE *out, const char *caption,
			 const struct zm_column *columns, size_t nr_columns);
void zm_page_cell(struct zm_page_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void zm_page_figure(struct zm_page_table *table, double value); /* as zm_table_figure */
void zm_page_table_end(struct zm_page_table *table);

void zm_page_picture(FILE *out, const char *svg, size_t length, const char *description);

/* Verdicts first, then what failed, what else changed, and how the machines differ. */
void zm_page_compare(FILE *out, const struct zm_compare *compare, size_t nr_explanations);

/* Each primary figure against the number of tasks, a curve for each side: of what was run with two numbers of
 * tasks or more and is the same otherwise. Nothing where there is none. -ENOMEM, or the store's error. */
int zm_page_scaling(FILE *out, const struct zm_compare_side *sides, size_t nr_sides,
		    struct zm_why *why);

/* One run: figures, curves, histograms, flame graph, what could not be had, the machine, the command that
 * repeats it. What cannot be drawn is said in its place. -ENOMEM, or the store's error. */
int zm_page_run(FILE *out, struct zm_store *store, const struct zm_digest *digest,
		struct zm_why *why);

#endif
