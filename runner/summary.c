/*
 * summary: values by cell, metric and launch; a table of fixed columns, and the same as JSON.
 */
#include "runner/summary.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/cmd.h"

#define MANY_CELLS 8 /* from here on one does not see at a glance what failed */

struct metric_summary {
	const char *unit; /* a constant of the declarer */
	char *name;
	double *values; /* of the launches that went well */
	size_t nr;
};

struct zm_cell_summary {
	struct metric_summary *metrics;
	size_t nr_metrics;
	unsigned int nr_ok, nr_failed, nr_refused, nr_skipped, nr_interrupted, nr_done;
	double spread_sum; /* within the window, over the launches that had one */
	unsigned int nr_spreads;
	uint64_t last_ok_run, last_run;
	char flags[160];
	struct zm_why why; /* of the last launch that did not go well */
};

int zm_summary_init(struct zm_summary *summary, const struct zm_plan *plan, unsigned int nr_repeats)
{
	*summary = (struct zm_summary){ .plan = plan, .nr_repeats = nr_repeats };
	summary->cells = calloc(plan->nr_cells, sizeof(*summary->cells));
	return summary->cells ? 0 : -ENOMEM;
}

void zm_summary_release(struct zm_summary *summary)
{
	for (size_t i = 0; summary->cells && i < summary->plan->nr_cells; i++) {
		struct zm_cell_summary *cell = &summary->cells[i];

		for (size_t k = 0; k < cell->nr_metrics; k++) {
			free(cell->metrics[k].name);
			free(cell->metrics[k].values);
		}
		free(cell->metrics);
	}
	free(summary->cells);
	*summary = (struct zm_summary){ 0 };
}

/* --- taking in --- */

static struct metric_summary *find_metric(struct zm_cell_summary *cell, const char *name)
{
	for (size_t i = 0; i < cell->nr_metrics; i++) {
		if (strcmp(cell->metrics[i].name, name) == 0)
			return &cell->metrics[i];
	}
	return NULL;
}

static struct metric_summary *make_metric(struct zm_cell_summary *cell,
					  const struct zm_figure *figure)
{
	struct metric_summary *grown =
		realloc(cell->metrics, (cell->nr_metrics + 1) * sizeof(*grown));
	char *name = grown ? strdup(figure->name) : NULL;

	if (grown)
		cell->metrics = grown;
	if (!name)
		return NULL;
	cell->metrics[cell->nr_metrics] =
		(struct metric_summary){ figure->metric.unit, name, NULL, 0 };
	return &cell->metrics[cell->nr_metrics++];
}

