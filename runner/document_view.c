/*
 * document_view: figures are looked up by the names that the document's file gives them here; then one
 * function per form.
 *
 *     changelog   rows of the document's kernels, then of those measured; base = 100 where it is there
 *     lkp         the robot's table; one kernel is a column more, several are a table of their own
 *     mmtests     the document's means, then the measured ones, by numbers of tasks
 *     sweep       rows by the document's parameter, then rows by the cells that were run
 */
#include "runner/document_view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_form.h"
#include "results/stat.h"
#include "results/table.h"
#include "runner/shape_view.h"
#include "workloads/base/cleanup.h"

#define MAX_COLUMNS 24

/* --- what was measured --- */

static size_t cell_of(const struct zm_view *view, size_t point)
{
	return view->cells[point];
}

const struct zm_measured_figure *zm_document_view_figure(const struct zm_view *view, size_t side,
							 size_t cell, const char *const *metrics)
{
	const struct zm_measured_figure *figure = NULL;

	if (cell == ZM_VIEW_NO_CELL)
		return NULL;
	for (size_t i = 0; !figure && i < ZM_DOCUMENT_METRICS && metrics[i]; i++)
		figure =
			zm_measured_find(&view->measured[side * view->nr_cells + cell], metrics[i]);
	return figure;
}

static double value_of(const struct zm_view *view, size_t side, size_t cell, size_t row)
{
	const struct zm_document_figure *wanted = &view->table->figures[row];
	const struct zm_measured_figure *figure =
		zm_document_view_figure(view, side, cell, wanted->metrics);

	if (!figure)
		return NAN;
	return wanted->is_inverse ? 1 / figure->mean : figure->mean;
}

/* Relative to the first kernel measured, where the document's are to theirs. */
static double shown_value(const struct zm_view *view, size_t side, size_t cell, size_t row)
{
	double value = value_of(view, side, cell, row);

	return view->table->figures[row].is_relative ? 100 * value / value_of(view, 0, cell, row)
						     : value;
}

/* --- notes --- */

static void print_name(const struct zm_view *view, FILE *out)
{
	const struct zm_mail_machine *machine = &view->table->record.machine;
	const char *model = machine->codename ? machine->codename : machine->model;

	(void)fprintf(out, "\n%s: %s\n", view->document->id, view->document->title);
	(void)fprintf(out, "  from    %s\n", view->document->source);
	if (view->table->title)
		model = view->table->title;
	if (model || machine->nr_cpus)
		(void)fprintf(out, "  there   %s%s", model ? model : "",
			      model && machine->nr_cpus ? ", " : "");
	if (machine->nr_sockets && machine->nr_cpus)
		(void)fprintf(out, "%u sockets, ", machine->nr_sockets);
	if (machine->nr_cpus)
		(void)fprintf(out, "%u CPUs", machine->nr_cpus);
	if (model || machine->nr_cpus)
		(void)fputc('\n', out);
	for (size_t i = 0; i < view->nr_cells; i++)
		(void)fprintf(out, "  %s  %s\n", i ? "      " : "here  ", view->titles[i]);
	(void)fputc('\n', out);
}

/* What 100 is here, and what has no figure. */
static void print_column_notes(const struct zm_view *view, size_t cell, FILE *out)
{
	for (size_t i = 0; i < view->document->nr_columns; i++) {
		const struct zm_document_figure *wanted = &view->table->figures[i];
		const struct zm_measured_figure *figure =
			zm_document_view_figure(view, 0, cell, wanted->metrics);
		char number[32];

		if (!figure)
			(void)fprintf(out, "  %s: not measured here%s%s%s\n", wanted->name,
				      wanted->metrics[0] ? " (" : "",
				      wanted->metrics[0] ? wanted->metrics[0] : "",
				      wanted->metrics[0] ? ")" : "");
		else if (wanted->is_relative)
			(void)fprintf(out, "  %s: 100.0 here is %s %s (%s)\n", wanted->name,
				      zm_table_number(number, sizeof(number), figure->mean),
				      figure->unit, figure->metric);
		else
			(void)fprintf(out, "  %s: here %s%s\n", wanted->name,
				      wanted->is_inverse ? "1 / " : "", figure->metric);
	}
}

