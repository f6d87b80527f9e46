/*
 * digest: what a run comes to.
 *
 * The series are read once; each is digested and let go. Then come the launches of the same cell, of
 * which only the operations and the figures are read.
 */
#include "results/digest.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_LAUNCHES_MAX 1000
#define USED_METRIC     "meminfo.Memused"

struct making {
	struct zm_store *store;
	struct zm_digest *digest;
	const char *pattern;
	size_t metrics_capacity, hists_capacity;
	double *scratch;
	size_t scratch_capacity;
	struct zm_spread ops_rates; /* in the window */
};

/* Room for a series' intervals. */
static double *scratch(struct making *making, size_t nr)
{
	if (nr > making->scratch_capacity) {
		double *grown = realloc(making->scratch, nr * sizeof(*grown));

		if (!grown)
			return NULL;
		making->scratch = grown;
		making->scratch_capacity = nr;
	}
	return making->scratch;
}

static void *grow(struct zm_pool *pool, void *array, size_t *capacity, size_t nr, size_t size)
{
	void *grown;

	if (nr < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 4;
	grown = zm_pool_take(pool, *capacity * size);
	if (grown && nr)
		memcpy(grown, array, nr * size);
	return grown;
}

static struct zm_series_desc keep_desc(struct zm_pool *pool, const struct zm_series_desc *desc)
{
	struct zm_series_desc kept = *desc;

	kept.source = zm_pool_text(pool, desc->source);
	kept.metric = zm_pool_text(pool, desc->metric);
	kept.unit = zm_pool_text(pool, desc->unit);
	return kept;
}

static bool is_same(const struct zm_series_desc *a, const struct zm_series_desc *b)
{
	return a->scope == b->scope && !strcmp(a->metric, b->metric) &&
	       !strcmp(a->source, b->source);
}

/* A metric's scopes are mostly declared one after the other, or as many apart as the source has
 * metrics: the search goes on where the last one ended. */
static struct zm_digest_metric *find_or_add_metric(struct making *making,
						   const struct zm_series_desc *desc)
{
	struct zm_digest *digest = making->digest;
	size_t nr = digest->nr_metrics;

	for (size_t i = nr; desc->scope != ZM_SCOPE_HOST && i-- > 0;) {
		if (is_same(&digest->metrics[i].desc, desc))
			return &digest->metrics[i];
	}
	digest->metrics = grow(&digest->pool, digest->metrics, &making->metrics_capacity, nr,
			       sizeof(*digest->metrics));
	if (!digest->metrics)
		return NULL;
	digest->metrics[nr] = (struct zm_digest_metric){ .desc = keep_desc(&digest->pool, desc) };
	digest->nr_metrics++;
	return &digest->metrics[nr];
}

static uint32_t all_flags(const struct zm_series *series, size_t first, size_t nr)
{
	uint32_t flags = 0;

	for (size_t i = first; series->readings->flags && i < first + nr; i++)
		flags |= series->readings->flags[i];
	return flags;
}

static int digest_count(struct making *making, const struct zm_series *series,
			struct zm_digest_scope *scope)
{
	const struct zm_digest *digest = making->digest;
	struct zm_interval *intervals = calloc(series->nr + 1, sizeof(*intervals));
	double *rates = scratch(making, series->nr + 1);
	size_t nr;

	if (!intervals || !rates) {
		free(intervals);
		return -ENOMEM;
	}
	nr = zm_series_intervals(series, digest->t0_ns, digest->t1_ns, intervals);
	for (size_t i = 0; i < nr; i++) {
		scope->count += intervals[i].delta;
		scope->covered_ns += intervals[i].t1_ns - intervals[i].t0_ns;
	}
	nr = zm_interval_join_short(intervals, nr);
	for (size_t i = 0; i < nr; i++)
		rates[i] = zm_interval_rate(&intervals[i]);
	free(intervals);
	scope->value =
		scope->covered_ns ? scope->count * 1e9 / (double)scope->covered_ns : (double)NAN;
	zm_stat_spread(rates, nr, &scope->spread);
	return 0;
}

static int digest_gauge(struct making *making, const struct zm_series *series, size_t first,
			struct zm_digest_scope *scope)
{
	const struct zm_digest *digest = making->digest;
	double *values = scratch(making, series->nr + 1);

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < scope->nr_readings; i++)
		values[i] = zm_readings_f64(series->readings, first + i);
	if (scope->nr_readings)
		scope->covered_ns =
			series->t_ns[first + scope->nr_readings - 1] - series->t_ns[first];
	scope->value = zm_series_mean(series, digest->t0_ns, digest->t1_ns);
	zm_stat_spread(values, scope->nr_readings, &scope->spread);
	return 0;
}

