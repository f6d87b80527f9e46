/* format_compare: which format, and what several of them share. */
#include "results/format_compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define Q_OF_EXPLANATIONS 0.1

const char *const zm_compare_formats[] = {
	[ZM_COMPARE_TEXT] = "text",
	[ZM_COMPARE_JSON] = "json",
	[ZM_COMPARE_CSV] = "csv",
	[ZM_COMPARE_MARKDOWN] = "markdown",
	[ZM_COMPARE_LKP] = "lkp",
	[ZM_COMPARE_MMTESTS] = "mmtests",
	[ZM_COMPARE_BENCHSTAT] = "benchstat",
	[ZM_COMPARE_CHANGELOG] = "changelog",
	[ZM_COMPARE_JUNIT] = "junit",
	[ZM_COMPARE_HTML] = "html",
	[ZM_NR_COMPARE_FORMATS] = NULL,
};

int zm_format_compare(const struct zm_compare *compare, enum zm_compare_format format,
		      const struct zm_format_compare *options, FILE *out)
{
	static int (*const printers[])(const struct zm_compare *, const struct zm_format_compare *,
				       FILE *) = {
		[ZM_COMPARE_TEXT] = zm_format_compare_text,
		[ZM_COMPARE_JSON] = zm_format_compare_json,
		[ZM_COMPARE_CSV] = zm_format_compare_csv,
		[ZM_COMPARE_MARKDOWN] = zm_format_compare_markdown,
		[ZM_COMPARE_LKP] = zm_format_compare_lkp,
		[ZM_COMPARE_MMTESTS] = zm_format_compare_mmtests,
		[ZM_COMPARE_BENCHSTAT] = zm_format_compare_benchstat,
		[ZM_COMPARE_CHANGELOG] = zm_format_compare_changelog,
		[ZM_COMPARE_JUNIT] = zm_format_compare_junit,
		[ZM_COMPARE_HTML] = zm_format_compare_html,
	};
	int error = printers[format](compare, options, out);

	return error ? error : (ferror(out) ? -EIO : 0);
}

/* A ratio as percent of the base; a difference of percentages in points; of others as it is, and as
 * percent of the base where that is not 0. */
char *zm_compare_change(char *buf, size_t size, const struct zm_compare_metric *metric,
			const struct zm_judgement *judgement, double change)
{
	double percent = judgement->is_ratio ? change * 100 : change * 100 / fabs(judgement->base);

	buf[0] = '\0';
	if (isnan(change))
		return buf;
	if (metric->is_share)
		(void)snprintf(buf, size, "%+.2f points", change);
	else if (!judgement->is_ratio && judgement->base == 0)
		(void)snprintf(buf, size, "%+.4g", change);
	else if (isinf(percent))
		(void)snprintf(buf, size, "%cinf%%", percent > 0 ? '+' : '-');
	else
		(void)snprintf(buf, size, "%+.*f%%", fabs(percent) < 10 ? 2 : 1, percent);
	return buf;
}

char *zm_compare_title(char *buf, size_t size, const struct zm_compare_cell *cell)
{
	(void)snprintf(buf, size, "%s%s%s", cell->workload, *cell->words ? " " : "", cell->words);
	return buf;
}

char *zm_compare_counts(char *buf, size_t size, const struct zm_compare *compare)
{
	static const enum zm_verdict order[] = { ZM_VERDICT_WORSE,     ZM_VERDICT_BETTER,
						 ZM_VERDICT_SAME,      ZM_VERDICT_CHANGED,
						 ZM_VERDICT_TOO_NOISY, ZM_VERDICT_NOT_ENOUGH };
	size_t length = 0;

	(void)snprintf(buf, size, "no verdict: no primary metric in common");
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && length < size; i++) {
		if (compare->nr_of[order[i]])
			length += (size_t)snprintf(buf + length, size - length, "%s%zu %s",
						   length ? ", " : "", compare->nr_of[order[i]],
						   zm_verdict_name(order[i]));
	}
	return buf;
}

char *zm_compare_interval_title(char *buf, size_t size, const struct zm_compare *compare)
{
	(void)snprintf(buf, size, "%.3g %% interval", (1 - compare->judge.alpha) * 100);
	return buf;
}

bool zm_compare_explains(const struct zm_compare *compare, const struct zm_compare_metric *metric)
{
	for (size_t side = 1; side < compare->nr_sides; side++) {
		const struct zm_compare_outcome *outcome = &metric->outcomes[side];

		if (outcome->p <= Q_OF_EXPLANATIONS && outcome->judgement.change != 0)
			return true;
	}
	return false;
}

bool zm_compare_any_between_boots(const struct zm_compare *compare)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary; k++)
			for (size_t side = 1; side < compare->nr_sides; side++)
				if (cell->metrics[k].outcomes[side].is_between_boots)
					return true;
	}
	return false;
}

const char *zm_compare_chance(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			      size_t side)
{
	return zm_compare_failures(compare, cell, side) == ZM_VERDICT_TOO_NOISY ? "may be chance"
										: "not by chance";
}

void zm_compare_print_legend(const struct zm_compare *compare, FILE *out)
{
	(void)fprintf(
		out,
		"\n  A value is a boot's mean (a run's where each side is one boot); shown are "
		"medians.\n  A change under %.3g %% does not matter; the verdicts are corrected "
		"for their number (%zu).\n  seen from: the smallest change that these values "
		"would have shown with a power of %.0f %%; it takes:\n  values a side that "
		"would settle it. ranks: Hodges-Lehmann, Mann-Whitney; welch: t of few values, "
		"low\n  confidence; one: a single value against the spread of the others; pairs: "
		"taken in turns in\n  one boot, or in the same boots, signed ranks; pairs-t: t of "
		"few pairs.\n",
		compare->judge.margin * 100, compare->nr_verdicts, compare->judge.power * 100);
}

bool zm_compare_floor(char *buf, size_t size, const struct zm_compare *compare,
		      const struct zm_compare_cell *cell, const struct zm_compare_metric *metric)
{
	double floor = 0;
	char title[256];

	for (size_t side = 1; side < compare->nr_sides; side++)
		floor = fmax(floor, metric->outcomes[side].floor);
	if (!(floor > compare->judge.margin))
		return false;
	(void)zm_compare_title(title, sizeof(title), cell);
	(void)snprintf(
		buf, size,
		"%s: %s: one kernel differed from itself by %.3g%s here; a smaller change is "
		"no verdict",
		title, metric->name, metric->is_share ? floor : floor * 100,
		metric->is_share ? " points" : "%");
	return true;
}
