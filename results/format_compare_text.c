/*
 * format_compare_text: a comparison for a terminal.
 *
 *     sides      what was compared with what
 *     warnings   why the verdicts are to be taken with care
 *     verdicts   the primary metrics, one table
 *     failures   where a run failed
 *     why        explanations, ranked
 */
#include "results/format_compare.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "results/stat.h"
#include "results/table.h"
#include "results/utf8.h"
#include "workloads/base/cleanup.h"

static void print_text(FILE *out, const char *text)
{
	zm_autofree char *printable = zm_utf8_printable(text ? text : "(none)");

	(void)fputs(printable ? printable : "", out);
}

static void print_sides(const struct zm_compare *compare, FILE *out)
{
	for (size_t i = 0; i < compare->nr_sides; i++) {
		const struct zm_compare_side *side = &compare->sides[i];

		(void)fputs(i ? "against  " : "base     ", out);
		print_text(out, side->name);
		(void)fprintf(out, ": %zu run%s", side->nr_ok, side->nr_ok == 1 ? "" : "s");
		if (side->nr_failed)
			(void)fprintf(out, " and %zu that failed", side->nr_failed);
		(void)fprintf(out, ", %zu boot%s", side->nr_boots, side->nr_boots == 1 ? "" : "s");
		if (side->kernels && *side->kernels) {
			(void)fputs(", Linux ", out);
			print_text(out, side->kernels);
		}
		(void)fputc('\n', out);
	}
}

static void print_differences(const struct zm_compare *compare, FILE *out)
{
	for (size_t i = 0; i < compare->nr_differences; i++) {
		const struct zm_compare_difference *difference = &compare->differences[i];

		if (!strcmp(difference->key, "kernel")) /* stands with the sides */
			continue;
		(void)fputs("  ! differs: ", out);
		print_text(out, difference->key);
		for (size_t side = 0; side < compare->nr_sides; side++) {
			(void)fputs(side ? " -> " : ": ", out);
			print_text(out, difference->values[side]);
		}
		(void)fputc('\n', out);
	}
}

static void print_floors(const struct zm_compare *compare, FILE *out)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary; k++) {
			char text[512];

			if (!zm_compare_floor(text, sizeof(text), compare, cell, &cell->metrics[k]))
				continue;
			(void)fputs("  ! ", out);
			print_text(out, text);
			(void)fputc('\n', out);
		}
	}
}

static void print_warnings(const struct zm_compare *compare, FILE *out)
{
	if (zm_compare_any_between_boots(compare))
		(void)fputs("  ! one boot a side (*): what differs between two boots of one kernel "
			    "would look the same; run again after a reboot of each\n",
			    out);
	if (compare->nr_lone)
		(void)fprintf(out, "  ! %zu cell%s only one side has %s left out\n",
			      compare->nr_lone, compare->nr_lone == 1 ? " that" : "s that",
			      compare->nr_lone == 1 ? "is" : "are");
	print_floors(compare, out);
	print_differences(compare, out);
}

/* --- verdicts --- */

static void add_side(struct zm_table *table, const struct zm_compare_values *values)
{
	char text[32];

	zm_table_figure(table, zm_stat_median(values->values, values->nr));
	zm_table_cell(table, "%s",
		      zm_table_percent(text, sizeof(text), zm_stat_cv(values->values, values->nr)));
}

static void add_needed(struct zm_table *table, const struct zm_compare_outcome *outcome)
{
	if (outcome->nr_needed == 0)
		zm_table_cell(table, "%s", "");
	else if (outcome->nr_needed == SIZE_MAX)
		zm_table_cell(table, ">%d", ZM_JUDGE_MOST);
	else
		zm_table_cell(table, "%zu", outcome->nr_needed);
}