static int add_value(struct zm_cell_summary *cell, const struct zm_figure *figure)
{
	struct metric_summary *metric = find_metric(cell, figure->name);
	double *grown;

	if (!metric)
		metric = make_metric(cell, figure);
	if (!metric)
		return -ENOMEM;
	grown = realloc(metric->values, (metric->nr + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	metric->values = grown;
	metric->values[metric->nr++] = figure->value;
	return 0;
}

static void add_flags(struct zm_cell_summary *cell, const char *flags)
{
	char copy[128];
	char *save = NULL;

	(void)snprintf(copy, sizeof(copy), "%s", flags);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t length = strlen(cell->flags);

		if (!strstr(cell->flags, word))
			(void)snprintf(cell->flags + length, sizeof(cell->flags) - length, "%s%s",
				       length ? " " : "", word);
	}
}

static void count_outcome(struct zm_cell_summary *cell, const struct zm_outcome *outcome)
{
	cell->nr_ok += outcome->status == ZM_STATUS_OK;
	cell->nr_failed += outcome->status == ZM_STATUS_FAILED;
	cell->nr_interrupted += outcome->status == ZM_STATUS_INTERRUPTED;
	cell->nr_refused += outcome->is_refused;
	cell->nr_skipped += outcome->status == ZM_STATUS_SKIPPED && !outcome->is_refused;
	if (outcome->status != ZM_STATUS_OK)
		cell->why = outcome->why;
	if (outcome->run_id)
		cell->last_run = outcome->run_id;
	if (outcome->run_id && outcome->status == ZM_STATUS_OK)
		cell->last_ok_run = outcome->run_id;
}

int zm_summary_add(struct zm_summary *summary, size_t index, const struct zm_outcome *outcome)
{
	struct zm_cell_summary *cell = &summary->cells[index];
	int r = 0;

	count_outcome(cell, outcome);
	if (outcome->status != ZM_STATUS_OK)
		return 0;
	for (size_t i = 0; r == 0 && i < outcome->report.nr_figures; i++) {
		if (outcome->report.figures[i].metric.is_primary)
			r = add_value(cell, &outcome->report.figures[i]);
	}
	if (outcome->spread >= 0) {
		cell->spread_sum += outcome->spread;
		cell->nr_spreads++;
	}
	add_flags(cell, outcome->flags);
	return r;
}

void zm_summary_add_done(struct zm_summary *summary, size_t index)
{
	summary->cells[index].nr_done++;
}

/* --- arithmetic --- */

struct spread {
	double median, least, most;
	double between; /* percent; negative with one launch */
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int summarise(const struct metric_summary *metric, struct spread *ret_spread)
{
	size_t nr = metric->nr;
	double *sorted = malloc(nr * sizeof(*sorted));
	double mean = 0, squares = 0;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, metric->values, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_doubles);
	for (size_t i = 0; i < nr; i++)
		mean += sorted[i] / (double)nr;
	for (size_t i = 0; i < nr; i++)
		squares += (sorted[i] - mean) * (sorted[i] - mean);
	*ret_spread = (struct spread){
		.median = nr % 2 ? sorted[nr / 2] : (sorted[nr / 2 - 1] + sorted[nr / 2]) / 2,
		.least = sorted[0],
		.most = sorted[nr - 1],
		.between = nr > 1 && mean > 0 ? 100 * sqrt(squares / (double)(nr - 1)) / mean : -1,
	};
	free(sorted);
	return 0;
}

static double within(const struct zm_cell_summary *cell)
{
	return cell->nr_spreads ? cell->spread_sum / cell->nr_spreads : -1;
}

/* --- the table --- */

static const char *number(char *buf, size_t size, double value)
{
	if (fabs(value) >= 1000)
		(void)snprintf(buf, size, "%.0f", value);
	else
		(void)snprintf(buf, size, "%.4g", value);
	return buf;
}

static const char *percent(char *buf, size_t size, double value)
{
	if (value < 0)
		return "-";
	(void)snprintf(buf, size, "%.1f %%", value);
	return buf;
}

static int title_width(const struct zm_summary *summary)
{
	size_t width = 4;

	for (size_t i = 0; i < summary->plan->nr_cells; i++) {
		size_t length = strlen(summary->plan->cells[i].title);

		width = length > width ? length : width;
	}
	return width < 60 ? (int)width : 60;
}

static int metric_width(const struct zm_summary *summary)
{
	size_t width = 6;

	for (size_t i = 0; i < summary->plan->nr_cells; i++) {
		for (size_t k = 0; k < summary->cells[i].nr_metrics; k++) {
			size_t length = strlen(summary->cells[i].metrics[k].name);

			width = length > width ? length : width;
		}
	}
	return width < 60 ? (int)width : 60;
}

static int print_metric(const struct zm_cell_summary *cell, const struct metric_summary *metric,
			const char *title, const int widths[2], FILE *out)
{
	char median[32], least[32], most[32], between[32], inside[32];
	struct spread spread;
	int r = summarise(metric, &spread);

	if (r < 0)
		return r;
	(void)fprintf(out, "%-*s  %-*s  %12s  %-8s  %12s  %12s  %8s  %8s  %3zu  %s\n", widths[0],
		      title, widths[1], metric->name, number(median, sizeof(median), spread.median),
		      metric->unit, number(least, sizeof(least), spread.least),
		      number(most, sizeof(most), spread.most),
		      percent(between, sizeof(between), spread.between),
		      percent(inside, sizeof(inside), within(cell)), metric->nr, cell->flags);
	return 0;
}

static const char *trouble(const struct zm_cell_summary *cell)
{
	if (cell->nr_failed)
		return "failed";
	if (cell->nr_refused)
		return "refused";
	if (cell->nr_interrupted)
		return "interrupted";
	return cell->nr_skipped ? "skipped" : NULL;
}

static int print_cell(const struct zm_summary *summary, size_t index, const int widths[2],
		      FILE *out)
{
	const struct zm_cell_summary *cell = &summary->cells[index];
	const char *title = summary->plan->cells[index].title;
	int r = 0;

	for (size_t i = 0; r == 0 && i < cell->nr_metrics; i++)
		r = print_metric(cell, &cell->metrics[i], i ? "" : title, widths, out);
	if (trouble(cell))
		(void)fprintf(out, "%-*s  %s: %s\n", widths[0], cell->nr_metrics ? "" : title,
			      trouble(cell), cell->why.text);
	else if (cell->nr_metrics == 0 && cell->nr_ok == 0)
		(void)fprintf(out, "%-*s  %s\n", widths[0], title,
			      cell->nr_done ? "done earlier" : "not run");
	return r;
}

static bool was_run(const struct zm_cell_summary *cell)
{
	return cell->nr_ok || cell->nr_done || trouble(cell);
}

/* Below a long table: what failed and why, and what was not run. */
static void print_troubles(const struct zm_summary *summary, FILE *out)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < summary->plan->nr_cells; i++) {
		const struct zm_cell_summary *cell = &summary->cells[i];

		nr_left += !was_run(cell);
		if (trouble(cell))
			(void)fprintf(out, "%s: %s: %s\n", trouble(cell),
				      summary->plan->cells[i].title, cell->why.text);
	}
	if (nr_left)
		(void)fprintf(out, "not run: %zu of %zu cells\n", nr_left, summary->plan->nr_cells);
}