static int add_scope(struct making *making, const struct zm_series *series)
{
	struct zm_digest *digest = making->digest;
	struct zm_digest_metric *metric = find_or_add_metric(making, &series->desc);
	struct zm_digest_scope scope = { .id = series->desc.scope_id, .value = NAN };
	size_t first;
	int error;

	if (!metric)
		return -ENOMEM;
	scope.nr_readings = zm_series_window(series, digest->t0_ns, digest->t1_ns, &first);
	scope.flags = all_flags(series, first, scope.nr_readings);
	error = series->desc.kind == ZM_COUNT ? digest_count(making, series, &scope)
					      : digest_gauge(making, series, first, &scope);
	metric->scopes = grow(&digest->pool, metric->scopes, &metric->scopes_capacity,
			      metric->nr_scopes, sizeof(*metric->scopes));
	if (!metric->scopes)
		return -ENOMEM;
	metric->scopes[metric->nr_scopes++] = scope;
	return error;
}

/* The last snapshot of the window less its first. */
static int window_hist(const struct zm_digest *digest, const struct zm_series *series,
		       struct zm_hist *ret_hist)
{
	struct zm_hist *earlier = malloc(sizeof(*earlier));
	size_t first, nr = zm_series_window(series, digest->t0_ns, digest->t1_ns, &first);
	int error = earlier ? 0 : -ENOMEM;

	zm_hist_init(ret_hist);
	if (!error && nr > 1) {
		error = zm_readings_hist(series->readings, first, earlier);
		if (!error)
			error = zm_readings_hist(series->readings, first + nr - 1, ret_hist);
		if (!error)
			zm_hist_subtract(ret_hist, earlier);
	}
	free(earlier);
	return error;
}

static struct zm_digest_hist *find_or_add_hist(struct making *making,
					       const struct zm_series_desc *desc)
{
	struct zm_digest *digest = making->digest;
	size_t nr = digest->nr_hists;

	for (size_t i = nr; i-- > 0;) {
		if (is_same(&digest->hists[i].desc, desc))
			return &digest->hists[i];
	}
	digest->hists = grow(&digest->pool, digest->hists, &making->hists_capacity, nr,
			     sizeof(*digest->hists));
	if (!digest->hists)
		return NULL;
	digest->hists[nr] = (struct zm_digest_hist){
		.desc = keep_desc(&digest->pool, desc),
		.hist = zm_pool_take(&digest->pool, sizeof(struct zm_hist)),
	};
	if (!digest->hists[nr].hist)
		return NULL;
	zm_hist_init(digest->hists[nr].hist);
	digest->nr_hists++;
	return &digest->hists[nr];
}

static int add_hist(struct making *making, const struct zm_series *series)
{
	struct zm_digest_hist *hist = find_or_add_hist(making, &series->desc);
	struct zm_hist *own = hist ? malloc(sizeof(*own)) : NULL;
	int error = own ? window_hist(making->digest, series, own) : -ENOMEM;

	if (!error) {
		zm_hist_merge(hist->hist, own);
		hist->nr_scopes++;
	}
	free(own);
	return error;
}

static void add_point(struct zm_digest_curve *curve, uint64_t t_ns, uint64_t origin_ns, double y)
{
	curve->x_s[curve->nr] = ((double)t_ns - (double)origin_ns) / 1e9;
	curve->y[curve->nr++] = y;
}