/* --- changelog and sweep --- */

/* As many decimals as the document has in this column, one at least. */
static int decimals_of(const struct zm_document_table *table, size_t row)
{
	int decimals = 1;

	for (unsigned int i = 0; i < table->record.nr_commits; i++) {
		double value = table->record.rows[row].cells[i].value;

		while (decimals < 3 &&
		       fabs(value * pow(10, decimals) - round(value * pow(10, decimals))) > 1e-6)
			decimals++;
	}
	return decimals;
}

static void put_value(struct zm_table *table, double value, int decimals)
{
	if (isfinite(value))
		zm_table_cell(table, "%.*f", decimals, value);
	else
		zm_table_cell(table, "-");
}

static struct zm_table *new_table(const struct zm_view *view, struct zm_column *columns,
				  const char *first)
{
	size_t nr = view->document->nr_columns;

	nr = nr < MAX_COLUMNS - 2 ? nr : MAX_COLUMNS - 2;
	columns[0] = (struct zm_column){ .title = "" };
	columns[1] = (struct zm_column){ .title = first };
	for (size_t i = 0; i < nr; i++)
		columns[i + 2] =
			(struct zm_column){ .title = view->document->columns[i], .is_right = true };
	return zm_table_new(columns, nr + 2);
}

static int print_table(struct zm_table *table, FILE *out)
{
	int r = table ? zm_table_print(table, out, 0, "  ") : -ENOMEM;

	zm_table_free(table);
	return r;
}

static int print_changelog(const struct zm_view *view, FILE *out)
{
	const struct zm_mail_record *record = &view->table->record;
	struct zm_column columns[MAX_COLUMNS];
	struct zm_table *table = new_table(view, columns, "kernel");
	size_t cell = cell_of(view, 0);
	int r;

	for (unsigned int i = 0; i < record->nr_commits; i++) {
		zm_table_cell(table, "%s", i ? "" : "documented");
		zm_table_cell(table, "%s", record->commits[i].name);
		for (size_t k = 0; k < record->nr_rows; k++)
			put_value(table, record->rows[k].cells[i].value,
				  decimals_of(view->table, k));
	}
	for (size_t i = 0; i < view->nr_sides; i++) {
		zm_table_cell(table, "%s", i ? "" : "measured");
		zm_table_cell(table, "%s", view->sides[i].name);
		for (size_t k = 0; k < record->nr_rows; k++)
			put_value(table, shown_value(view, i, cell, k),
				  decimals_of(view->table, k));
	}
	r = print_table(table, out);
	if (r == 0)
		print_column_notes(view, cell, out);
	return r;
}

static void put_points(const struct zm_view *view, struct zm_table *table)
{
	size_t nr = view->document->nr_columns;

	for (size_t i = 0; i < view->table->nr_points; i++) {
		zm_table_cell(table, "%s", i ? "" : "documented");
		zm_table_cell(table, "%s", view->table->points[i]);
		for (size_t k = 0; k < nr; k++) {
			size_t row = i * nr + k;

			put_value(table, view->table->record.rows[row].cells[0].value,
				  decimals_of(view->table, row));
		}
	}
}

static int print_sweep(const struct zm_view *view, FILE *out)
{
	struct zm_column columns[MAX_COLUMNS];
	struct zm_table *table = new_table(view, columns, view->document->vary);
	int r;

	put_points(view, table);
	for (size_t side = 0; side < view->nr_sides; side++) {
		for (size_t cell = 0; cell < view->nr_cells; cell++) {
			zm_table_cell(table, "%s", cell ? "" : view->sides[side].name);
			zm_table_cell(table, "%s", view->titles[cell]);
			for (size_t k = 0; k < view->document->nr_columns; k++)
				put_value(table, value_of(view, side, cell, k), 2);
		}
	}
	r = print_table(table, out);
	if (r == 0 && view->nr_cells)
		print_column_notes(view, 0, out);
	return r;
}