int zm_summary_print(const struct zm_summary *summary, FILE *out)
{
	const int widths[2] = { title_width(summary), metric_width(summary) };
	int r = 0;

	(void)fprintf(out, "%-*s  %-*s  %12s  %-8s  %12s  %12s  %8s  %8s  %3s  %s\n", widths[0],
		      "cell", widths[1], "metric", "median", "unit", "least", "most", "between",
		      "within", "n", "flags");
	for (size_t i = 0; r == 0 && i < summary->plan->nr_cells; i++)
		r = print_cell(summary, i, widths, out);
	if (r == 0 && summary->plan->nr_cells > MANY_CELLS)
		print_troubles(summary, out);
	return r;
}

/* --- JSON --- */

static json_t *real_or_null(double value)
{
	return value < 0 ? json_null() : json_real(value);
}

static json_t *metric_json(const struct metric_summary *metric)
{
	struct spread spread;
	json_t *values = json_array();

	if (!values || summarise(metric, &spread) < 0) {
		json_decref(values);
		return NULL;
	}
	for (size_t i = 0; i < metric->nr; i++)
		(void)json_array_append_new(values, json_real(metric->values[i]));
	return json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:o}", "metric", metric->name, "unit",
			 metric->unit, "median", spread.median, "least", spread.least, "most",
			 spread.most, "between%", real_or_null(spread.between), "values", values);
}

static json_t *cell_json(const struct zm_summary *summary, size_t index)
{
	const struct zm_cell_summary *cell = &summary->cells[index];
	json_t *metrics = json_array();
	json_t *object;

	for (size_t i = 0; metrics && i < cell->nr_metrics; i++)
		(void)json_array_append_new(metrics, metric_json(&cell->metrics[i]));
	object = json_pack("{s:s, s:o?, s:o?, s:o?, s:s, s:i, s:i, s:i, s:i, s:i}", "title",
			   summary->plan->cells[index].title, "params",
			   json_loads(summary->plan->cells[index].params, 0, NULL), "metrics",
			   metrics, "within%", real_or_null(within(cell)), "flags", cell->flags,
			   "ok", (int)cell->nr_ok, "failed", (int)cell->nr_failed, "refused",
			   (int)cell->nr_refused, "skipped", (int)cell->nr_skipped, "interrupted",
			   (int)cell->nr_interrupted);
	if (object && trouble(cell))
		(void)json_object_set_new(object, "reason", json_string(cell->why.text));
	if (object && cell->nr_done)
		(void)json_object_set_new(object, "done_earlier", json_integer(cell->nr_done));
	if (object && cell->last_run)
		(void)json_object_set_new(object, "last_run",
					  json_integer((json_int_t)cell->last_run));
	return object;
}

int zm_summary_print_json(const struct zm_summary *summary, const char *invocation,
			  const char *store, json_t *latency_table, FILE *out)
{
	json_t *cells = json_array();
	json_t *object;
	int r;

	for (size_t i = 0; cells && i < summary->plan->nr_cells; i++)
		(void)json_array_append_new(cells, cell_json(summary, i));
	object = json_pack("{s:s, s:s, s:o?, s:o*}", "invocation", invocation, "store", store,
			   "cells", cells, "latency_table", latency_table);
	r = object ? json_dumpf(object, out, JSON_INDENT(2)) : -1;
	json_decref(object);
	(void)fputc('\n', out);
	return r < 0 ? -ENOMEM : 0;
}

/* --- what it comes to --- */

uint64_t zm_summary_good_run(const struct zm_summary *summary, size_t cell)
{
	return summary->cells[cell].last_ok_run;
}

int zm_summary_exit_status(const struct zm_summary *summary)
{
	bool has_failed = false, has_refused = false, has_ok = false;

	for (size_t i = 0; i < summary->plan->nr_cells; i++) {
		has_failed |= summary->cells[i].nr_failed > 0;
		has_refused |= summary->cells[i].nr_refused > 0;
		has_ok |= summary->cells[i].nr_ok + summary->cells[i].nr_done > 0;
	}
	if (has_failed)
		return ZM_EXIT_RUN_FAILED;
	if (has_refused)
		return ZM_EXIT_USAGE;
	return has_ok ? ZM_EXIT_OK : ZM_EXIT_SKIPPED;
}

uint64_t zm_summary_last_run(const struct zm_summary *summary)
{
	uint64_t ok = 0, any = 0;

	for (size_t i = 0; i < summary->plan->nr_cells; i++) {
		ok = summary->cells[i].last_ok_run > ok ? summary->cells[i].last_ok_run : ok;
		any = summary->cells[i].last_run > any ? summary->cells[i].last_run : any;
	}
	return ok ? ok : any;
}
