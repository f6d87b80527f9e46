/*
 * shape_view: every pair of a documented figure and a kernel against the first one measured is a line;
 * then what the text around the table says; then the order of the kernels, where there are three.
 */
#include "runner/shape_view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/table.h"
#include "runner/shape.h"
#include "workloads/base/cleanup.h"

struct line {
	const char *figure;
	size_t side; /* against side 0 */
	bool is_most;
	struct zm_shape_found found;
};

struct lines {
	struct line *list;
	size_t nr, capacity;
	int error;
};

/* --- collecting --- */

/* Its values, the other way up where the document has seconds and we have a rate. */
static double *values_of(const struct zm_measured_figure *figure, bool is_inverse)
{
	double *values = malloc((figure->nr + 1) * sizeof(*values));

	for (size_t i = 0; values && i < figure->nr; i++)
		values[i] = is_inverse ? 1 / figure->values[i] : figure->values[i];
	return values;
}

static void add(struct lines *lines, const char *name, size_t side, double documented,
		const struct zm_measured_figure *base, const struct zm_measured_figure *new,
		bool is_inverse)
{
	zm_autofree double *from = values_of(base, is_inverse), *to = values_of(new, is_inverse);
	struct line line = { .figure = name, .side = side };

	if (!from || !to)
		lines->error = -ENOMEM;
	if (!lines->error)
		lines->error = zm_shape_judge(documented, from, base->nr, to, new->nr, &line.found);
	if (!lines->error)
		lines->error = zm_array_grow((void **)&lines->list, &lines->capacity, lines->nr,
					     sizeof(*lines->list));
	if (!lines->error)
		lines->list[lines->nr++] = line;
}

/* The documented change from the kernel that the base stands for to the side's; NaN, and no line: from 0, or
 * one has no figure there. */
static double documented_change(const struct zm_view *view, size_t row, size_t side)
{
	const struct zm_mail_cell *cells = view->table->record.rows[row].cells;
	double base = cells[view->sides[0].variant].value;

	return base != 0 ? cells[view->sides[side].variant].value / base - 1 : (double)NAN;
}

static void add_row(const struct zm_view *view, struct lines *lines, size_t row)
{
	const struct zm_document_figure *wanted = &view->table->figures[row];
	size_t cell = view->cells[wanted->point];
	const struct zm_measured_figure *base =
		zm_document_view_figure(view, 0, cell, wanted->metrics);

	for (size_t side = 1; base && side < view->nr_sides; side++) {
		double change = documented_change(view, row, side);
		const struct zm_measured_figure *new =
			zm_document_view_figure(view, side, cell, wanted->metrics);

		if (new && !isnan(change) && !view->table->record.rows[row].is_fail)
			add(lines, wanted->name, side, change, base, new, wanted->is_inverse);
	}
}

static bool is_of(const struct zm_document_claim *claim, const char *variant)
{
	for (size_t i = 0; i < ZM_MAIL_COLUMNS && claim->of[i]; i++) {
		if (strcmp(claim->of[i], variant) == 0)
			return true;
	}
	return false;
}

/* At most so much: anything up to it is as documented. */
static void bound(struct line *line)
{
	double measured = isnan(line->found.low) ? line->found.measured : line->found.low;

	line->is_most = true;
	if (line->found.shape != ZM_SHAPE_UNKNOWN)
		line->found.shape = measured <= line->found.documented + 0.01 ? ZM_SHAPE_AGREES
									      : ZM_SHAPE_DIFFERS;
}

static void add_claim(const struct zm_view *view, struct lines *lines,
		      const struct zm_document_claim *claim)
{
	const struct zm_mail_commit *commits = view->table->record.commits;
	const struct zm_measured_figure *base =
		zm_document_view_figure(view, 0, view->cells[0], claim->metrics);
	double change = isnan(claim->base) ? claim->change / 100 : claim->value / claim->base - 1;

	if (!base || strcmp(commits[view->sides[0].variant].name, claim->against) != 0)
		return;
	for (size_t side = 1; side < view->nr_sides; side++) {
		const struct zm_measured_figure *new =
			zm_document_view_figure(view, side, view->cells[0], claim->metrics);

		if (!new || !is_of(claim, commits[view->sides[side].variant].name))
			continue;
		add(lines, claim->name, side, change, base, new, false);
		if (claim->is_most && lines->nr > 0)
			bound(&lines->list[lines->nr - 1]);
	}
}

static void collect(const struct zm_view *view, struct lines *lines)
{
	if (view->nr_sides < 2)
		return;
	for (size_t i = 0; i < view->table->record.nr_rows; i++)
		add_row(view, lines, i);
	for (size_t i = 0; i < view->document->nr_claims; i++)
		add_claim(view, lines, &view->document->claims[i]);
}

