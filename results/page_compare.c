/*
 * page_compare: a comparison as sections of a page.
 *
 *     how many of which verdict -> what was compared -> verdicts -> failures -> what else changed -> machines
 */
#include "results/page.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "results/format_compare.h"
#include "results/stat.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void put_sides(FILE *out, const struct zm_compare *compare)
{
	static const struct zm_column columns[] = {
		{ .title = "side" },
		{ .title = "name" },
		{ .title = "runs", .is_right = true },
		{ .title = "failed", .is_right = true },
		{ .title = "boots", .is_right = true },
		{ .title = "kernel" },
	};
	struct zm_page_table table;

	zm_page_table_begin(&table, out, "What is compared", columns, NR(columns));
	for (size_t i = 0; i < compare->nr_sides; i++) {
		const struct zm_compare_side *side = &compare->sides[i];

		zm_page_cell(&table, "%s", i ? "against" : "base");
		zm_page_cell(&table, "%s", side->name);
		zm_page_cell(&table, "%zu", side->nr_ok);
		zm_page_cell(&table, "%zu", side->nr_failed);
		zm_page_cell(&table, "%zu", side->nr_boots);
		zm_page_cell(&table, "%s", side->kernels ? side->kernels : "");
	}
	zm_page_table_end(&table);
	if (compare->nr_lone)
		(void)fprintf(out, "<p>Left out, because only one side has them: %zu cells.</p>\n",
			      compare->nr_lone);
}

/* --- verdicts --- */

static void put_needed(struct zm_page_table *table, size_t nr_needed)
{
	if (nr_needed == 0)
		zm_page_cell(table, "%s", "");
	else if (nr_needed == SIZE_MAX)
		zm_page_cell(table, "more than %d", ZM_JUDGE_MOST);
	else
		zm_page_cell(table, "%zu", nr_needed);
}

static void put_outcome(struct zm_page_table *table, const struct zm_compare_metric *metric,
			const struct zm_compare_outcome *outcome)
{
	const struct zm_judgement *judgement = &outcome->judgement;
	char low[48], high[48], text[48];

	zm_page_cell(table, "%s",
		     zm_compare_change(text, sizeof(text), metric, judgement, judgement->change));
	(void)zm_compare_change(low, sizeof(low), metric, judgement, judgement->low);
	(void)zm_compare_change(high, sizeof(high), metric, judgement, judgement->high);
	zm_page_cell(table, "%s%s%s", low, *low ? " … " : "", high);
	(void)zm_compare_change(text, sizeof(text), metric, judgement, judgement->detectable);
	zm_page_cell(table, "%s", *text ? text + 1 : ""); /* without the sign */
	zm_page_cell(table, "%zu+%zu %s", judgement->nr_base, judgement->nr_new,
		     zm_method_name(judgement->method));
	put_needed(table, outcome->nr_needed);
}

static void put_metric(struct zm_page_table *table, const struct zm_compare *compare,
		       const struct zm_compare_cell *cell, const struct zm_compare_metric *metric)
{
	char title[256];

	for (size_t side = 1; side < compare->nr_sides; side++) {
		const struct zm_compare_values *base = &metric->sides[0];
		const struct zm_compare_values *new = &metric->sides[side];
		const struct zm_compare_outcome *outcome = &metric->outcomes[side];

		if (!new->nr)
			continue;
		zm_page_cell(table, "%s%s", zm_verdict_name(outcome->verdict),
			     outcome->is_between_boots ? " *" : "");
		zm_page_cell(table, "%s", zm_compare_title(title, sizeof(title), cell));
		zm_page_cell(table, "%s", metric->name);
		zm_page_figure(table, zm_stat_median(base->values, base->nr));
		zm_page_cell(table, "%s", compare->sides[side].name);
		zm_page_figure(table, zm_stat_median(new->values, new->nr));
		zm_page_cell(table, "%s", metric->unit);
		put_outcome(table, metric, outcome);
	}
}

static void put_verdicts(FILE *out, const struct zm_compare *compare)
{
	static const struct zm_column columns[] = {
		{ .title = "verdict" },  { .title = "cell" },
		{ .title = "metric" },   { .title = "base", .is_right = true },
		{ .title = "against" },  { .title = "its value", .is_right = true },
		{ .title = "unit" },     { .title = "change", .is_right = true },
		{ .title = "interval" }, { .title = "seen from", .is_right = true },
		{ .title = "values" },   { .title = "it takes", .is_right = true },
	};
	struct zm_page_table table;

	zm_page_table_begin(&table, out, "Verdicts", columns, NR(columns));
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary; k++)
			put_metric(&table, compare, cell, &cell->metrics[k]);
	}
	zm_page_table_end(&table);
	(void)fprintf(
		out,
		"<p>Medians of boots' means (of runs, where each side is one boot: marked *, "
		"because two boots of one kernel may differ as much). The interval holds the "
		"change with %.3g %%. A change under %.3g %% does not matter; verdicts are "
		"corrected for their number (%zu). <em>Seen from</em>: the smallest change "
		"that would have been seen with a power of %.0f %%. <em>It takes</em>: values "
		"a side that would settle it.</p>\n",
		(1 - compare->judge.alpha) * 100, compare->judge.margin * 100, compare->nr_verdicts,
		compare->judge.power * 100);
}

