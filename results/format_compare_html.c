/*
 * format_compare_html: a comparison as one page that stands by itself.
 *
 *     head       a policy that forbids to load or run anything; colours for light and dark
 *     sides      what was compared with what, and what to take care of
 *     verdicts   the primary metrics, a table; a verdict is a word, its colour only repeats it
 *     failures   where a run failed
 *     why        explanations, ranked, of each cell
 *
 * Whatever a store holds goes through zm_xml_text.
 */
#include "results/format_compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "results/stat.h"
#include "results/table.h"
#include "results/xml.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n";

static const char style[] =
	"<style>\n"
	":root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --line: #ccc;\n"
	"  --better: #0a6b2d; --worse: #b00020; --unclear: #7a5200; --quiet: #555; }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"  :root { --ink: #e6e6e6; --paper: #16181a; --line: #444;\n"
	"    --better: #6fd08c; --worse: #ff8a8a; --unclear: #e8b64c; --quiet: #aaa; }\n"
	"}\n"
	"body { font: 16px/1.45 system-ui, sans-serif; color: var(--ink); background: "
	"var(--paper);\n  margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }\n"
	".wide { overflow-x: auto; }\n"
	"table { border-collapse: collapse; }\n"
	"th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; "
	"}\n"
	"th { font-weight: 600; }\n"
	".n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
	".better { color: var(--better); font-weight: 600; }\n"
	".worse { color: var(--worse); font-weight: 600; }\n"
	".unclear { color: var(--unclear); }\n"
	".legend { color: var(--quiet); max-width: 60rem; }\n"
	"</style>\n";

/* --- pieces --- */

/* A cell of a table; class NULL: none. */
static void put_cell(FILE *out, const char *class, const char *text)
{
	(void)fputs("<td", out);
	if (class)
		(void)fprintf(out, " class=\"%s\"", class);
	(void)fputc('>', out);
	zm_xml_text(out, text);
	(void)fputs("</td>", out);
}

__attribute__((format(printf, 2, 3))) static void put_number(FILE *out, const char *format, ...)
{
	char text[160];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	put_cell(out, "n", text);
}

static void put_figure(FILE *out, double value)
{
	char text[48];

	put_cell(out, "n", zm_table_number(text, sizeof(text), value));
}

/* Titles, the right-aligned ones with '>' before them, NULL behind the last. */
static void begin_table(FILE *out, const char *const *titles)
{
	(void)fputs("<div class=\"wide\"><table>\n<thead><tr>", out);
	for (; *titles; titles++) {
		bool is_right = **titles == '>';

		(void)fprintf(out, "<th scope=\"col\"%s>", is_right ? " class=\"n\"" : "");
		zm_xml_text(out, *titles + is_right);
		(void)fputs("</th>", out);
	}
	(void)fputs("</tr></thead>\n<tbody>\n", out);
}

static void end_table(FILE *out)
{
	(void)fputs("</tbody></table></div>\n", out);
}

/* --- sides --- */

static void put_title(const struct zm_compare *compare, FILE *out)
{
	for (size_t i = 0; i < compare->nr_sides; i++) {
		(void)fputs(i == 0 ? "" : i == 1 ? " against " : ", ", out);
		zm_xml_text(out, compare->sides[i].name);
	}
}

static void put_sides(const struct zm_compare *compare, FILE *out)
{
	static const char *const titles[] = {
		"", ">runs", ">that failed", ">boots", "kernels", NULL
	};

	begin_table(out, titles);
	for (size_t i = 0; i < compare->nr_sides; i++) {
		const struct zm_compare_side *side = &compare->sides[i];

		(void)fputs("<tr><th scope=\"row\">", out);
		zm_xml_text(out, side->name);
		(void)fputs("</th>", out);
		put_number(out, "%zu", side->nr_ok);
		put_number(out, "%zu", side->nr_failed);
		put_number(out, "%zu", side->nr_boots);
		put_cell(out, NULL, side->kernels);
		(void)fputs("</tr>\n", out);
	}
	end_table(out);
}

static void put_difference(const struct zm_compare *compare,
			   const struct zm_compare_difference *difference, FILE *out)
{
	(void)fputs("<li>differs: ", out);
	zm_xml_text(out, difference->key);
	for (size_t side = 0; side < compare->nr_sides; side++) {
		const char *value = difference->values[side];

		(void)fputs(side ? " → " : ": ", out);
		zm_xml_text(out, value ? value : "(none)");
	}
	(void)fputs("</li>\n", out);
}

static void put_floors(const struct zm_compare *compare, FILE *out)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary; k++) {
			char text[512];

			if (!zm_compare_floor(text, sizeof(text), compare, cell, &cell->metrics[k]))
				continue;
			(void)fputs("<li>", out);
			zm_xml_text(out, text);
			(void)fputs("</li>\n", out);
		}
	}
}

