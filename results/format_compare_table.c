/*
 * format_compare_table: the tables that people paste: markdown, mmtests, benchstat, changelog.
 */
#include "results/format_compare.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_form.h"
#include "results/stat.h"
#include "results/table.h"
#include "results/utf8.h"
#include "results/words.h"
#include "workloads/base/cleanup.h"

static bool is_significant(const struct zm_compare_outcome *outcome)
{
	return outcome->verdict == ZM_VERDICT_BETTER || outcome->verdict == ZM_VERDICT_WORSE ||
	       outcome->verdict == ZM_VERDICT_CHANGED;
}

/* --- markdown --- */

static void put_cell(FILE *out, const char *text)
{
	zm_autofree char *printable = zm_utf8_printable(text);

	(void)fputs("| ", out);
	for (const char *at = printable ? printable : ""; *at; at++) {
		if (strchr("|\\`*_<>[]", *at))
			(void)fputc('\\', out);
		(void)fputc(*at, out);
	}
	(void)fputc(' ', out);
}

static void markdown_row(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			 const struct zm_compare_metric *metric, size_t side, FILE *out)
{
	const struct zm_compare_outcome *outcome = &metric->outcomes[side];
	const struct zm_judgement *judgement = &outcome->judgement;
	char title[256], text[128], low[48], high[48], number[32];

	put_cell(out, zm_compare_title(title, sizeof(title), cell));
	put_cell(out, metric->name);
	(void)snprintf(text, sizeof(text), "%s %s",
		       zm_table_number(number, sizeof(number), judgement->base), metric->unit);
	put_cell(out, text);
	(void)snprintf(text, sizeof(text), "%s %s",
		       zm_table_number(number, sizeof(number), judgement->new), metric->unit);
	put_cell(out, text);
	put_cell(out, zm_compare_change(text, sizeof(text), metric, judgement, judgement->change));
	(void)zm_compare_change(low, sizeof(low), metric, judgement, judgement->low);
	(void)zm_compare_change(high, sizeof(high), metric, judgement, judgement->high);
	(void)snprintf(text, sizeof(text), "%s%s%s", low, *low ? " … " : "", high);
	put_cell(out, text);
	(void)snprintf(text, sizeof(text), "%s%s", zm_verdict_name(outcome->verdict),
		       outcome->is_between_boots ? " (one boot a side)" : "");
	put_cell(out, text);
	put_cell(out, compare->sides[side].name);
	(void)fputs("|\n", out);
}

static void markdown_failures(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			      size_t side, FILE *out)
{
	char title[256], text[64];

	put_cell(out, zm_compare_title(title, sizeof(title), cell));
	for (size_t k = 0; k < 2; k++) {
		size_t which = k ? side : 0;

		(void)snprintf(text, sizeof(text), "%zu of %zu", cell->sides[which].nr_failed,
			       cell->sides[which].nr_failed + cell->sides[which].nr_ok);
		put_cell(out, text);
	}
	(void)snprintf(text, sizeof(text), "%.2g", cell->sides[side].p);
	put_cell(out, text);
	put_cell(out, zm_compare_chance(compare, cell, side));
	put_cell(out, compare->sides[side].name);
	(void)fputs("|\n", out);
}

static void markdown_all_failures(const struct zm_compare *compare, FILE *out)
{
	bool has_begun = false;

	for (size_t i = 0; i < compare->nr_cells; i++) {
		for (size_t side = 1; side < compare->nr_sides; side++) {
			if (isnan(compare->cells[i].sides[side].p))
				continue;
			if (!has_begun) {
				(void)fputs("\n| runs that failed ", out);
				put_cell(out, compare->sides[0].name);
				(void)fputs("| value | p | | against |\n"
					    "|---|--:|--:|--:|---|---|\n",
					    out);
			}
			has_begun = true;
			markdown_failures(compare, &compare->cells[i], side, out);
		}
	}
}

int zm_format_compare_markdown(const struct zm_compare *compare,
			       const struct zm_format_compare *options, FILE *out)
{
	char interval[48];

	(void)options;
	put_cell(out, "cell");
	put_cell(out, "metric");
	put_cell(out, compare->sides[0].name);
	(void)fprintf(out,
		      "| value | change | %s | verdict | against |\n"
		      "|---|---|--:|--:|--:|---|---|---|\n",
		      zm_compare_interval_title(interval, sizeof(interval), compare));
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary; k++) {
			for (size_t side = 1; side < compare->nr_sides; side++) {
				if (cell->metrics[k].sides[side].nr)
					markdown_row(compare, cell, &cell->metrics[k], side, out);
			}
		}
	}
	markdown_all_failures(compare, out);
	return 0;
}