/* --- the order --- */

static void find_order(const struct zm_view *view, size_t row, size_t *ret_same, size_t *ret_pairs)
{
	const struct zm_document_figure *wanted = &view->table->figures[row];
	double documented[ZM_MAIL_COLUMNS], measured[ZM_MAIL_COLUMNS];

	for (size_t side = 0; side < view->nr_sides; side++) {
		const struct zm_measured_figure *figure = zm_document_view_figure(
			view, side, view->cells[wanted->point], wanted->metrics);

		documented[side] =
			view->table->record.rows[row].cells[view->sides[side].variant].value;
		measured[side] = figure ? figure->mean : (double)NAN;
		if (wanted->is_inverse)
			measured[side] = 1 / measured[side];
	}
	zm_shape_order(documented, measured, view->nr_sides, ret_same, ret_pairs);
}

static void print_order(const struct zm_view *view, FILE *out)
{
	if (view->nr_sides < 3)
		return;
	for (size_t i = 0; i < view->table->record.nr_rows; i++) {
		size_t same, pairs;

		find_order(view, i, &same, &pairs);
		if (pairs)
			(void)fprintf(out,
				      "  order by %s: %zu of %zu pairs of kernels as documented\n",
				      view->table->figures[i].name, same, pairs);
	}
}

/* --- answering --- */

static const char *percent(char *buf, size_t size, double share)
{
	(void)snprintf(buf, size, "%+.1f%%", 100 * share);
	return isnan(share) ? "" : buf;
}

static void put_line(const struct zm_view *view, struct zm_table *table, const struct line *line)
{
	const struct zm_shape_found *found = &line->found;
	char text[96], low[32], high[32];

	zm_table_cell(table, "%s", line->figure);
	zm_table_cell(table, "%s against %s", view->sides[line->side].name, view->sides[0].name);
	zm_table_cell(table, "%s%s", line->is_most ? "at most " : "",
		      percent(text, sizeof(text), found->documented));
	zm_table_cell(table, "%s", percent(text, sizeof(text), found->measured));
	if (isfinite(found->low) && isfinite(found->high))
		zm_table_cell(table, "%s … %s", percent(low, sizeof(low), found->low),
			      percent(high, sizeof(high), found->high));
	else
		zm_table_cell(table, "%s", "");
	zm_table_cell(table, "%s", zm_shape_name(found->shape));
}

static int print_lines(const struct zm_view *view, const struct lines *lines, FILE *out)
{
	static const struct zm_column columns[] = {
		{ .title = "figure", .may_be_cut = true },
		{ .title = "kernels" },
		{ .title = "documented", .is_right = true },
		{ .title = "measured", .is_right = true },
		{ .title = "95% interval" },
		{ .title = "shape" },
	};
	struct zm_table *table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int r;

	for (size_t i = 0; i < lines->nr; i++)
		put_line(view, table, &lines->list[i]);
	(void)fputc('\n', out);
	r = table ? zm_table_print(table, out, zm_table_terminal_width(), "  ") : -ENOMEM;
	if (view->is_between_boots)
		(void)fputs(
			"  One boot a kernel: what differs between two boots of one kernel would "
			"look the same.\n",
			out);
	zm_table_free(table);
	return r;
}

int zm_shape_view_print(const struct zm_view *view, FILE *out)
{
	struct lines lines = { 0 };
	int r;

	collect(view, &lines);
	r = lines.error;
	if (r == 0 && lines.nr > 0)
		r = print_lines(view, &lines, out);
	if (r == 0)
		print_order(view, out);
	free(lines.list);
	return r;
}

static json_t *share_json(double share)
{
	return isfinite(share) ? json_real(100 * share) : json_null();
}

json_t *zm_shape_view_json(const struct zm_view *view)
{
	json_t *array = json_array();
	struct lines lines = { 0 };

	collect(view, &lines);
	for (size_t i = 0; i < lines.nr; i++) {
		const struct line *line = &lines.list[i];

		(void)json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "figure",
					 line->figure, "kernel", view->sides[line->side].name,
					 "against", view->sides[0].name, "documented%",
					 share_json(line->found.documented), "measured%",
					 share_json(line->found.measured), "low%",
					 share_json(line->found.low), "high%",
					 share_json(line->found.high), "shape",
					 zm_shape_name(line->found.shape)));
	}
	free(lines.list);
	if (lines.error) {
		json_decref(array);
		return NULL;
	}
	return array;
}