static void put_warnings(const struct zm_compare *compare, FILE *out)
{
	(void)fputs("<ul>\n", out);
	if (zm_compare_any_between_boots(compare))
		(void)fputs("<li>one boot a side (*): what differs between two boots of one kernel "
			    "would look the same; run again after a reboot of each</li>\n",
			    out);
	if (compare->nr_lone)
		(void)fprintf(out, "<li>cells that only one side has, left out: %zu</li>\n",
			      compare->nr_lone);
	put_floors(compare, out);
	for (size_t i = 0; i < compare->nr_differences; i++) {
		if (strcmp(compare->differences[i].key, "kernel") != 0)
			put_difference(compare, &compare->differences[i], out);
	}
	(void)fputs("</ul>\n", out);
}

/* --- verdicts --- */

static const char *class_of(enum zm_verdict verdict)
{
	switch (verdict) {
	case ZM_VERDICT_BETTER:
		return "better";
	case ZM_VERDICT_WORSE:
		return "worse";
	case ZM_VERDICT_TOO_NOISY:
	case ZM_VERDICT_NOT_ENOUGH:
		return "unclear";
	default:
		return NULL;
	}
}

static void put_values(FILE *out, const struct zm_compare_values *values)
{
	char text[48];

	put_figure(out, zm_stat_median(values->values, values->nr));
	put_cell(out, "n",
		 zm_table_percent(text, sizeof(text), zm_stat_cv(values->values, values->nr)));
}

static void put_needed(FILE *out, size_t nr_needed)
{
	if (nr_needed == 0)
		put_cell(out, NULL, "");
	else if (nr_needed == SIZE_MAX)
		put_number(out, ">%d", ZM_JUDGE_MOST);
	else
		put_number(out, "%zu", nr_needed);
}

static void put_outcome(FILE *out, const struct zm_compare_metric *metric,
			const struct zm_compare_outcome *outcome)
{
	const struct zm_judgement *judgement = &outcome->judgement;
	char low[48], high[48], text[64];

	put_cell(out, "n",
		 zm_compare_change(text, sizeof(text), metric, judgement, judgement->change));
	(void)zm_compare_change(low, sizeof(low), metric, judgement, judgement->low);
	(void)zm_compare_change(high, sizeof(high), metric, judgement, judgement->high);
	put_number(out, "%s%s%s", low, *low ? " … " : "", high);
	(void)snprintf(text, sizeof(text), "%s%s", zm_verdict_name(outcome->verdict),
		       outcome->is_between_boots ? " *" : "");
	put_cell(out, class_of(outcome->verdict), text);
	(void)zm_compare_change(text, sizeof(text), metric, judgement, judgement->detectable);
	put_cell(out, "n", *text ? text + 1 : ""); /* without the sign */
	put_number(out, "%zu+%zu %s", judgement->nr_base, judgement->nr_new,
		   zm_method_name(judgement->method));
	put_needed(out, outcome->nr_needed);
}

static void put_verdict(const struct zm_compare *compare, const char *title,
			const struct zm_compare_metric *metric, size_t side, FILE *out)
{
	(void)fputs("<tr>", out);
	put_cell(out, NULL, title);
	put_cell(out, NULL, metric->name);
	put_values(out, &metric->sides[0]);
	put_cell(out, NULL, compare->sides[side].name);
	put_values(out, &metric->sides[side]);
	put_cell(out, NULL, metric->unit);
	put_outcome(out, metric, &metric->outcomes[side]);
	(void)fputs("</tr>\n", out);
}

static void put_verdicts(const struct zm_compare *compare, FILE *out)
{
	char interval[48] = ">", title[256], counts[160];
	const char *const titles[] = { "cell",    "metric",     ">base",   ">cv",       "against",
				       ">",       ">cv",        "unit",    ">change",   interval,
				       "verdict", ">seen from", ">values", ">it takes", NULL };

	(void)zm_compare_interval_title(interval + 1, sizeof(interval) - 1, compare);
	(void)fputs("<h2>Verdicts</h2>\n<p>", out);
	zm_xml_text(out, zm_compare_counts(counts, sizeof(counts), compare));
	(void)fputs("</p>\n", out);
	begin_table(out, titles);
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		(void)zm_compare_title(title, sizeof(title), cell);
		for (size_t k = 0; k < cell->nr_primary; k++) {
			for (size_t side = 1; side < compare->nr_sides; side++) {
				if (cell->metrics[k].sides[side].nr)
					put_verdict(compare, title, &cell->metrics[k], side, out);
			}
		}
	}
	end_table(out);
	(void)fputs("<p class=\"legend\">", out);
	zm_compare_print_legend(compare, out);
	(void)fputs("</p>\n", out);
}