/* --- mmtests --- */

static double mmtests_mean(const struct zm_compare_metric *metric, size_t side)
{
	const struct zm_compare_values *values = &metric->sides[side];

	return metric->better == ZM_BETTER_LESS ? zm_stat_mean(values->values, values->nr)
						: zm_stat_hmean(values->values, values->nr);
}

/* A gain is positive, whichever way is better. */
static double gain(double base, double value, enum zm_better better)
{
	double percent = (value - base) * 100 / base;

	return better == ZM_BETTER_LESS ? -percent : percent;
}

static void mmtests_label(char *buf, size_t size, const struct zm_compare_cell *cell,
			  const struct zm_compare_metric *metric)
{
	char title[256];

	(void)zm_compare_title(title, sizeof(title), cell);
	for (char *at = strchr(title, ' '); at; at = strchr(at, ' '))
		*at = '-';
	(void)snprintf(buf, size, "%s%s%s", title, cell->nr_primary > 1 ? "-" : "",
		       cell->nr_primary > 1 ? metric->name : "");
}

static void mmtests_rows(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			 const struct zm_compare_metric *metric, int width, FILE *out)
{
	double base = mmtests_mean(metric, 0);
	char label[400];

	mmtests_label(label, sizeof(label), cell, metric);
	(void)fprintf(out, "%-9s %-*s", metric->better == ZM_BETTER_LESS ? "Amean" : "Hmean", width,
		      label);
	for (size_t side = 0; side < compare->nr_sides; side++) {
		double value = mmtests_mean(metric, side);

		zm_report_form_mean(out, value, side ? gain(base, value, metric->better) : 0,
				    side && is_significant(&metric->outcomes[side]));
	}
	(void)fprintf(out, "\n%-9s %-*s", "CoeffVar", width, label);
	base = zm_stat_cv(metric->sides[0].values, metric->sides[0].nr) * 100;
	for (size_t side = 0; side < compare->nr_sides; side++) {
		double value = zm_stat_cv(metric->sides[side].values, metric->sides[side].nr) * 100;

		zm_report_form_mean(out, value, side ? gain(base, value, ZM_BETTER_LESS) : 0,
				    false);
	}
	(void)fputc('\n', out);
}

static void mmtests_head(const struct zm_compare *compare, int width, FILE *out)
{
	for (unsigned int line = 0; line < 2; line++) {
		(void)fprintf(out, "%*s", 10 + width, "");
		for (size_t side = 0; side < compare->nr_sides; side++) {
			zm_autofree char *text = zm_utf8_printable(
				line ? compare->sides[side].kernels : compare->sides[side].name);

			if (text)
				text[zm_utf8_cut(text, ZM_REPORT_FORM_MEAN - 1)] = '\0';
			(void)fprintf(out, "%*s%s",
				      ZM_REPORT_FORM_MEAN - (int)zm_utf8_width(text ? text : ""),
				      "", text ? text : "");
		}
		(void)fputc('\n', out);
	}
}

int zm_format_compare_mmtests(const struct zm_compare *compare,
			      const struct zm_format_compare *options, FILE *out)
{
	int width = 0;

	(void)options;
	for (unsigned int pass = 0; pass < 2; pass++) {
		if (pass)
			mmtests_head(compare, width, out);
		for (size_t i = 0; i < compare->nr_cells; i++) {
			const struct zm_compare_cell *cell = &compare->cells[i];

			for (size_t k = 0; k < cell->nr_primary; k++) {
				char label[400];

				mmtests_label(label, sizeof(label), cell, &cell->metrics[k]);
				if (pass)
					mmtests_rows(compare, cell, &cell->metrics[k], width, out);
				else if ((int)strlen(label) > width)
					width = (int)strlen(label);
			}
		}
	}
	return 0;
}

/* --- benchstat --- */

/* Four digits with a prefix: "95.95k", "1.234M". */
static char *si_text(char *buf, size_t size, double value)
{
	static const char prefixes[] = "\0kMGTPE";
	double magnitude = fabs(value);
	size_t prefix = 0;
	int decimals;

	while (magnitude >= 999.95 && prefix < 6) {
		magnitude /= 1000;
		value /= 1000;
		prefix++;
	}
	decimals = magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3;
	(void)snprintf(buf, size, "%.*f%.1s", decimals, value, prefixes + prefix);
	return buf;
}

static void benchstat_value(struct zm_table *table, const struct zm_compare_values *values)
{
	double percent = zm_stat_cv(values->values, values->nr) * 100;
	char text[32];

	(void)si_text(text, sizeof(text), zm_stat_median(values->values, values->nr));
	if (isnan(percent))
		zm_table_cell(table, "%s ± ∞", text);
	else
		zm_table_cell(table, "%s ± %.0f%%", text, percent);
}