/* Bytes, whatever the unit was. */
static int keep_used_curve(struct zm_digest *digest, const struct zm_series *series)
{
	struct zm_digest_curve *curve = &digest->used_curve;
	double factor = !strcmp(series->desc.unit, "kB") ? 1024 : 1;
	uint64_t origin_ns = digest->view->nr_phases ? digest->view->phases[0].t0_ns : 0;

	curve->x_s = zm_pool_take(&digest->pool, (series->nr + 1) * sizeof(*curve->x_s));
	curve->y = zm_pool_take(&digest->pool, (series->nr + 1) * sizeof(*curve->y));
	if (!curve->x_s || !curve->y)
		return -ENOMEM;
	if (!digest->view->nr_phases && series->nr)
		origin_ns = series->t_ns[0];
	for (size_t i = 0; i < series->nr; i++)
		add_point(curve, series->t_ns[i], origin_ns,
			  zm_readings_f64(series->readings, i) * factor);
	curve->unit = "bytes";
	return 0;
}

static bool is_engine_ops(const struct zm_series_desc *desc)
{
	return desc->scope == ZM_SCOPE_TASK && !strcmp(desc->metric, ZM_SERIES_TASK_OPS) &&
	       !strcmp(desc->source, ZM_SOURCE_ENGINE);
}

static int digest_series(void *context, const struct zm_series *series)
{
	struct making *making = context;
	struct zm_digest *digest = making->digest;
	int error = 0;

	if (is_engine_ops(&series->desc))
		error = zm_throughput_add(&digest->throughput, series);
	if (!error && series->desc.scope == ZM_SCOPE_HOST && !digest->used_curve.nr &&
	    !strcmp(series->desc.metric, USED_METRIC))
		error = keep_used_curve(digest, series);
	if (error || (making->pattern && fnmatch(making->pattern, series->desc.metric, 0)))
		return error;
	error = series->desc.kind == ZM_HIST ? add_hist(making, series) : add_scope(making, series);
	if (error == -EUCLEAN) {
		digest->nr_damaged++;
		error = 0;
	}
	return error;
}

