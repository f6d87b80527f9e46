/* report_form: widths as the robots have them: 10 for a value, 6 for its stddev, 12 for a change. */
#include "results/report_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/utf8.h"
#include "workloads/base/cleanup.h"

#define FIRST_WIDTH  16
#define COLUMN_WIDTH 27

static void print_text(FILE *out, const char *text)
{
	zm_autofree char *printable = zm_utf8_printable(text ? text : "");

	(void)fputs(printable ? printable : "", out);
}

void zm_report_form_keys(FILE *out, const struct zm_mail_pairs *params, const char *testcase)
{
	(void)fputs(ZM_REPORT_FORM_RULE "\n", out);
	for (size_t i = 0; i < params->nr; i++) {
		print_text(out, params->list[i].name);
		(void)fputc('/', out);
	}
	(void)fputs("testcase:\n  ", out);
	for (size_t i = 0; i < params->nr; i++) {
		print_text(out, params->list[i].value);
		(void)fputc('/', out);
	}
	print_text(out, testcase);
	(void)fputs("\n\n", out);
}

void zm_report_form_commits(FILE *out, const struct zm_mail_commit *commits, unsigned int nr)
{
	(void)fputs("commit: \n", out);
	for (unsigned int i = 0; i < nr; i++) {
		(void)fputs("  ", out);
		print_text(out, commits[i].name ? commits[i].name : commits[i].head);
		if (commits[i].title) {
			(void)fputs(" (\"", out);
			print_text(out, commits[i].title);
			(void)fputs("\")", out);
		}
		(void)fputc('\n', out);
	}
	(void)fputc('\n', out);
}

/* A column's name, to its right end and cut to its width. */
static void print_head(FILE *out, const char *head, int width)
{
	zm_autofree char *printable = zm_utf8_printable(head ? head : "");
	size_t bytes = printable ? zm_utf8_cut(printable, (size_t)width) : 0;
	int taken = 0;

	if (printable) {
		printable[bytes] = '\0';
		taken = (int)zm_utf8_width(printable);
	}
	(void)fprintf(out, "%*s%s ", width - taken, "", printable ? printable : "");
}

void zm_report_form_heads(FILE *out, const char *const *heads, unsigned int nr_columns)
{
	static const char dashes[] = "---------------------------";

	for (unsigned int i = 0; i < nr_columns; i++)
		print_head(out, heads[i], i ? COLUMN_WIDTH : FIRST_WIDTH);
	(void)fputc('\n', out);
	for (unsigned int i = 0; i < nr_columns; i++)
		(void)fprintf(out, "%.*s ", i ? COLUMN_WIDTH : FIRST_WIDTH, dashes);
	(void)fputc('\n', out);
}

void zm_report_form_titles(FILE *out, unsigned int nr_columns, bool are_fails)
{
	(void)fputs(are_fails ? "       fail:runs" : "         %stddev", out);
	for (unsigned int i = 1; i < nr_columns; i++)
		(void)fputs(are_fails ? "  %reproduction    fail:runs"
				      : "     %change         %stddev",
			    out);
	(void)fputs(are_fails ? "\n           |    " : "\n             \\  ", out);
	for (unsigned int i = 1; i < nr_columns; i++)
		(void)fputs(are_fails ? "         |             |    "
				      : "        |                \\  ",
			    out);
	(void)fputc('\n', out);
}

char *zm_report_form_value(char *buf, size_t size, double value)
{
	double magnitude = fabs(value);

	if (isnan(value))
		(void)snprintf(buf, size, "%s", "");
	else if (magnitude < 1000)
		(void)snprintf(buf, size, "%.2f", value);
	else if (magnitude >= 1e8)
		(void)snprintf(buf, size, "%.4g", value);
	else
		(void)snprintf(buf, size, "%.0f", value);
	return buf;
}

static void print_change(FILE *out, const struct zm_mail_cell *cell)
{
	const char *unit = cell->is_percent ? "%" : " ";

	if (isnan(cell->change))
		(void)fprintf(out, "%12s", "");
	else if (fabs(cell->change) < 100000)
		(void)fprintf(out, "%+10.1f%s ", cell->change, unit);
	else
		(void)fprintf(out, "%+10.2g%s ", cell->change, unit);
}

static void print_figure(FILE *out, const struct zm_mail_cell *cell, bool has_change)
{
	char value[32];

	if (has_change)
		print_change(out, cell);
	(void)fprintf(out, "%10s", zm_report_form_value(value, sizeof(value), cell->value));
	if (cell->stddev >= 2)
		(void)fprintf(out, " \xc2\xb1%3.0f%%", floor(cell->stddev));
	else
		(void)fputs("      ", out);
}

static void print_fails(FILE *out, const struct zm_mail_cell *cell, bool has_change)
{
	char fails[32] = " ";

	if (has_change && isnan(cell->change))
		(void)fprintf(out, "%12s", "");
	else if (has_change)
		(void)fprintf(out, "%10.0f%% ", cell->change);
	if (cell->value > 0)
		(void)snprintf(fails, sizeof(fails), "%.0f", cell->value);
	(void)fprintf(out, "%11s:%-4.0f", fails, cell->runs);
}

void zm_report_form_row(FILE *out, const struct zm_mail_row *row, unsigned int nr_columns)
{
	for (unsigned int i = 0; i < nr_columns; i++) {
		if (row->is_fail)
			print_fails(out, &row->cells[i], i > 0);
		else
			print_figure(out, &row->cells[i], i > 0);
	}
	(void)fprintf(out, "  %s\n", row->metric);
}

void zm_report_form_mean(FILE *out, double mean, double gain, bool is_marked)
{
	char text[64];

	if (isnan(mean)) {
		(void)fprintf(out, "%*s", ZM_REPORT_FORM_MEAN, "");
		return;
	}
	(void)snprintf(text, sizeof(text), "%.2f %c%8.2f%%%c", mean, is_marked ? '*' : '(',
		       isfinite(gain) ? gain : 0.0, is_marked ? '*' : ')');
	(void)fprintf(out, "%*s", ZM_REPORT_FORM_MEAN, text);
}
