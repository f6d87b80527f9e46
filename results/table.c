/* table: texts in columns. */
#include "results/table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "results/array.h"
#include "results/utf8.h"

#define LEAST_WIDTH 12
#define GAP         2

struct zm_table {
	const struct zm_column *columns;
	size_t nr_columns;
	char **cells;
	size_t nr_cells, capacity;
	int error;
};

struct zm_table *zm_table_new(const struct zm_column *columns, size_t nr_columns)
{
	struct zm_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = columns;
	table->nr_columns = nr_columns;
	return table;
}

void zm_table_free(struct zm_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

size_t zm_table_nr_rows(const struct zm_table *table)
{
	return table ? table->nr_cells / table->nr_columns : 0;
}

static void add_cell(struct zm_table *table, const char *text)
{
	table->error = zm_array_grow((void **)&table->cells, &table->capacity, table->nr_cells,
				     sizeof(*table->cells));
	if (table->error)
		return;
	table->cells[table->nr_cells] = zm_utf8_printable(text);
	if (table->cells[table->nr_cells])
		table->nr_cells++;
	else
		table->error = -ENOMEM;
}

void zm_table_cell(struct zm_table *table, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	if (!table || table->error)
		return;
	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		table->error = -ENOMEM;
	else
		add_cell(table, text);
	free(length < 0 ? NULL : text);
}

void zm_table_figure(struct zm_table *table, double value)
{
	char text[32];

	zm_table_cell(table, "%s", zm_table_number(text, sizeof(text), value));
}

char *zm_table_number(char *buf, size_t size, double value)
{
	double magnitude = fabs(value);
	int decimals;

	buf[0] = '\0';
	if (isnan(value))
		return buf;
	if (magnitude >= 1e15 || (magnitude > 0 && magnitude < 1e-4)) {
		(void)snprintf(buf, size, "%.3e", value);
	} else if (value == rint(value) || magnitude >= 10000) {
		(void)snprintf(buf, size, "%.0f", value);
	} else {
		decimals = 3 - (int)floor(log10(magnitude));
		(void)snprintf(buf, size, "%.*f", decimals, value);
	}
	return buf;
}

char *zm_table_percent(char *buf, size_t size, double share)
{
	double percent = share * 100;

	buf[0] = '\0';
	if (isnan(share))
		return buf;
	(void)snprintf(buf, size, "%.*f%%", fabs(percent) >= 10 ? 1 : 2, percent);
	return buf;
}

size_t zm_table_terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 80;
}

static const char *cell_at(const struct zm_table *table, size_t row, size_t column)
{
	return table->cells[row * table->nr_columns + column];
}

static void measure(const struct zm_table *table, size_t *widths)
{
	size_t nr_rows = zm_table_nr_rows(table);

	for (size_t column = 0; column < table->nr_columns; column++) {
		size_t title = zm_utf8_width(table->columns[column].title);

		widths[column] = 0;
		for (size_t row = 0; row < nr_rows; row++) {
			size_t width = zm_utf8_width(cell_at(table, row, column));

			widths[column] = width > widths[column] ? width : widths[column];
		}
		if (widths[column] && title > widths[column])
			widths[column] = title;
	}
}

static size_t whole_width(const struct zm_table *table, const size_t *widths)
{
	size_t whole = 0;

	for (size_t column = 0; column < table->nr_columns; column++)
		whole += widths[column] ? widths[column] + GAP : 0;
	return whole > GAP ? whole - GAP : 0;
}

/* Takes from the widest column that may give until the table fits. */
static void squeeze(const struct zm_table *table, size_t *widths, size_t most)
{
	size_t whole = whole_width(table, widths);

	while (whole > most) {
		size_t widest = table->nr_columns;

		for (size_t column = 0; column < table->nr_columns; column++) {
			if (table->columns[column].may_be_cut && widths[column] > LEAST_WIDTH &&
			    (widest == table->nr_columns || widths[column] > widths[widest]))
				widest = column;
		}
		if (widest == table->nr_columns)
			return;
		widths[widest]--;
		whole--;
	}
}

static void print_blanks(FILE *out, size_t nr)
{
	for (; nr; nr--)
		(void)fputc(' ', out);
}

static void print_cell(FILE *out, const char *text, size_t width, bool is_right, bool is_last)
{
	size_t own = zm_utf8_width(text);
	bool is_cut = own > width;
	size_t bytes = is_cut ? zm_utf8_cut(text, width - 1) : strlen(text);
	size_t blanks = is_cut ? 0 : width - own;

	if (is_right)
		print_blanks(out, blanks);
	(void)fwrite(text, 1, bytes, out);
	if (is_cut)
		(void)fputs("…", out);
	if (!is_right && !is_last)
		print_blanks(out, blanks);
}

static bool is_last_text(const struct zm_table *table, size_t row, size_t column,
			 const size_t *widths)
{
	for (size_t other = column + 1; other < table->nr_columns; other++) {
		const char *text =
			row == SIZE_MAX ? table->columns[other].title : cell_at(table, row, other);

		if (widths[other] && *text)
			return false;
	}
	return true;
}

/* row SIZE_MAX: the titles. Nothing is printed behind the last text of a line. */
static void print_row(const struct zm_table *table, FILE *out, size_t row, const size_t *widths,
		      const char *indent)
{
	bool is_first = true;

	(void)fputs(indent, out);
	for (size_t column = 0; column < table->nr_columns; column++) {
		bool is_last = is_last_text(table, row, column, widths);

		if (!widths[column])
			continue;
		if (!is_first)
			print_blanks(out, GAP);
		print_cell(out,
			   row == SIZE_MAX ? table->columns[column].title
					   : cell_at(table, row, column),
			   widths[column], table->columns[column].is_right, is_last);
		if (is_last)
			break;
		is_first = false;
	}
	(void)fputc('\n', out);
}

int zm_table_print(const struct zm_table *table, FILE *out, size_t width, const char *indent)
{
	size_t indented = strlen(indent);
	size_t *widths;
	size_t nr_rows;

	if (!table || table->error)
		return -ENOMEM;
	nr_rows = zm_table_nr_rows(table);
	if (nr_rows == 0)
		return 0;
	widths = calloc(table->nr_columns + 1, sizeof(*widths));
	if (!widths)
		return -ENOMEM;
	measure(table, widths);
	if (width)
		squeeze(table, widths, width > indented ? width - indented : 1);
	print_row(table, out, SIZE_MAX, widths, indent);
	for (size_t row = 0; row < nr_rows; row++)
		print_row(table, out, row, widths, indent);
	free(widths);
	return 0;
}