/* --- mmtests --- */

static void print_mmtests_heads(const struct zm_view *view, int width, FILE *out)
{
	const struct zm_mail_record *record = &view->table->record;

	(void)fprintf(out, "%*s", width + 6, "");
	for (unsigned int i = 0; i < record->nr_commits; i++)
		(void)fprintf(out, "%*.*s", ZM_REPORT_FORM_MEAN, ZM_REPORT_FORM_MEAN - 1,
			      record->commits[i].name);
	for (size_t i = 0; i < view->nr_sides; i++)
		(void)fprintf(out, "%*.*s", ZM_REPORT_FORM_MEAN, ZM_REPORT_FORM_MEAN - 1,
			      view->sides[i].name);
	(void)fputc('\n', out);
}

static double mean_of(const struct zm_view *view, size_t side, size_t row)
{
	const struct zm_document_figure *wanted = &view->table->figures[row];
	const struct zm_measured_figure *figure =
		zm_document_view_figure(view, side, cell_of(view, wanted->point), wanted->metrics);

	return figure ? zm_stat_hmean(figure->values, figure->nr) : NAN;
}

static int print_mmtests(const struct zm_view *view, FILE *out)
{
	const struct zm_mail_record *record = &view->table->record;
	int width = 0;

	for (size_t i = 0; i < record->nr_rows; i++) {
		int length = (int)strlen(view->table->figures[i].name);

		width = length > width ? length : width;
	}
	print_mmtests_heads(view, width, out);
	for (size_t i = 0; i < record->nr_rows; i++) {
		(void)fprintf(out, "Hmean %-*s", width, view->table->figures[i].name);
		for (unsigned int k = 0; k < record->nr_commits; k++) {
			const struct zm_mail_cell *cell = &record->rows[i].cells[k];

			zm_report_form_mean(out, cell->value, k ? cell->change : 0,
					    cell->is_marked);
		}
		for (size_t side = 0; side < view->nr_sides; side++) {
			double mean = mean_of(view, side, i), base = mean_of(view, 0, i);

			zm_report_form_mean(out, mean, 100 * (mean - base) / base, false);
		}
		(void)fputc('\n', out);
	}
	return 0;
}

/* --- lkp --- */

static double stddev_of(const struct zm_measured_figure *figure)
{
	return figure->mean != 0 ? 100 * figure->sd / fabs(figure->mean) : NAN;
}

static bool ends_in_percent(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && name[length - 1] == '%';
}

/* A measured column; its change is against `base`. */
static struct zm_mail_cell measured_cell(const struct zm_measured_figure *figure, double base,
					 bool is_share)
{
	double change = figure->mean - base;

	return (struct zm_mail_cell){
		.value = figure->mean,
		.stddev = stddev_of(figure),
		.change = is_share    ? change
			  : base != 0 ? 100 * change / fabs(base)
				      : NAN,
		.is_percent = !is_share,
	};
}

/* The documented row, with one kernel's column behind it. */
static void print_beside(const struct zm_view *view, size_t row, FILE *out)
{
	const struct zm_mail_record *record = &view->table->record;
	const struct zm_measured_figure *figure = zm_document_view_figure(
		view, 0, cell_of(view, 0), view->table->figures[row].metrics);
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS + 1];
	const struct zm_mail_row wider = { record->rows[row].metric, false, cells };
	unsigned int nr = record->nr_commits;

	if (!figure)
		return;
	memcpy(cells, record->rows[row].cells, nr * sizeof(cells[0]));
	if (view->nr_sides == 1)
		cells[nr++] =
			measured_cell(figure, cells[0].value, ends_in_percent(figure->metric));
	zm_report_form_row(out, &wider, nr);
}

static void print_own(const struct zm_view *view, size_t row, FILE *out)
{
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS];
	const struct zm_mail_row own = { view->table->record.rows[row].metric, false, cells };

	for (size_t side = 0; side < view->nr_sides; side++) {
		const struct zm_measured_figure *figure = zm_document_view_figure(
			view, side, cell_of(view, 0), view->table->figures[row].metrics);

		if (!figure)
			return;
		cells[side] = measured_cell(figure, side ? cells[0].value : 0,
					    ends_in_percent(figure->metric));
		if (side == 0)
			cells[0].change = NAN;
	}
	zm_report_form_row(out, &own, (unsigned int)view->nr_sides);
}

