/* latency_table: each cell's newest good run -> its digest -> a row. */
#include "runner/latency_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/digest.h"
#include "results/query.h"
#include "workloads/base/cleanup.h"

#define APPROXIMATE "approximate."

enum figure {
	THROUGHPUT,
	FREE_AVG,
	FREE_P99,
	ALLOC_AVG,
	ALLOC_P99,
	NR_FIGURES,
};

/* A name may have APPROXIMATE behind its monitor's. */
static const struct {
	const char *monitor, *name; /* of the result */
	const char *key;
	const char *heads[2];
	int decimals;
} columns[NR_FIGURES] = {
	[THROUGHPUT] = { "",
			 "will-it-scale.workload",
			 "throughput",
			 { "throughput", "page/s" },
			 1 },
	[FREE_AVG] = { "page-latency.",
		       "drain.avg_us",
		       "free_avg_us",
		       { "free latency", "avg / us" },
		       2 },
	[FREE_P99] = { "page-latency.",
		       "drain.p99_us",
		       "free_p99_us",
		       { "free latency", "99% / us" },
		       2 },
	[ALLOC_AVG] = { "page-latency.",
			"refill.avg_us",
			"alloc_avg_us",
			{ "alloc latency", "avg / us" },
			2 },
	[ALLOC_P99] = { "page-latency.",
			"refill.p99_us",
			"alloc_p99_us",
			{ "alloc latency", "99% / us" },
			2 },
};

struct row {
	char setting[64]; /* "high_fraction=8" */
	double high, batch;
	double values[NR_FIGURES];
	bool is_approximate;
	char absence[ZM_WHY_SIZE]; /* why the latencies could not be had; "" */
};

struct rows {
	struct row *list;
	size_t nr;
};

/* --- reading ----------------------------------------------------------------------------------- */

/* The median of the cell's launches, or the run's own. */
static double figure_of(const struct zm_digest *digest, const char *name)
{
	const struct zm_run_view *view = digest->view;

	for (size_t i = 0; i < view->nr_results; i++) {
		const struct zm_digest_figure *figure = &digest->figures[i];

		if (strcmp(figure->result->metric, name) == 0)
			return figure->launches.nr > 1 ? figure->launches.median
						       : figure->result->value;
	}
	return NAN;
}

static void read_figure(const struct zm_digest *digest, enum figure figure, struct row *row)
{
	char name[96];

	(void)snprintf(name, sizeof(name), "%s%s", columns[figure].monitor, columns[figure].name);
	row->values[figure] = figure_of(digest, name);
	if (!isnan(row->values[figure]) || !columns[figure].monitor[0])
		return;
	(void)snprintf(name, sizeof(name), "%s" APPROXIMATE "%s", columns[figure].monitor,
		       columns[figure].name);
	row->values[figure] = figure_of(digest, name);
	row->is_approximate |= !isnan(row->values[figure]);
}

/* Of the zone whose lists are longest, over its CPUs. */
static void read_lists(const struct zm_digest *digest, struct row *row)
{
	static const char high[] = "pcp.high.";
	char batch[96];

	row->high = row->batch = NAN;
	for (size_t i = 0; i < digest->nr_metrics; i++) {
		const struct zm_digest_metric *metric = &digest->metrics[i];
		const char *zone = metric->desc.metric + strlen(high);
		const struct zm_digest_metric *its_batch;

		if (strncmp(metric->desc.metric, high, strlen(high)) != 0 ||
		    !(isnan(row->high) || metric->over_scopes.mean > row->high))
			continue;
		row->high = metric->over_scopes.mean;
		(void)snprintf(batch, sizeof(batch), "pcp.batch.%s", zone);
		its_batch = zm_digest_metric(digest, batch);
		row->batch = its_batch ? its_batch->over_scopes.mean : NAN;
	}
}

static void read_absence(const struct zm_run_view *view, struct row *row)
{
	for (size_t i = 0; i < view->nr_absents; i++)
		if (strncmp(view->absents[i].kind, "page-latency", strlen("page-latency")) == 0)
			(void)snprintf(row->absence, sizeof(row->absence), "%s",
				       view->absents[i].text);
}

static int read_row(struct zm_store *store, const struct zm_cell *cell, uint64_t run,
		    struct row *row, struct zm_why *why)
{
	struct zm_digest *digest;
	int r = zm_digest_make(store, run, "pcp.*", &digest, why);

	if (r < 0)
		return r;
	for (size_t i = 0; i < cell->nr_settings; i++)
		(void)snprintf(row->setting, sizeof(row->setting), "%s=%s", cell->settings[i].name,
			       cell->settings[i].value);
	for (enum figure figure = 0; figure < NR_FIGURES; figure++)
		read_figure(digest, figure, row);
	read_lists(digest, row);
	read_absence(digest->view, row);
	zm_digest_free(digest);
	return 0;
}