static int compare_scopes(const void *a, const void *b)
{
	const struct zm_digest_scope *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int sum_scopes(struct making *making)
{
	struct zm_digest *digest = making->digest;

	for (size_t i = 0; i < digest->nr_metrics; i++) {
		struct zm_digest_metric *metric = &digest->metrics[i];
		double *values = scratch(making, metric->nr_scopes + 1);
		size_t nr = 0;

		if (!values)
			return -ENOMEM;
		qsort(metric->scopes, metric->nr_scopes, sizeof(*metric->scopes), compare_scopes);
		for (size_t k = 0; k < metric->nr_scopes; k++) {
			if (isnan(metric->scopes[k].value))
				continue;
			values[nr++] = metric->scopes[k].value;
			metric->total += metric->scopes[k].value;
		}
		if (nr == 0)
			metric->total = NAN;
		zm_stat_spread(values, nr, &metric->over_scopes);
	}
	return 0;
}

/* A rate holds for a whole interval: both its ends are points. */
static int keep_rate_curve(struct making *making)
{
	struct zm_digest *digest = making->digest;
	struct zm_digest_curve *curve = &digest->rate_curve;
	const struct zm_throughput *throughput = &digest->throughput;
	struct zm_interval *intervals = calloc(throughput->nr + 1, sizeof(*intervals));
	uint64_t origin_ns = throughput->nr ? throughput->t_ns[0] : 0;
	char unit[128];
	size_t nr;

	if (digest->view->nr_phases)
		origin_ns = digest->view->phases[0].t0_ns;
	(void)snprintf(unit, sizeof(unit), "%ss/s", throughput->op ? throughput->op : "op");
	curve->unit = zm_pool_text(&digest->pool, unit);
	curve->x_s = zm_pool_take(&digest->pool, (throughput->nr + 1) * 2 * sizeof(*curve->x_s));
	curve->y = zm_pool_take(&digest->pool, (throughput->nr + 1) * 2 * sizeof(*curve->y));
	if (!intervals || digest->pool.error) {
		free(intervals);
		return -ENOMEM;
	}
	nr = zm_throughput_intervals(throughput, 0, UINT64_MAX, intervals);
	for (size_t i = 0; i < nr; i++) {
		add_point(curve, intervals[i].t0_ns, origin_ns, zm_interval_rate(&intervals[i]));
		add_point(curve, intervals[i].t1_ns, origin_ns, zm_interval_rate(&intervals[i]));
	}
	free(intervals);
	return 0;
}

/* --- the figures' spread --- */

static bool is_rate(const char *unit)
{
	size_t length = strlen(unit);

	return length > 2 && !strcmp(unit + length - 2, "/s");
}

/* A figure derived from the operations' count as a rate goes up and down as the count does. */
static void spread_of_rate(const struct making *making, const struct zm_result *result,
			   struct zm_spread *ret_spread)
{
	const struct zm_digest *digest = making->digest;
	uint64_t covered_ns;
	double total =
		zm_throughput_total(&digest->throughput, digest->t0_ns, digest->t1_ns, &covered_ns);
	double factor;

	if (covered_ns == 0 || total <= 0 || fabs(result->count - total) > total * 1e-6 ||
	    !is_rate(result->unit))
		return;
	factor = result->value / (total * 1e9 / (double)covered_ns);
	*ret_spread = making->ops_rates;
	ret_spread->mean *= factor;
	ret_spread->sd *= factor;
	ret_spread->min *= factor;
	ret_spread->median *= factor;
	ret_spread->max *= factor;
}

/* A figure of the same name and unit as a series is its rate or mean. */
static void spread_of_series(const struct zm_digest *digest, const struct zm_result *result,
			     struct zm_spread *ret_spread)
{
	const struct zm_digest_metric *metric = zm_digest_metric(digest, result->metric);
	char unit[128];

	if (metric && metric->desc.scope == ZM_SCOPE_HOST &&
	    !strcmp(zm_digest_unit(unit, sizeof(unit), &metric->desc), result->unit))
		*ret_spread = metric->scopes[0].spread;
}

static void spread_figures(struct making *making)
{
	struct zm_digest *digest = making->digest;

	for (size_t i = 0; i < digest->view->nr_results; i++) {
		struct zm_digest_figure *figure = &digest->figures[i];

		spread_of_series(digest, figure->result, &figure->within);
		if (!figure->within.nr)
			spread_of_rate(making, figure->result, &figure->within);
	}
}

const struct zm_digest_metric *zm_digest_metric(const struct zm_digest *digest, const char *metric)
{
	for (size_t i = 0; i < digest->nr_metrics; i++) {
		if (!strcmp(digest->metrics[i].desc.metric, metric))
			return &digest->metrics[i];
	}
	return NULL;
}

/* --- the launches of the same cell --- */

struct launch {
	uint64_t run;
	double *rates;
	size_t nr_rates;
	struct zm_run_view *view;
};

struct launch_list {
	struct launch launches[NR_LAUNCHES_MAX];
	size_t nr;
};

static int note_launch(void *context, const struct zm_run_info *run)
{
	struct launch_list *list = context;

	if (list->nr < NR_LAUNCHES_MAX)
		list->launches[list->nr++].run = run->id;
	return 0;
}

static int read_launch(struct making *making, struct launch *launch, struct zm_why *why)
{
	struct zm_throughput throughput = { 0 };
	const struct zm_phase_row *measure;
	int64_t nr = 0;
	int error = zm_query_run(making->store, launch->run, &launch->view, why);

	if (!error)
		error = zm_throughput_read(making->store, launch->run, &throughput, why);
	if (error)
		return error;
	measure = zm_run_view_phase(launch->view, ZM_PHASE_MEASURE);
	if (measure)
		nr = zm_throughput_rates(&throughput, measure->t0_ns, measure->t1_ns,
					 &launch->rates);
	zm_throughput_release(&throughput);
	launch->nr_rates = nr > 0 ? (size_t)nr : 0;
	return nr < 0 ? (int)nr : 0;
}

static int spread_launches(struct making *making, const struct launch_list *list)
{
	struct zm_digest *digest = making->digest;
	const double *rates[NR_LAUNCHES_MAX];
	size_t nrs[NR_LAUNCHES_MAX];
	double *values = scratch(making, list->nr + 1);

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++) {
		rates[i] = list->launches[i].rates;
		nrs[i] = list->launches[i].nr_rates;
	}
	zm_stat_launches(rates, nrs, list->nr, &digest->launches);
	for (size_t i = 0; i < digest->view->nr_results; i++) {
		struct zm_digest_figure *figure = &digest->figures[i];
		size_t nr = 0;

		for (size_t k = 0; k < list->nr; k++) {
			const struct zm_result *result =
				zm_run_view_result(list->launches[k].view, figure->result->metric);

			if (result)
				values[nr++] = result->value;
		}
		zm_stat_spread(values, nr, &figure->launches);
	}
	return 0;
}

