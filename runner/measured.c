/* measured: run by run, figure by figure. */
#include "runner/measured.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "results/query.h"
#include "results/report_fields.h"
#include "results/stat.h"

struct reader {
	struct zm_store *store;
	struct zm_measured *measured;
	struct zm_why *why;
};

static struct zm_measured_figure *find(struct zm_measured *measured, const char *metric)
{
	for (size_t i = 0; i < measured->nr_figures; i++) {
		if (strcmp(measured->figures[i].metric, metric) == 0)
			return &measured->figures[i];
	}
	return NULL;
}

static struct zm_measured_figure *add(struct zm_measured *measured, const struct zm_result *result)
{
	struct zm_pool *pool = &measured->pool;
	struct zm_measured_figure *list =
		zm_report_fields_grow(pool, measured->figures, measured->nr_figures, sizeof(*list));

	if (!list)
		return NULL;
	measured->figures = list;
	list += measured->nr_figures++;
	*list = (struct zm_measured_figure){ .metric = zm_pool_text(pool, result->metric),
					     .unit = zm_pool_text(pool, result->unit),
					     .better = result->better };
	return list;
}

static void keep(struct zm_measured *measured, const struct zm_result *result)
{
	struct zm_measured_figure *figure = find(measured, result->metric);
	double *values;

	if (!figure)
		figure = add(measured, result);
	if (!figure)
		return;
	values =
		zm_report_fields_grow(&measured->pool, figure->values, figure->nr, sizeof(*values));
	if (!values)
		return;
	figure->values = values;
	figure->values[figure->nr++] = result->value;
}

static int read_run(void *context, const struct zm_run_info *info)
{
	struct reader *reader = context;
	struct zm_measured *measured = reader->measured;
	struct zm_run_view *view;
	int r;

	r = zm_query_run(reader->store, info->id, &view, reader->why);
	if (r < 0)
		return r;
	for (size_t i = 0; i < view->nr_results; i++)
		keep(measured, &view->results[i]);
	measured->nr_launches++;
	measured->last_run = info->id > measured->last_run ? info->id : measured->last_run;
	zm_run_view_free(view);
	return 0;
}

static void sum_up(struct zm_measured *measured)
{
	for (size_t i = 0; i < measured->nr_figures; i++) {
		struct zm_measured_figure *figure = &measured->figures[i];

		figure->mean = zm_stat_mean(figure->values, figure->nr);
		figure->sd = zm_stat_sd(figure->values, figure->nr);
	}
}

int zm_measured_read(struct zm_store *store, const char *invocation, const char *cell,
		     struct zm_measured *ret_measured, struct zm_why *why)
{
	const struct zm_run_filter filter = { .invocation = invocation,
					      .cell = cell,
					      .status = ZM_STATUS_OK };
	struct zm_measured measured = { 0 };
	struct reader reader = { store, &measured, why };
	int r = zm_query_runs(store, &filter, read_run, &reader, why);

	if (r == 0 && measured.pool.error)
		r = zm_why_errno(why, measured.pool.error, "reading the runs");
	if (r < 0) {
		zm_measured_release(&measured);
		return r;
	}
	sum_up(&measured);
	*ret_measured = measured;
	return 0;
}

static void take_metric(struct zm_measured *measured, const struct zm_compare_metric *metric,
			size_t side)
{
	const struct zm_compare_values *values = &metric->sides[side];
	const struct zm_result result = { .metric = metric->name,
					  .unit = metric->unit,
					  .better = metric->better };
	struct zm_measured_figure *figure = values->nr ? add(measured, &result) : NULL;

	if (!figure)
		return;
	figure->values = zm_pool_take(&measured->pool, values->nr * sizeof(*figure->values));
	if (!figure->values)
		return;
	memcpy(figure->values, values->values, values->nr * sizeof(*figure->values));
	figure->nr = values->nr;
}

int zm_measured_take(const struct zm_compare_cell *cell, size_t side,
		     struct zm_measured *ret_measured, struct zm_why *why)
{
	struct zm_measured measured = { .nr_launches = cell->sides[side].nr_ok };

	for (size_t i = 0; i < cell->nr_metrics; i++)
		take_metric(&measured, &cell->metrics[i], side);
	if (measured.pool.error) {
		int r = zm_why_errno(why, measured.pool.error, "reading the runs");

		zm_measured_release(&measured);
		return r;
	}
	sum_up(&measured);
	*ret_measured = measured;
	return 0;
}

void zm_measured_release(struct zm_measured *measured)
{
	zm_pool_release(&measured->pool);
	*measured = (struct zm_measured){ 0 };
}

/* The same name, but that a part of it which is a number, of tasks, may be another number. */
static bool is_same(const char *a, const char *b)
{
	for (;;) {
		size_t length_a = strcspn(a, "."), length_b = strcspn(b, ".");
		bool are_numbers = strspn(a, "0123456789") == length_a &&
				   strspn(b, "0123456789") == length_b && length_a && length_b;

		if (!are_numbers && (length_a != length_b || memcmp(a, b, length_a) != 0))
			return false;
		if (!a[length_a] || !b[length_b])
			return a[length_a] == b[length_b];
		a += length_a + 1;
		b += length_b + 1;
	}
}

const struct zm_measured_figure *zm_measured_find(const struct zm_measured *measured,
						  const char *metric)
{
	const char *time = strstr(metric, ".time.");

	for (size_t i = 0; i < measured->nr_figures; i++) {
		if (is_same(measured->figures[i].metric, metric))
			return &measured->figures[i];
	}
	if (!time)
		return NULL;
	for (size_t i = 0; i < measured->nr_figures; i++) {
		if (strcmp(measured->figures[i].metric, time + 1) == 0)
			return &measured->figures[i];
	}
	return NULL;
}