/* --- failures --- */

static bool has_failures(const struct zm_compare *compare)
{
	for (size_t i = 0; i < compare->nr_sides; i++) {
		if (compare->sides[i].nr_failed)
			return true;
	}
	return false;
}

static void put_failures(FILE *out, const struct zm_compare *compare)
{
	static const struct zm_column columns[] = {
		{ .title = "cell" },
		{ .title = "side" },
		{ .title = "failed", .is_right = true },
		{ .title = "of", .is_right = true },
		{ .title = "p", .is_right = true },
	};
	struct zm_page_table table;
	char title[256];

	if (!has_failures(compare))
		return;
	zm_page_table_begin(&table, out, "Runs that failed", columns, NR(columns));
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t side = 0; side < compare->nr_sides; side++) {
			size_t nr_failed = cell->sides[side].nr_failed;

			zm_page_cell(&table, "%s", zm_compare_title(title, sizeof(title), cell));
			zm_page_cell(&table, "%s", compare->sides[side].name);
			zm_page_cell(&table, "%zu", nr_failed);
			zm_page_cell(&table, "%zu", cell->sides[side].nr_ok + nr_failed);
			zm_page_figure(&table, side ? cell->sides[side].p : (double)NAN);
		}
	}
	zm_page_table_end(&table);
}

/* --- explanations --- */

static void put_explanation(struct zm_page_table *table, const struct zm_compare *compare,
			    const struct zm_compare_metric *metric)
{
	for (size_t side = 1; side < compare->nr_sides; side++) {
		const struct zm_compare_outcome *outcome = &metric->outcomes[side];
		char text[48];

		if (!metric->sides[side].nr)
			continue;
		zm_page_cell(table, "%s", metric->name);
		zm_page_figure(table, outcome->judgement.base);
		zm_page_cell(table, "%s", compare->sides[side].name);
		zm_page_figure(table, outcome->judgement.new);
		zm_page_cell(table, "%s", metric->unit);
		zm_page_cell(table, "%s",
			     zm_compare_change(text, sizeof(text), metric, &outcome->judgement,
					       outcome->judgement.change));
		zm_page_figure(table, outcome->p);
	}
}

static void put_explanations(FILE *out, const struct zm_compare *compare,
			     const struct zm_compare_cell *cell, size_t nr_most)
{
	static const struct zm_column columns[] = {
		{ .title = "metric" },
		{ .title = "base", .is_right = true },
		{ .title = "against" },
		{ .title = "its value", .is_right = true },
		{ .title = "unit" },
		{ .title = "change", .is_right = true },
		{ .title = "q", .is_right = true },
	};
	struct zm_page_table table;
	char title[256], caption[320];
	size_t nr = 0;

	(void)snprintf(caption, sizeof(caption), "What else changed in %s",
		       zm_compare_title(title, sizeof(title), cell));
	for (size_t k = cell->nr_primary; k < cell->nr_metrics && nr < nr_most; k++) {
		if (!zm_compare_explains(compare, &cell->metrics[k]))
			continue;
		if (nr++ == 0)
			zm_page_table_begin(&table, out, caption, columns, NR(columns));
		put_explanation(&table, compare, &cell->metrics[k]);
	}
	if (nr)
		zm_page_table_end(&table);
}

/* --- machines --- */

static void put_differences(FILE *out, const struct zm_compare *compare)
{
	struct zm_column columns[ZM_COMPARE_SIDES + 1] = { { .title = "what" } };
	struct zm_page_table table;

	zm_page_element(out, "h2", "How the machines differ");
	if (!compare->nr_differences) {
		(void)fputs("<p>In nothing that the inventories hold.</p>\n", out);
		return;
	}
	for (size_t i = 0; i < compare->nr_sides; i++)
		columns[i + 1].title = compare->sides[i].name;
	zm_page_table_begin(&table, out, "Differences", columns, compare->nr_sides + 1);
	for (size_t i = 0; i < compare->nr_differences; i++) {
		const struct zm_compare_difference *difference = &compare->differences[i];

		zm_page_cell(&table, "%s", difference->key);
		for (size_t side = 0; side < compare->nr_sides; side++)
			zm_page_cell(&table, "%s",
				     difference->values[side] ? difference->values[side]
							      : "(none)");
	}
	zm_page_table_end(&table);
}

void zm_page_compare(FILE *out, const struct zm_compare *compare, size_t nr_explanations)
{
	char counts[256];

	zm_page_element(out, "h2", "Verdicts");
	(void)fprintf(out, "<p><strong>%s</strong></p>\n",
		      zm_compare_counts(counts, sizeof(counts), compare));
	put_sides(out, compare);
	put_verdicts(out, compare);
	put_failures(out, compare);
	for (size_t i = 0; i < compare->nr_cells; i++)
		put_explanations(out, compare, &compare->cells[i], nr_explanations);
	put_differences(out, compare);
}
