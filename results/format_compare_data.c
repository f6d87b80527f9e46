/* format_compare_data: a comparison for programs: JSON, CSV, JUnit's XML. */
#include "results/format_compare.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "results/csv.h"
#include "results/json.h"
#include "results/stat.h"
#include "results/xml.h"
#include "workloads/base/units.h"

/* --- JSON --- */

static json_t *values_json(const struct zm_compare_values *values)
{
	json_t *object = json_object(), *array = json_array();
	struct zm_spread spread;

	zm_stat_spread(values->values, values->nr, &spread);
	for (size_t i = 0; i < values->nr; i++)
		json_array_append_new(array, json_real(values->values[i]));
	json_object_set_new(object, "runs", json_integer((json_int_t)values->nr_runs));
	json_object_set_new(object, "values", array);
	json_object_set_new(object, "spread", zm_json_spread(&spread));
	return object;
}

static json_t *outcome_json(const struct zm_compare_outcome *outcome)
{
	const struct zm_judgement *judgement = &outcome->judgement;
	json_t *object = json_object();

	json_object_set_new(object, "verdict", json_string(zm_verdict_name(outcome->verdict)));
	json_object_set_new(object, "method", json_string(zm_method_name(judgement->method)));
	json_object_set_new(object, "is_ratio", json_boolean(judgement->is_ratio));
	zm_json_set_real(object, "change", judgement->change);
	zm_json_set_real(object, "low", judgement->low);
	zm_json_set_real(object, "high", judgement->high);
	zm_json_set_real(object, "p", judgement->p);
	zm_json_set_real(object, "p_corrected", outcome->p);
	zm_json_set_real(object, "detectable", judgement->detectable);
	if (outcome->nr_needed != SIZE_MAX)
		json_object_set_new(object, "needed", json_integer((json_int_t)outcome->nr_needed));
	json_object_set_new(object, "one_boot_a_side", json_boolean(outcome->is_between_boots));
	if (outcome->floor > 0)
		zm_json_set_real(object, "noise_floor", outcome->floor);
	return object;
}

static json_t *metric_json(const struct zm_compare *compare, const struct zm_compare_metric *metric)
{
	json_t *object = json_object(), *sides = json_array();

	json_object_set_new(object, "metric", zm_json_text(metric->name));
	json_object_set_new(object, "unit", zm_json_text(metric->unit));
	json_object_set_new(object, "source", zm_json_text(metric->source));
	json_object_set_new(object, "better", json_string(zm_json_better(metric->better)));
	json_object_set_new(object, "primary", json_boolean(metric->is_primary));
	for (size_t side = 0; side < compare->nr_sides; side++) {
		json_t *values = values_json(&metric->sides[side]);

		if (side)
			json_object_set_new(values, "against_base",
					    outcome_json(&metric->outcomes[side]));
		json_array_append_new(sides, values);
	}
	json_object_set_new(object, "sides", sides);
	return object;
}

static json_t *cell_json(const struct zm_compare *compare, const struct zm_compare_cell *cell)
{
	json_t *object = json_object(), *runs = json_array(), *metrics = json_array();

	json_object_set_new(object, "workload", zm_json_text(cell->workload));
	json_object_set_new(object, "cell", zm_json_parsed(cell->cell));
	json_object_set_new(object, "words", zm_json_text(cell->words));
	for (size_t side = 0; side < compare->nr_sides; side++) {
		json_t *counts =
			json_pack("{s:I, s:I, s:I}", "ok", (json_int_t)cell->sides[side].nr_ok,
				  "failed", (json_int_t)cell->sides[side].nr_failed, "boots",
				  (json_int_t)cell->sides[side].nr_boots);

		zm_json_set_real(counts, "p_failures", cell->sides[side].p);
		json_array_append_new(runs, counts);
	}
	for (size_t i = 0; i < cell->nr_metrics; i++)
		json_array_append_new(metrics, metric_json(compare, &cell->metrics[i]));
	json_object_set_new(object, "runs", runs);
	json_object_set_new(object, "metrics", metrics);
	return object;
}

static json_t *side_json(const struct zm_compare_side *side)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:o}", "name", zm_json_text(side->name), "runs",
			 (json_int_t)side->nr_ok, "failed", (json_int_t)side->nr_failed, "boots",
			 (json_int_t)side->nr_boots, "kernels", zm_json_text(side->kernels));
}

static json_t *difference_json(const struct zm_compare *compare, size_t which)
{
	const struct zm_compare_difference *difference = &compare->differences[which];
	json_t *values = json_array();

	for (size_t side = 0; side < compare->nr_sides; side++)
		json_array_append_new(values, zm_json_text(difference->values[side]));
	return json_pack("{s:o, s:o}", "key", zm_json_text(difference->key), "values", values);
}

static json_t *counts_json(const struct zm_compare *compare)
{
	json_t *object = json_object();

	for (unsigned int verdict = 0; verdict <= ZM_VERDICT_CHANGED; verdict++)
		json_object_set_new(object, zm_verdict_name(verdict),
				    json_integer((json_int_t)compare->nr_of[verdict]));
	return object;
}