/* --- failures --- */

static void put_failure(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			size_t side, FILE *out)
{
	size_t nr_base = cell->sides[0].nr_ok + cell->sides[0].nr_failed;
	size_t nr = cell->sides[side].nr_ok + cell->sides[side].nr_failed;
	char title[256];

	(void)fputs("<tr>", out);
	put_cell(out, NULL, zm_compare_title(title, sizeof(title), cell));
	put_number(out, "%zu of %zu", cell->sides[0].nr_failed, nr_base);
	put_cell(out, NULL, compare->sides[side].name);
	put_number(out, "%zu of %zu", cell->sides[side].nr_failed, nr);
	put_number(out, "%.2g", cell->sides[side].p);
	put_cell(out, NULL, zm_compare_chance(compare, cell, side));
	(void)fputs("</tr>\n", out);
}

static void put_failures(const struct zm_compare *compare, FILE *out)
{
	static const char *const titles[] = { "cell", ">base", "against", ">", ">p", "", NULL };
	bool has_begun = false;

	for (size_t i = 0; i < compare->nr_cells; i++) {
		for (size_t side = 1; side < compare->nr_sides; side++) {
			if (isnan(compare->cells[i].sides[side].p))
				continue;
			if (!has_begun) {
				(void)fputs("<h2>Runs that failed</h2>\n", out);
				begin_table(out, titles);
			}
			has_begun = true;
			put_failure(compare, &compare->cells[i], side, out);
		}
	}
	if (has_begun)
		end_table(out);
}

/* --- explanations --- */

static void put_explanation(const struct zm_compare *compare,
			    const struct zm_compare_metric *metric, FILE *out)
{
	for (size_t side = 1; side < compare->nr_sides; side++) {
		const struct zm_compare_outcome *outcome = &metric->outcomes[side];
		const struct zm_judgement *judgement = &outcome->judgement;
		char text[48];

		if (!metric->sides[side].nr)
			continue;
		(void)fputs("<tr>", out);
		put_cell(out, NULL, metric->name);
		put_figure(out, judgement->base);
		put_cell(out, NULL, compare->sides[side].name);
		put_figure(out, judgement->new);
		put_cell(out, NULL, metric->unit);
		put_cell(out, "n",
			 zm_compare_change(text, sizeof(text), metric, judgement,
					   judgement->change));
		if (isnan(outcome->p))
			put_cell(out, NULL, "");
		else
			put_number(out, "%.2g", outcome->p);
		(void)fputs("</tr>\n", out);
	}
}

static void begin_explanations(const struct zm_compare_cell *cell, FILE *out)
{
	static const char *const titles[] = { "metric", ">base",   "against", ">",
					      "unit",   ">change", ">q",      NULL };
	char title[256];

	(void)fputs("<h2>What else changed in ", out);
	zm_xml_text(out, zm_compare_title(title, sizeof(title), cell));
	(void)fputs("</h2>\n", out);
	begin_table(out, titles);
}

static void put_explanations(const struct zm_compare *compare,
			     const struct zm_format_compare *options,
			     const struct zm_compare_cell *cell, FILE *out)
{
	size_t nr = 0;

	if (!options->nr_explanations)
		return;
	for (size_t k = cell->nr_primary; k < cell->nr_metrics; k++) {
		if (!zm_compare_explains(compare, &cell->metrics[k]))
			continue;
		if (nr == 0)
			begin_explanations(cell, out);
		if (nr++ < options->nr_explanations)
			put_explanation(compare, &cell->metrics[k], out);
	}
	if (nr)
		end_table(out);
	if (nr > options->nr_explanations)
		(void)fprintf(out, "<p>and %zu more</p>\n", nr - options->nr_explanations);
}

int zm_format_compare_html(const struct zm_compare *compare,
			   const struct zm_format_compare *options, FILE *out)
{
	(void)fprintf(out, "%s<title>", head);
	put_title(compare, out);
	(void)fprintf(out, "</title>\n%s</head>\n<body>\n<h1>", style);
	put_title(compare, out);
	(void)fputs("</h1>\n", out);
	put_sides(compare, out);
	put_warnings(compare, out);
	put_verdicts(compare, out);
	put_failures(compare, out);
	for (size_t i = 0; i < compare->nr_cells; i++)
		put_explanations(compare, options, &compare->cells[i], out);
	(void)fputs("</body>\n</html>\n", out);
	return 0;
}
