/*
 * format_compare_lkp: the kernel test robot's table.
 *
 *     a rule, the parameters' names and values, the sides, then
 *     rows     failures: failed:runs on each side, how much more often in percent
 *              figures:  mean, standard deviation in percent when it is 2 or more, change
 *
 * Widths, number forms and what is absolute (percentages) are the robot's, so that whoever reads its
 * mails reads this. Where its arithmetic has no answer (a base of 0) the change is absolute, too.
 */
#include "results/format_compare.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/json.h"
#include "results/stat.h"
#include "results/utf8.h"
#include "workloads/base/cleanup.h"

static char *number_text(char *buf, size_t size, double value)
{
	double magnitude = fabs(value);

	if (magnitude >= 1e8)
		(void)snprintf(buf, size, "%.4g", value);
	else if (magnitude >= 1000)
		(void)snprintf(buf, size, "%.0f", value);
	else
		(void)snprintf(buf, size, "%.2f", value);
	return buf;
}

/* "   7.27e+08 ±  3%": ten characters, and six for the deviation. */
static void print_value(FILE *out, const struct zm_compare_values *values)
{
	double percent = zm_stat_cv(values->values, values->nr) * 100;
	char text[32];

	if (values->nr == 0) {
		(void)fprintf(out, "%10s      ", "");
		return;
	}
	(void)fprintf(out, "%10s",
		      number_text(text, sizeof(text), zm_stat_mean(values->values, values->nr)));
	if (percent >= 2)
		(void)fprintf(out, " ± %2.0f%%", floor(fmin(percent, 999)));
	else
		(void)fputs("      ", out);
}

static void print_change(FILE *out, const struct zm_compare_metric *metric, size_t side)
{
	double base = zm_stat_mean(metric->sides[0].values, metric->sides[0].nr);
	double new = zm_stat_mean(metric->sides[side].values, metric->sides[side].nr);
	double percent = (new - base) * 100 / base;

	if (metric->sides[side].nr == 0)
		(void)fprintf(out, "%10s  ", "");
	else if (metric->is_share || base == 0)
		(void)fprintf(out, "%+10.1f  ", new - base);
	else if (fabs(percent) >= 1e5)
		(void)fprintf(out, "%+10.2g%% ", percent);
	else
		(void)fprintf(out, "%+10.1f%% ", percent);
}

static void print_row(const struct zm_compare *compare, const struct zm_compare_metric *metric,
		      FILE *out)
{
	print_value(out, &metric->sides[0]);
	for (size_t side = 1; side < compare->nr_sides; side++) {
		print_change(out, metric, side);
		print_value(out, &metric->sides[side]);
	}
	(void)fprintf(out, "  %s\n", metric->name);
}

static void print_fails(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			FILE *out)
{
	size_t base_nr = cell->sides[0].nr_ok + cell->sides[0].nr_failed;
	double base = base_nr ? (double)cell->sides[0].nr_failed / (double)base_nr : 0;
	bool has_any = false;

	for (size_t side = 0; side < compare->nr_sides; side++)
		has_any |= cell->sides[side].nr_failed > 0;
	if (!has_any)
		return;
	(void)fputs("       fail:runs", out);
	for (size_t side = 1; side < compare->nr_sides; side++)
		(void)fputs("  %reproduction    fail:runs", out);
	(void)fputs("\n           |    ", out);
	for (size_t side = 1; side < compare->nr_sides; side++)
		(void)fputs("         |             |    ", out);
	(void)fprintf(out, "\n%11zu:%-4zu", cell->sides[0].nr_failed, base_nr);
	for (size_t side = 1; side < compare->nr_sides; side++) {
		size_t nr = cell->sides[side].nr_ok + cell->sides[side].nr_failed;
		double share = nr ? (double)cell->sides[side].nr_failed / (double)nr : 0;

		(void)fprintf(out, "%10.0f%% %11zu:%-4zu", (share - base) * 100,
			      cell->sides[side].nr_failed, nr);
	}
	(void)fprintf(out, "  %s.fail\n", cell->workload);
}