int zm_format_compare_json(const struct zm_compare *compare,
			   const struct zm_format_compare *options, FILE *out)
{
	json_t *object = json_object(), *sides = json_array(), *cells = json_array();
	json_t *differences = json_array();
	int error;

	(void)options;
	for (size_t i = 0; i < compare->nr_sides; i++)
		json_array_append_new(sides, side_json(&compare->sides[i]));
	for (size_t i = 0; i < compare->nr_differences; i++)
		json_array_append_new(differences, difference_json(compare, i));
	for (size_t i = 0; i < compare->nr_cells; i++)
		json_array_append_new(cells, cell_json(compare, &compare->cells[i]));
	json_object_set_new(object, "sides", sides);
	json_object_set_new(object, "verdicts", counts_json(compare));
	json_object_set_new(object, "corrected_for",
			    json_integer((json_int_t)compare->nr_verdicts));
	zm_json_set_real(object, "alpha", compare->judge.alpha);
	zm_json_set_real(object, "power", compare->judge.power);
	zm_json_set_real(object, "margin", compare->judge.margin);
	json_object_set_new(object, "differences", differences);
	json_object_set_new(object, "lone_cells", json_integer((json_int_t)compare->nr_lone));
	json_object_set_new(object, "cells", cells);
	error = json_dumpf(object, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	(void)fputc('\n', out);
	json_decref(object);
	return error < 0 ? -EIO : 0;
}

/* --- CSV --- */

static void put_number(FILE *out, double value)
{
	char text[32] = "";

	if (isfinite(value))
		(void)zm_units_print_double(text, sizeof(text), value);
	zm_csv_next(out, text);
}

static void put_count(FILE *out, size_t count)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%zu", count);
	zm_csv_next(out, text);
}

static void csv_row(const struct zm_compare *compare, const struct zm_compare_cell *cell,
		    const struct zm_compare_metric *metric, size_t side, FILE *out)
{
	const struct zm_compare_outcome *outcome = &metric->outcomes[side];
	const struct zm_judgement *judgement = &outcome->judgement;

	zm_csv_first(out, cell->workload);
	zm_csv_next(out, cell->words);
	zm_csv_next(out, metric->name);
	zm_csv_next(out, metric->unit);
	zm_csv_next(out, metric->is_primary ? "verdict" : "explanation");
	zm_csv_next(out, compare->sides[0].name);
	zm_csv_next(out, compare->sides[side].name);
	put_number(out, judgement->base);
	put_number(out, judgement->new);
	put_number(out, judgement->change);
	put_number(out, judgement->low);
	put_number(out, judgement->high);
	zm_csv_next(out, judgement->is_ratio ? "ratio" : "difference");
	zm_csv_next(out, metric->is_primary ? zm_verdict_name(outcome->verdict) : "");
	put_number(out, judgement->p);
	put_number(out, outcome->p);
	put_number(out, judgement->detectable);
	if (outcome->nr_needed == SIZE_MAX)
		zm_csv_next(out, "");
	else
		put_count(out, outcome->nr_needed);
	zm_csv_next(out, zm_method_name(judgement->method));
	put_count(out, judgement->nr_base);
	put_count(out, judgement->nr_new);
	zm_csv_next(out, outcome->is_between_boots ? "1" : "0");
	zm_csv_end(out);
}

/* What failed of a cell's runs, in percent of them. */
static void csv_failures(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			 size_t side, FILE *out)
{
	size_t nr_base = cell->sides[0].nr_ok + cell->sides[0].nr_failed;
	size_t nr = cell->sides[side].nr_ok + cell->sides[side].nr_failed;
	double base = 100 * (double)cell->sides[0].nr_failed / (double)nr_base;
	double new = 100 * (double)cell->sides[side].nr_failed / (double)nr;
	const char *const words[] = {
		cell->words, "runs.failed",          "%",
		"failures",  compare->sides[0].name, compare->sides[side].name
	};

	if (isnan(cell->sides[side].p))
		return;
	zm_csv_first(out, cell->workload);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		zm_csv_next(out, words[i]);
	put_number(out, base);
	put_number(out, new);
	put_number(out, new - base);
	put_number(out, NAN);
	put_number(out, NAN);
	zm_csv_next(out, "difference");
	zm_csv_next(out, zm_verdict_name(zm_compare_failures(compare, cell, side)));
	put_number(out, NAN);
	put_number(out, cell->sides[side].p);
	put_number(out, NAN);
	put_number(out, NAN);
	zm_csv_next(out, "fisher");
	put_count(out, nr_base);
	put_count(out, nr);
	zm_csv_next(out, "0");
	zm_csv_end(out);
}

int zm_format_compare_csv(const struct zm_compare *compare, const struct zm_format_compare *options,
			  FILE *out)
{
	(void)options;
	(void)fputs(
		"workload,parameters,metric,unit,role,base,against,base_median,median,change,low,"
		"high,change_is,verdict,p,p_corrected,detectable,needed,method,base_values,"
		"values,one_boot_a_side\r\n",
		out);
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t side = 1; side < compare->nr_sides; side++)
			csv_failures(compare, cell, side, out);
		for (size_t k = 0; k < cell->nr_metrics; k++) {
			for (size_t side = 1; side < compare->nr_sides; side++) {
				if (cell->metrics[k].sides[side].nr)
					csv_row(compare, cell, &cell->metrics[k], side, out);
			}
		}
	}
	return 0;
}