static void benchstat_change(struct zm_table *table, const struct zm_compare_metric *metric,
			     const struct zm_compare_outcome *outcome)
{
	const struct zm_judgement *judgement = &outcome->judgement;
	char change[48], counts[32];

	if (judgement->nr_base == judgement->nr_new)
		(void)snprintf(counts, sizeof(counts), "n=%zu", judgement->nr_base);
	else
		(void)snprintf(counts, sizeof(counts), "n=%zu+%zu", judgement->nr_base,
			       judgement->nr_new);
	(void)zm_compare_change(change, sizeof(change), metric, judgement, judgement->change);
	if (isnan(judgement->p))
		zm_table_cell(table, "~ (%s)", counts);
	else
		zm_table_cell(table, "%s (p=%.3f %s)", is_significant(outcome) ? change : "~",
			      judgement->p, counts);
}

/* One table for all cells that have the metric. */
static int benchstat_metric(const struct zm_compare *compare, const char *name, FILE *out)
{
	struct zm_column columns[1 + 2 * ZM_COMPARE_SIDES] = { { .title = name,
								 .may_be_cut = true } };
	size_t nr_columns = 1;
	struct zm_table *table;
	int error;

	for (size_t side = 0; side < compare->nr_sides; side++) {
		columns[nr_columns++] =
			(struct zm_column){ .title = compare->sides[side].name, .is_right = true };
		if (side)
			columns[nr_columns++] = (struct zm_column){ .title = "vs base" };
	}
	table = zm_table_new(columns, nr_columns);
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];
		char title[256];

		for (size_t k = 0; k < cell->nr_primary; k++) {
			const struct zm_compare_metric *metric = &cell->metrics[k];

			if (strcmp(metric->name, name) != 0)
				continue;
			zm_table_cell(table, "%s", zm_compare_title(title, sizeof(title), cell));
			for (size_t side = 0; side < compare->nr_sides; side++) {
				benchstat_value(table, &metric->sides[side]);
				if (side)
					benchstat_change(table, metric, &metric->outcomes[side]);
			}
		}
	}
	error = zm_table_print(table, out, 0, "");
	zm_table_free(table);
	return error;
}

/* Was the metric there before this one? */
static bool is_first(const struct zm_compare *compare, size_t cell, size_t metric)
{
	const char *name = compare->cells[cell].metrics[metric].name;

	for (size_t i = 0; i <= cell; i++) {
		for (size_t k = 0; k < compare->cells[i].nr_primary; k++) {
			if (i == cell && k == metric)
				return true;
			if (!strcmp(compare->cells[i].metrics[k].name, name))
				return false;
		}
	}
	return true;
}

int zm_format_compare_benchstat(const struct zm_compare *compare,
				const struct zm_format_compare *options, FILE *out)
{
	bool is_behind = false;
	int error = 0;

	(void)options;
	for (size_t i = 0; i < compare->nr_cells; i++) {
		for (size_t k = 0; k < compare->cells[i].nr_primary && !error; k++) {
			if (!is_first(compare, i, k))
				continue;
			if (is_behind)
				(void)fputc('\n', out);
			error = benchstat_metric(compare, compare->cells[i].metrics[k].name, out);
			is_behind = true;
		}
	}
	return error;
}

/* --- changelog --- */

#define CHANGELOG_WIDTH 74

/* The document's columns; what stands for each, the first that there is. */
static const struct column {
	const char *title;
	int width;
	bool is_relative; /* base = 100.0 */
	const char *metrics[3];
} changelog_columns[] = {
	{ "lock contend%",
	  13,
	  false,
	  { "perf-profile.slowpath%", "zone-lock.contend%", "lock-contention.spin%" } },
	{ "free_high", 9, true, { "pcp.free_high_per_s", "pcp.free_high" } },
	{ "alloc_zone", 10, true, { "pcp.alloc_zone_per_s", "pcp.alloc_zone" } },
	{ "cache miss rate%", 16, false, { "perf-stat.overall.cache-miss-rate%" } },
};
#define NR_CHANGELOG_COLUMNS (sizeof(changelog_columns) / sizeof(changelog_columns[0]))

static const struct zm_compare_metric *find_metric(const struct zm_compare_cell *cell,
						   const char *name)
{
	for (size_t i = 0; name && i < cell->nr_metrics; i++) {
		if (!strcmp(cell->metrics[i].name, name))
			return &cell->metrics[i];
	}
	return NULL;
}

static double median_of(const struct zm_compare_metric *metric, size_t side)
{
	if (!metric || metric->sides[side].nr == 0)
		return NAN;
	return zm_stat_median(metric->sides[side].values, metric->sides[side].nr);
}