/* The names and the values of the parameters, in the order of their names. */
static void print_keys(const struct zm_compare_cell *cell, FILE *out)
{
	json_t *object = json_loads(cell->cell, 0, NULL);
	char *dumped = json_dumps(object ? object : json_null(), JSON_SORT_KEYS);
	json_t *sorted = dumped ? json_loads(dumped, 0, NULL) : NULL;
	const char *key, *slash = "";
	json_t *value;

	for (size_t i = 0; i < 89; i++)
		(void)fputc('=', out);
	(void)fputc('\n', out);
	json_object_foreach(sorted, key, value)
	{
		(void)fprintf(out, "%s%s", slash, key);
		slash = "/";
	}
	(void)fprintf(out, "%s:\n  ", *slash ? "" : "testcase");
	slash = "";
	json_object_foreach(sorted, key, value)
	{
		char *text = json_is_string(value) ? strdup(json_string_value(value))
						   : json_dumps(value, JSON_ENCODE_ANY);
		zm_autofree char *printable = zm_utf8_printable(text ? text : "");

		(void)fprintf(out, "%s%s", slash, printable ? printable : "");
		slash = "/";
		free(text);
	}
	(void)fprintf(out, "%s\n\n", *slash ? "" : cell->workload);
	free(dumped);
	json_decref(sorted);
	json_decref(object);
}

/* A name of a side in a column's width. */
static void print_id(FILE *out, const char *name, int width)
{
	zm_autofree char *printable = zm_utf8_printable(name);
	size_t bytes = printable ? zm_utf8_cut(printable, (size_t)width) : 0;
	size_t taken = 0;

	if (printable) {
		printable[bytes] = '\0';
		taken = zm_utf8_width(printable);
	}
	(void)fprintf(out, "%*s%s ", width - (int)taken, "", printable ? printable : "");
}

static void print_sides(const struct zm_compare *compare, FILE *out)
{
	(void)fputs("commit: \n", out);
	for (size_t i = 0; i < compare->nr_sides; i++) {
		zm_autofree char *name = zm_utf8_printable(compare->sides[i].name);

		(void)fprintf(out, "  %s (\"Linux %s\")\n", name ? name : "",
			      compare->sides[i].kernels);
	}
	(void)fputc('\n', out);
	for (size_t i = 0; i < compare->nr_sides; i++)
		print_id(out, compare->sides[i].name, i ? 27 : 16);
	(void)fputs("\n---------------- ", out);
	for (size_t i = 1; i < compare->nr_sides; i++)
		(void)fputs("--------------------------- ", out);
	(void)fputc('\n', out);
}

static void print_titles(const struct zm_compare *compare, FILE *out)
{
	(void)fputs("         %stddev", out);
	for (size_t i = 1; i < compare->nr_sides; i++)
		(void)fputs("     %change         %stddev", out);
	(void)fputs("\n             \\  ", out);
	for (size_t i = 1; i < compare->nr_sides; i++)
		(void)fputs("        |                \\  ", out);
	(void)fputc('\n', out);
}

static int compare_names(const void *a, const void *b)
{
	const struct zm_compare_metric *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int print_figures(const struct zm_compare *compare, const struct zm_format_compare *options,
			 const struct zm_compare_cell *cell, FILE *out)
{
	const struct zm_compare_metric **rows = calloc(cell->nr_metrics + 1, sizeof(*rows));
	size_t nr = 0;

	if (!rows)
		return -ENOMEM;
	print_titles(compare, out);
	for (size_t i = 0; i < cell->nr_primary; i++)
		print_row(compare, &cell->metrics[i], out);
	for (size_t i = cell->nr_primary; i < cell->nr_metrics; i++) {
		if (nr < options->nr_explanations &&
		    zm_compare_explains(compare, &cell->metrics[i]))
			rows[nr++] = &cell->metrics[i];
	}
	if (nr > 1)
		qsort(rows, nr, sizeof(*rows), compare_names);
	for (size_t i = 0; i < nr; i++)
		print_row(compare, rows[i], out);
	free(rows);
	return 0;
}

int zm_format_compare_lkp(const struct zm_compare *compare, const struct zm_format_compare *options,
			  FILE *out)
{
	int error = 0;

	for (size_t i = 0; i < compare->nr_cells && !error; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		if (i)
			(void)fputc('\n', out);
		print_keys(cell, out);
		print_sides(compare, out);
		print_fails(compare, cell, out);
		error = print_figures(compare, options, cell, out);
	}
	return error;
}