static void add_outcome(struct zm_table *table, const struct zm_compare_metric *metric,
			const struct zm_compare_outcome *outcome)
{
	const struct zm_judgement *judgement = &outcome->judgement;
	char low[48], high[48], text[48];

	zm_table_cell(table, "%s",
		      zm_compare_change(text, sizeof(text), metric, judgement, judgement->change));
	(void)zm_compare_change(low, sizeof(low), metric, judgement, judgement->low);
	(void)zm_compare_change(high, sizeof(high), metric, judgement, judgement->high);
	zm_table_cell(table, "%s%s%s", low, *low ? " … " : "", high);
	zm_table_cell(table, "%s%s", zm_verdict_name(outcome->verdict),
		      outcome->is_between_boots ? " *" : "");
	(void)zm_compare_change(text, sizeof(text), metric, judgement, judgement->detectable);
	zm_table_cell(table, "%s", *text ? text + 1 : ""); /* without the sign */
	zm_table_cell(table, "%zu+%zu %s", judgement->nr_base, judgement->nr_new,
		      zm_method_name(judgement->method));
	add_needed(table, outcome);
}

#define INTERVAL_COLUMN 9

static const struct zm_column verdict_columns[] = {
	{ .title = "cell", .may_be_cut = true },
	{ .title = "metric", .may_be_cut = true },
	{ .title = "base", .is_right = true },
	{ .title = "cv", .is_right = true },
	{ .title = "against", .may_be_cut = true },
	{ .title = "", .is_right = true },
	{ .title = "cv", .is_right = true },
	{ .title = "unit" },
	{ .title = "change", .is_right = true },
	[INTERVAL_COLUMN] = { .title = "" }, /* says its confidence */
	{ .title = "verdict" },
	{ .title = "seen from", .is_right = true },
	{ .title = "values" },
	{ .title = "it takes", .is_right = true },
};

static void add_metric(const struct zm_compare *compare, struct zm_table *table, const char *title,
		       const struct zm_compare_metric *metric)
{
	for (size_t side = 1; side < compare->nr_sides; side++) {
		if (!metric->sides[side].nr)
			continue;
		zm_table_cell(table, "%s", title);
		zm_table_cell(table, "%s", metric->name);
		add_side(table, &metric->sides[0]);
		zm_table_cell(table, "%s", compare->nr_sides > 2 ? compare->sides[side].name : "");
		add_side(table, &metric->sides[side]);
		zm_table_cell(table, "%s", metric->unit);
		add_outcome(table, metric, &metric->outcomes[side]);
	}
}

static int print_verdicts(const struct zm_compare *compare, const struct zm_format_compare *options,
			  FILE *out)
{
	struct zm_column columns[sizeof(verdict_columns) / sizeof(verdict_columns[0])];
	struct zm_table *table;
	char interval[48];
	int error;

	memcpy(columns, verdict_columns, sizeof(columns));
	columns[INTERVAL_COLUMN].title =
		zm_compare_interval_title(interval, sizeof(interval), compare);
	table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];
		char title[256];

		(void)zm_compare_title(title, sizeof(title), cell);
		for (size_t k = 0; k < cell->nr_primary; k++)
			add_metric(compare, table, title, &cell->metrics[k]);
	}
	error = zm_table_print(table, out, options->width, "  ");
	zm_table_free(table);
	return error;
}

/* --- failures --- */