static void print_kernels(const struct zm_view *view, bool with_documented, bool with_measured,
			  FILE *out)
{
	const struct zm_mail_record *record = &view->table->record;
	struct zm_mail_commit commits[2 * ZM_MAIL_COLUMNS];
	const char *heads[2 * ZM_MAIL_COLUMNS];
	unsigned int nr = 0;

	for (unsigned int i = 0; with_documented && i < record->nr_commits; i++)
		commits[nr++] = record->commits[i];
	for (size_t i = 0; with_measured && i < view->nr_sides; i++)
		commits[nr++] = (struct zm_mail_commit){ .name = view->sides[i].name,
							 .title = "measured here" };
	for (unsigned int i = 0; i < nr; i++)
		heads[i] = commits[i].head ? commits[i].head : commits[i].name;
	zm_report_form_commits(out, commits, nr);
	zm_report_form_heads(out, heads, nr);
	zm_report_form_titles(out, nr, false);
}

static int print_lkp(const struct zm_view *view, FILE *out)
{
	const struct zm_mail_record *record = &view->table->record;

	zm_report_form_keys(out, &record->params, record->testcase);
	print_kernels(view, true, view->nr_sides == 1, out);
	for (size_t i = 0; i < record->nr_rows; i++)
		print_beside(view, i, out);
	if (view->nr_sides < 2)
		return 0;
	(void)fputc('\n', out);
	zm_report_form_keys(out, &record->params, record->testcase);
	print_kernels(view, false, true, out);
	for (size_t i = 0; i < record->nr_rows; i++)
		print_own(view, i, out);
	return 0;
}

/* --- all of it --- */

int zm_document_view_print(const struct zm_view *view, FILE *out)
{
	static int (*const printers[])(const struct zm_view *, FILE *) = {
		[ZM_DOCUMENT_CHANGELOG] = print_changelog,
		[ZM_DOCUMENT_LKP] = print_lkp,
		[ZM_DOCUMENT_MMTESTS] = print_mmtests,
		[ZM_DOCUMENT_SWEEP] = print_sweep,
	};
	int r;

	print_name(view, out);
	r = printers[view->document->form](view, out);
	return r == 0 ? zm_shape_view_print(view, out) : r;
}

static json_t *figures_json(const struct zm_measured *measured)
{
	json_t *array = json_array();

	for (size_t i = 0; i < measured->nr_figures; i++) {
		const struct zm_measured_figure *figure = &measured->figures[i];

		(void)json_array_append_new(
			array, json_pack("{s:s, s:s, s:f, s:o, s:i}", "metric", figure->metric,
					 "unit", figure->unit, "mean", figure->mean, "stddev",
					 isfinite(figure->sd) ? json_real(figure->sd) : json_null(),
					 "n", (int)figure->nr));
	}
	return array;
}

json_t *zm_document_view_json(const struct zm_view *view)
{
	json_t *measured = json_array();

	for (size_t side = 0; side < view->nr_sides; side++) {
		for (size_t cell = 0; cell < view->nr_cells; cell++) {
			const struct zm_measured *figures =
				&view->measured[side * view->nr_cells + cell];
			unsigned int variant = view->sides[side].variant;

			(void)json_array_append_new(
				measured,
				json_pack("{s:s, s:s, s:s, s:i, s:o}", "kernel",
					  view->sides[side].name, "stands_for",
					  view->table->record.commits[variant].name, "cell",
					  view->titles[cell], "launches", (int)figures->nr_launches,
					  "figures", figures_json(figures)));
		}
	}
	return json_pack("{s:s, s:s?, s:s, s:o, s:o}", "id", view->document->id, "table",
			 view->table->title, "form", zm_document_form_name(view->document->form),
			 "measured", measured, "shape", zm_shape_view_json(view));
}