static int add_launches(struct making *making, struct zm_why *why)
{
	const struct zm_run_info *info = &making->digest->view->info;
	const struct zm_run_filter filter = { .invocation = info->invocation,
					      .cell = info->cell,
					      .status = ZM_STATUS_OK };
	struct launch_list *list = calloc(1, sizeof(*list));
	int error = list ? zm_query_runs(making->store, &filter, note_launch, list, why) : -ENOMEM;

	for (size_t i = 0; !error && i < list->nr; i++)
		error = read_launch(making, &list->launches[i], why);
	if (!error)
		error = spread_launches(making, list);
	for (size_t i = 0; list && i < list->nr; i++) {
		free(list->launches[i].rates);
		zm_run_view_free(list->launches[i].view);
	}
	free(list);
	return error;
}

/* --- all of it --- */

static void find_window(struct zm_digest *digest)
{
	const struct zm_phase_row *measure = zm_run_view_phase(digest->view, ZM_PHASE_MEASURE);

	digest->is_measured = measure != NULL;
	digest->t0_ns = measure ? measure->t0_ns : 0;
	digest->t1_ns = measure ? measure->t1_ns : UINT64_MAX;
}

static int prepare(struct making *making, uint64_t run, struct zm_why *why)
{
	struct zm_digest *digest = making->digest;
	int error = zm_query_run(making->store, run, &digest->view, why);

	if (error)
		return error;
	find_window(digest);
	digest->figures = zm_pool_take(&digest->pool,
				       (digest->view->nr_results + 1) * sizeof(*digest->figures));
	if (!digest->figures)
		return -ENOMEM;
	for (size_t i = 0; i < digest->view->nr_results; i++)
		digest->figures[i].result = &digest->view->results[i];
	return 0;
}

static int rate_ops(struct making *making)
{
	const struct zm_digest *digest = making->digest;
	double *rates;
	int64_t nr = zm_throughput_rates(&digest->throughput, digest->t0_ns, digest->t1_ns, &rates);

	if (nr < 0)
		return (int)nr;
	zm_stat_spread(rates, (size_t)nr, &making->ops_rates);
	free(rates);
	return 0;
}

static int make(struct making *making, uint64_t run, struct zm_why *why)
{
	const struct zm_series_filter all = { .scope = -1 };
	size_t nr_damaged = 0;
	int error = prepare(making, run, why);

	if (!error)
		error = zm_series_read(making->store, run, &all, digest_series, making, &nr_damaged,
				       why);
	making->digest->nr_damaged += nr_damaged;
	if (!error)
		error = sum_scopes(making);
	if (!error)
		error = keep_rate_curve(making);
	if (!error)
		error = rate_ops(making);
	if (!error)
		error = add_launches(making, why);
	if (!error)
		spread_figures(making);
	return error ? error : making->digest->pool.error;
}

int zm_digest_make(struct zm_store *store, uint64_t run, const char *metric,
		   struct zm_digest **ret_digest, struct zm_why *why)
{
	struct making making = { .store = store, .pattern = metric };
	int error;

	making.digest = calloc(1, sizeof(*making.digest));
	error = making.digest ? make(&making, run, why) : -ENOMEM;
	free(making.scratch);
	if (error == -ENOMEM)
		(void)zm_why_errno(why, error, "run %llu", (unsigned long long)run);
	if (error) {
		zm_digest_free(making.digest);
		return error;
	}
	*ret_digest = making.digest;
	return 0;
}

void zm_digest_free(struct zm_digest *digest)
{
	if (!digest)
		return;
	zm_run_view_free(digest->view);
	zm_throughput_release(&digest->throughput);
	zm_pool_release(&digest->pool);
	free(digest);
}

char *zm_digest_unit(char *buf, size_t size, const struct zm_series_desc *desc)
{
	bool is_singular = is_engine_ops(desc); /* "page" */

	(void)snprintf(buf, size, "%s%s%s", desc->unit, is_singular ? "s" : "",
		       desc->kind != ZM_COUNT ? "" : (*desc->unit ? "/s" : "1/s"));
	return buf;
}
