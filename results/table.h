/*
 * table: texts in columns.
 *
 *     table = zm_table_new(columns, nr);
 *     zm_table_cell(table, "%s", name);      one cell after the other; a row is full after the last
 *     zm_table_print(table, out, width);
 *
 * Cells may hold anything; they are made printable. Columns are as wide as their widest cell; when
 * the table is wider than the terminal, the columns that may be cut are, with "…" at the end. Columns
 * in which no cell has a text are left out.
 */
#ifndef ZM_RESULTS_TABLE_H
#define ZM_RESULTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct zm_column {
	const char *title;
	bool is_right;   /* numbers: aligned to the right */
	bool may_be_cut; /* when the terminal is too narrow; down to 12 columns */
};

struct zm_table;

/* The columns must live as long as the table. NULL: no memory. */
struct zm_table *zm_table_new(const struct zm_column *columns, size_t nr_columns);
void zm_table_free(struct zm_table *table);

/* All of these do nothing on NULL, and remember running out of memory. */
void zm_table_cell(struct zm_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A number as tables show it (zm_table_number), or an empty cell for NaN. */
void zm_table_figure(struct zm_table *table, double value);
size_t zm_table_nr_rows(const struct zm_table *table);

/* How wide the terminal on stdout is; 0: it is none, so as wide as it gets. */
size_t zm_table_terminal_width(void);

/* width 0: as wide as it gets. -ENOMEM (then nothing was printed). */
int zm_table_print(const struct zm_table *table, FILE *out, size_t width, const char *indent);

/* Four significant digits or more: "301245", "1234.5", "0.01234", "1.5e+12"; "" for NaN. Returns
 * buf. */
char *zm_table_number(char *buf, size_t size, double value);

/* A share as "12.3%", "0.05%"; "" for NaN. */
char *zm_table_percent(char *buf, size_t size, double share);

#endif