/* --- JUnit --- */

static void describe(char *buf, size_t size, const struct zm_compare_metric *metric,
		     const struct zm_compare_outcome *outcome)
{
	const struct zm_judgement *judgement = &outcome->judgement;
	char change[48], low[48], high[48], seen[48];

	(void)snprintf(
		buf, size, "%s: %s (%s to %s); a change from %s on would have been seen%s",
		zm_verdict_name(outcome->verdict),
		zm_compare_change(change, sizeof(change), metric, judgement, judgement->change),
		zm_compare_change(low, sizeof(low), metric, judgement, judgement->low),
		zm_compare_change(high, sizeof(high), metric, judgement, judgement->high),
		zm_compare_change(seen, sizeof(seen), metric, judgement, judgement->detectable),
		outcome->is_between_boots ? "; one boot a side" : "");
}

/* Worse is a failure; what could not be told is skipped: never a pass by missing data. */
static void junit_case(const struct zm_compare *compare, const struct zm_compare_cell *cell,
		       size_t side, const char *name, enum zm_verdict verdict, const char *text,
		       FILE *out)
{
	char title[256];

	(void)fputs("    <testcase classname=\"", out);
	zm_xml_text(out, zm_compare_title(title, sizeof(title), cell));
	(void)fputs("\" name=\"", out);
	zm_xml_text(out, name);
	(void)fputs(" against ", out);
	zm_xml_text(out, compare->sides[side].name);
	(void)fputs("\">", out);
	if (verdict == ZM_VERDICT_WORSE) {
		(void)fputs("<failure message=\"", out);
		zm_xml_text(out, text);
		(void)fputs("\"/>", out);
	} else if (verdict == ZM_VERDICT_TOO_NOISY || verdict == ZM_VERDICT_NOT_ENOUGH) {
		(void)fputs("<skipped message=\"", out);
		zm_xml_text(out, text);
		(void)fputs("\"/>", out);
	} else {
		(void)fputs("<system-out>", out);
		zm_xml_text(out, text);
		(void)fputs("</system-out>", out);
	}
	(void)fputs("</testcase>\n", out);
}

static void junit_metric(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			 const struct zm_compare_metric *metric, size_t side, FILE *out)
{
	const struct zm_compare_outcome *outcome = &metric->outcomes[side];
	char text[320];

	describe(text, sizeof(text), metric, outcome);
	junit_case(compare, cell, side, metric->name, outcome->verdict, text, out);
}

/* A kernel on which nothing runs has no metric at all. */
static void junit_failures(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			   size_t side, FILE *out)
{
	char text[160];

	if (isnan(cell->sides[side].p))
		return;
	(void)snprintf(
		text, sizeof(text), "%zu of %zu runs failed, before %zu of %zu; %s (p = %.2g)",
		cell->sides[side].nr_failed, cell->sides[side].nr_failed + cell->sides[side].nr_ok,
		cell->sides[0].nr_failed, cell->sides[0].nr_failed + cell->sides[0].nr_ok,
		zm_compare_chance(compare, cell, side), cell->sides[side].p);
	junit_case(compare, cell, side, "runs that failed",
		   zm_compare_failures(compare, cell, side), text, out);
}

/* How many of which verdict, those on runs that failed among them. */
static void count_cases(const struct zm_compare *compare, size_t *ret_nr_of)
{
	memcpy(ret_nr_of, compare->nr_of, sizeof(compare->nr_of));
	for (size_t i = 0; i < compare->nr_cells; i++) {
		for (size_t side = 1; side < compare->nr_sides; side++) {
			if (!isnan(compare->cells[i].sides[side].p))
				ret_nr_of[zm_compare_failures(compare, &compare->cells[i], side)]++;
		}
	}
}

int zm_format_compare_junit(const struct zm_compare *compare,
			    const struct zm_format_compare *options, FILE *out)
{
	size_t nr_of[ZM_VERDICT_CHANGED + 1], nr_all = 0;

	(void)options;
	count_cases(compare, nr_of);
	for (unsigned int verdict = 0; verdict <= ZM_VERDICT_CHANGED; verdict++)
		nr_all += nr_of[verdict];
	(void)fprintf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
		      "name=\"zonemark compare\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
		      nr_all, nr_of[ZM_VERDICT_WORSE],
		      nr_of[ZM_VERDICT_TOO_NOISY] + nr_of[ZM_VERDICT_NOT_ENOUGH]);
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t side = 1; side < compare->nr_sides; side++)
			junit_failures(compare, cell, side, out);
		for (size_t k = 0; k < cell->nr_primary; k++) {
			for (size_t side = 1; side < compare->nr_sides; side++) {
				if (cell->metrics[k].sides[side].nr)
					junit_metric(compare, cell, &cell->metrics[k], side, out);
			}
		}
	}
	(void)fputs("  </testsuite>\n</testsuites>\n", out);
	return 0;
}