static void changelog_value(FILE *out, int width, double value)
{
	if (isfinite(value))
		(void)fprintf(out, "  %*.1f", width, value);
	else
		(void)fprintf(out, "  %*s", width, "-");
}

static void changelog_row(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			  size_t side, FILE *out)
{
	zm_autofree char *name = zm_utf8_printable(compare->sides[side].name);
	const struct zm_compare_metric *score = &cell->metrics[0];

	if (name)
		name[zm_utf8_cut(name, 10)] = '\0';
	(void)fprintf(out, "%s%*s", name ? name : "", 10 - (int)zm_utf8_width(name ? name : ""),
		      "");
	changelog_value(out, 5, 100 * median_of(score, side) / median_of(score, 0));
	for (size_t i = 0; i < NR_CHANGELOG_COLUMNS; i++) {
		const struct column *column = &changelog_columns[i];
		const struct zm_compare_metric *metric = NULL;
		double value;

		for (size_t k = 0; k < 3 && !metric; k++)
			metric = find_metric(cell, column->metrics[k]);
		value = median_of(metric, side);
		if (column->is_relative)
			value = 100 * value / median_of(metric, 0);
		changelog_value(out, column->width, value);
	}
	(void)fputc('\n', out);
}

/* The form has no mark for a difference that shows nothing. */
static void changelog_doubt(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			    size_t side, FILE *out)
{
	enum zm_verdict verdict = cell->metrics[0].outcomes[side].verdict;
	zm_autofree char *name = zm_utf8_printable(compare->sides[side].name);

	if (verdict != ZM_VERDICT_TOO_NOISY && verdict != ZM_VERDICT_NOT_ENOUGH)
		return;
	if (name)
		name[zm_utf8_cut(name, 40)] = '\0';
	(void)fprintf(out, "%s: %s\n", name ? name : "",
		      verdict == ZM_VERDICT_TOO_NOISY ? "too noisy to tell from base"
						      : "not enough values to judge");
}

/* How it was measured, not what; or nothing out of the usual. */
static bool is_usual(const char *key, const json_t *value)
{
	static const char *const harness[] = {
		"workload", "drain", "idle",  "interval", "monitor_interval",
		"seed",     "stall", "start", "stop",     "warmup"
	};
	static const char *const usual[] = { "all", "default", "0", "local", "scatter", "" };
	const char *text = json_string_value(value);

	for (size_t i = 0; i < sizeof(harness) / sizeof(harness[0]); i++) {
		if (strcmp(key, harness[i]) == 0)
			return true;
	}
	for (size_t i = 0; text && i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (strcmp(text, usual[i]) == 0)
			return true;
	}
	return json_is_null(value) || json_is_false(value);
}

/* What ran, with which parameters, and which figure the score is: nobody who reads the commit has the store. */
static void changelog_title(const struct zm_compare_cell *cell, FILE *out)
{
	json_t *params = json_loads(cell->cell, 0, NULL), *value;
	zm_autofree char *text = NULL;
	const char *key;
	void *next;

	json_object_foreach_safe(params, next, key, value)
	{
		if (is_usual(key, value))
			(void)json_object_del(params, key);
	}
	(void)fprintf(out, "%s (%s)\n", cell->workload, cell->metrics[0].name);
	text = json_object_size(params) ? json_dumps(params, 0) : NULL;
	if (text) {
		(void)fputs("  ", out);
		zm_words_print(text, CHANGELOG_WIDTH, 2, out);
	}
	json_decref(params);
}

int zm_format_compare_changelog(const struct zm_compare *compare,
				const struct zm_format_compare *options, FILE *out)
{
	bool is_behind = false;

	(void)options;
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		if (cell->nr_primary == 0)
			continue;
		if (is_behind)
			(void)fputc('\n', out);
		is_behind = true;
		changelog_title(cell, out);
		(void)fprintf(out, "\n%12s%5s", "",
			      cell->metrics[0].better == ZM_BETTER_LESS ? "time" : "score");
		for (size_t k = 0; k < NR_CHANGELOG_COLUMNS; k++)
			(void)fprintf(out, "  %s", changelog_columns[k].title);
		(void)fputs("\n            -----", out);
		for (size_t k = 0; k < NR_CHANGELOG_COLUMNS; k++)
			(void)fprintf(out, "  %.*s", changelog_columns[k].width,
				      "----------------");
		(void)fputc('\n', out);
		for (size_t side = 0; side < compare->nr_sides; side++)
			changelog_row(compare, cell, side, out);
		for (size_t side = 1; side < compare->nr_sides; side++)
			changelog_doubt(compare, cell, side, out);
	}
	return 0;
}