static int print_failures(const struct zm_compare *compare, const struct zm_format_compare *options,
			  FILE *out)
{
	static const struct zm_column columns[] = {
		{ .title = "cell", .may_be_cut = true },    { .title = "base", .is_right = true },
		{ .title = "against", .may_be_cut = true }, { .title = "", .is_right = true },
		{ .title = "p", .is_right = true },         { .title = "" },
	};
	struct zm_table *table = zm_table_new(columns, 6);
	int error = 0;

	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];
		size_t nr_base = cell->sides[0].nr_ok + cell->sides[0].nr_failed;
		char title[256];

		for (size_t side = 1; side < compare->nr_sides; side++) {
			size_t nr = cell->sides[side].nr_ok + cell->sides[side].nr_failed;

			if (isnan(cell->sides[side].p))
				continue;
			zm_table_cell(table, "%s", zm_compare_title(title, sizeof(title), cell));
			zm_table_cell(table, "%zu of %zu", cell->sides[0].nr_failed, nr_base);
			zm_table_cell(table, "%s", compare->sides[side].name);
			zm_table_cell(table, "%zu of %zu", cell->sides[side].nr_failed, nr);
			zm_table_cell(table, "%.2g", cell->sides[side].p);
			zm_table_cell(table, "%s", zm_compare_chance(compare, cell, side));
		}
	}
	if (zm_table_nr_rows(table)) {
		(void)fputs("\nRuns that failed\n", out);
		error = zm_table_print(table, out, options->width, "  ");
	}
	zm_table_free(table);
	return error;
}

/* --- explanations --- */

static const struct zm_column why_columns[] = {
	{ .title = "metric", .may_be_cut = true },
	{ .title = "base", .is_right = true },
	{ .title = "against", .may_be_cut = true },
	{ .title = "", .is_right = true },
	{ .title = "unit" },
	{ .title = "change", .is_right = true },
	{ .title = "q", .is_right = true },
};

static void add_explanation(const struct zm_compare *compare, struct zm_table *table,
			    const struct zm_compare_metric *metric)
{
	for (size_t side = 1; side < compare->nr_sides; side++) {
		const struct zm_compare_outcome *outcome = &metric->outcomes[side];
		char text[48];

		if (!metric->sides[side].nr)
			continue;
		zm_table_cell(table, "%s", metric->name);
		zm_table_figure(table, outcome->judgement.base);
		zm_table_cell(table, "%s", compare->nr_sides > 2 ? compare->sides[side].name : "");
		zm_table_figure(table, outcome->judgement.new);
		zm_table_cell(table, "%s", metric->unit);
		zm_table_cell(table, "%s",
			      zm_compare_change(text, sizeof(text), metric, &outcome->judgement,
						outcome->judgement.change));
		if (isnan(outcome->p))
			zm_table_cell(table, "%s", "");
		else
			zm_table_cell(table, "%.2g", outcome->p);
	}
}

static int print_explanations(const struct zm_compare *compare,
			      const struct zm_format_compare *options,
			      const struct zm_compare_cell *cell, FILE *out)
{
	struct zm_table *table =
		zm_table_new(why_columns, sizeof(why_columns) / sizeof(why_columns[0]));
	size_t nr_shown = 0, nr_left = 0;
	char title[256];
	int error = 0;

	for (size_t k = cell->nr_primary; k < cell->nr_metrics; k++) {
		if (!zm_compare_explains(compare, &cell->metrics[k]))
			continue;
		if (nr_shown < options->nr_explanations) {
			add_explanation(compare, table, &cell->metrics[k]);
			nr_shown++;
		} else {
			nr_left++;
		}
	}
	if (zm_table_nr_rows(table)) {
		(void)fprintf(out, "\nWhat else changed in %s\n",
			      zm_compare_title(title, sizeof(title), cell));
		error = zm_table_print(table, out, options->width, "  ");
		if (nr_left)
			(void)fprintf(out, "  and %zu more\n", nr_left);
	}
	zm_table_free(table);
	return error;
}

int zm_format_compare_text(const struct zm_compare *compare,
			   const struct zm_format_compare *options, FILE *out)
{
	char counts[256];
	int error;

	print_sides(compare, out);
	print_warnings(compare, out);
	(void)fputc('\n', out);
	(void)fprintf(out, "%s\n", zm_compare_counts(counts, sizeof(counts), compare));
	error = print_verdicts(compare, options, out);
	if (!error)
		error = print_failures(compare, options, out);
	for (size_t i = 0; i < compare->nr_cells && !error; i++)
		error = print_explanations(compare, options, &compare->cells[i], out);
	zm_compare_print_legend(compare, out);
	return error;
}