/* Cells without a good run have no row. */
static int read_rows(struct zm_store *store, const struct zm_summary *summary,
		     struct rows *ret_rows, struct zm_why *why)
{
	zm_autofree struct row *list = calloc(summary->plan->nr_cells + 1, sizeof(*list));
	size_t nr = 0;
	int r = list ? zm_query_begin(store, why) : zm_why_errno(why, -ENOMEM, "the table");

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < summary->plan->nr_cells; i++) {
		uint64_t run = zm_summary_good_run(summary, i);

		if (run)
			r = read_row(store, &summary->plan->cells[i], run, &list[nr++], why);
	}
	zm_query_end(store);
	if (r < 0)
		return r;
	*ret_rows = (struct rows){ list, nr };
	list = NULL;
	return 0;
}

/* --- showing ----------------------------------------------------------------------------------- */

static void print_value(FILE *out, double value, int decimals, bool is_approximate)
{
	char text[32] = "-";

	if (!isnan(value))
		(void)snprintf(text, sizeof(text), "%s%.*f", is_approximate ? "~" : "", decimals,
			       value);
	(void)fprintf(out, "  %13s", text);
}

static void print_row(FILE *out, const struct row *row, int width)
{
	(void)fprintf(out, "%-*s", width, row->setting);
	print_value(out, row->high, 0, false);
	print_value(out, row->batch, 0, false);
	for (enum figure figure = 0; figure < NR_FIGURES; figure++)
		print_value(out, row->values[figure], columns[figure].decimals,
			    row->is_approximate && figure != THROUGHPUT);
	(void)fputc('\n', out);
}

static void print_heads(FILE *out, int width)
{
	static const char *const lists[2][2] = { { "high", "batch" }, { "pages", "pages" } };

	for (int line = 0; line < 2; line++) {
		(void)fprintf(out, "%-*s  %13s  %13s", width, line ? "" : "setting", lists[line][0],
			      lists[line][1]);
		for (enum figure figure = 0; figure < NR_FIGURES; figure++)
			(void)fprintf(out, "  %13s", columns[figure].heads[line]);
		(void)fputc('\n', out);
	}
	for (int i = 0; i < width + (NR_FIGURES + 2) * 15; i++)
		(void)fputc('-', out);
	(void)fputc('\n', out);
}

static void print_below(FILE *out, const struct rows *rows)
{
	const struct row *last = &rows->list[rows->nr - 1];

	if (last->is_approximate)
		(void)fprintf(out, "~: approximate, from runs of events; see page-latency in "
				   "docs/metrics.md\n");
	if (isnan(last->values[FREE_AVG]) && isnan(last->values[ALLOC_AVG]))
		(void)fprintf(out, "-: not measured: %s\n",
			      last->absence[0] ? last->absence
					       : "the monitor page-latency was not read");
}

int zm_latency_table_print(struct zm_store *store, const struct zm_summary *summary, FILE *out,
			   struct zm_why *why)
{
	struct rows rows = { NULL, 0 };
	int width = 8;
	int r = read_rows(store, summary, &rows, why);

	if (r < 0)
		return r;
	for (size_t i = 0; i < rows.nr; i++)
		if ((int)strlen(rows.list[i].setting) > width)
			width = (int)strlen(rows.list[i].setting);
	if (rows.nr > 0) {
		(void)fputc('\n', out);
		print_heads(out, width);
		for (size_t i = 0; i < rows.nr; i++)
			print_row(out, &rows.list[i], width);
		print_below(out, &rows);
	}
	free(rows.list);
	return 0;
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *row_json(const struct row *row)
{
	json_t *object = json_pack("{s:s, s:o, s:o, s:b}", "setting", row->setting, "high_pages",
				   number(row->high), "batch_pages", number(row->batch),
				   "approximate", row->is_approximate);

	for (enum figure figure = 0; object && figure < NR_FIGURES; figure++)
		(void)json_object_set_new(object, columns[figure].key, number(row->values[figure]));
	if (object && row->absence[0])
		(void)json_object_set_new(object, "reason", json_string(row->absence));
	return object;
}

json_t *zm_latency_table_json(struct zm_store *store, const struct zm_summary *summary,
			      struct zm_why *why)
{
	struct rows rows = { NULL, 0 };
	json_t *array = json_array();

	if (read_rows(store, summary, &rows, why) < 0) {
		json_decref(array);
		return NULL;
	}
	for (size_t i = 0; i < rows.nr; i++)
		(void)json_array_append_new(array, row_json(&rows.list[i]));
	free(rows.list);
	return array;
}
