/*
 * page_curves: all curves of a run on one time axis.
 *
 * A gauge is added up over the lists, CPUs and zones that were read at the same moments, as a monitor reads
 * all of its own; a count of the machine becomes a rate, two points for each interval.
 */
#include "results/page_curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/series.h"

static const struct wanted {
	const char *metric; /* shell pattern */
	enum zm_scope scope;
	const char *label;
} wanted[ZM_PAGE_SUMS] = {
	{ "pcp.count.*", ZM_SCOPE_CPU, "in the CPUs' page lists (pages)" },
	{ "pcp.alloc_zone", ZM_SCOPE_HOST, "taken from zones (blocks/s)" },
	{ "pcp.drain", ZM_SCOPE_HOST, "given back to zones (blocks/s)" },
	{ "zone-lock.waits", ZM_SCOPE_HOST, "waits for zone locks (1/s)" },
};

static double value_of(const struct zm_series *series, size_t at)
{
	const struct zm_readings *readings = series->readings;

	return zm_readings_f64(readings, at);
}

static int sum_room(struct zm_page_sum *sum, size_t nr)
{
	sum->x_s = calloc(nr + 1, sizeof(*sum->x_s));
	sum->y = calloc(nr + 1, sizeof(*sum->y));
	sum->t_ns = calloc(nr + 1, sizeof(*sum->t_ns));
	return sum->x_s && sum->y && sum->t_ns ? 0 : -ENOMEM;
}

static int add_gauge(struct zm_page_sum *sum, const struct zm_series *series)
{
	bool is_first = !sum->t_ns;

	if (is_first && sum_room(sum, series->nr))
		return -ENOMEM;
	if (is_first) {
		memcpy(sum->t_ns, series->t_ns, series->nr * sizeof(*sum->t_ns));
		sum->nr = series->nr;
	}
	if (sum->nr != series->nr ||
	    memcmp(sum->t_ns, series->t_ns, series->nr * sizeof(*sum->t_ns)) != 0) {
		sum->nr_left_out++;
		return 0;
	}
	for (size_t i = 0; i < series->nr; i++)
		sum->y[i] += value_of(series, i);
	return 0;
}

static int add_count(struct zm_page_sum *sum, const struct zm_series *series)
{
	struct zm_interval *intervals = calloc(series->nr + 1, sizeof(*intervals));
	size_t nr;

	if (!intervals || sum->t_ns || sum_room(sum, 2 * series->nr)) {
		free(intervals);
		return sum->t_ns ? 0 : -ENOMEM;
	}
	nr = zm_interval_join_short(intervals,
				    zm_series_intervals(series, 0, UINT64_MAX, intervals));
	for (size_t i = 0; i < nr; i++) {
		sum->t_ns[2 * i] = intervals[i].t0_ns;
		sum->t_ns[2 * i + 1] = intervals[i].t1_ns;
		sum->y[2 * i] = sum->y[2 * i + 1] = zm_interval_rate(&intervals[i]);
	}
	sum->nr = 2 * nr;
	free(intervals);
	return 0;
}

static int add_series(void *context, const struct zm_series *series)
{
	if (series->desc.kind == ZM_GAUGE)
		return add_gauge(context, series);
	return series->desc.kind == ZM_COUNT ? add_count(context, series) : 0;
}

/* Against the digest's own zero, the beginning of the first phase. */
static void place(struct zm_page_sum *sum, const struct zm_run_view *view)
{
	double origin = view->nr_phases ? (double)view->phases[0].t0_ns : 0;

	for (size_t i = 0; i < sum->nr; i++)
		sum->x_s[i] = ((double)sum->t_ns[i] - origin) / 1e9;
	sum->curve = (struct zm_curve){ .x = sum->x_s, .y = sum->y, .nr = sum->nr };
}

static int add_sum(struct zm_store *store, const struct zm_digest *digest,
		   const struct wanted *want, struct zm_page_sum *sum,
		   struct zm_page_curves *curves, struct zm_why *why)
{
	const struct zm_series_filter filter = { .metric = want->metric,
						 .scope = (int)want->scope };
	int error =
		zm_series_read(store, digest->view->info.id, &filter, add_series, sum, NULL, why);

	if (error || sum->nr == 0)
		return error;
	place(sum, digest->view);
	if (sum->nr_left_out)
		(void)snprintf(sum->label, sizeof(sum->label), "%s, %zu lists left out",
			       want->label, sum->nr_left_out);
	else
		(void)snprintf(sum->label, sizeof(sum->label), "%s", want->label);
	curves->panels[curves->plot.nr_panels++] =
		(struct zm_panel){ .y_label = sum->label, .curves = &sum->curve, .nr_curves = 1 };
	return 0;
}

int zm_page_curves_make(struct zm_store *store, const struct zm_digest *digest,
			struct zm_page_curves *ret_curves, struct zm_why *why)
{
	int error;

	memset(ret_curves, 0, sizeof(*ret_curves));
	error = zm_format_run_curves(digest, &ret_curves->usual);
	if (error)
		return error;
	ret_curves->plot = ret_curves->usual.plot;
	memcpy(ret_curves->panels, ret_curves->usual.panels, sizeof(ret_curves->usual.panels));
	ret_curves->plot.panels = ret_curves->panels;
	for (size_t i = 0; i < ZM_PAGE_SUMS && !error; i++)
		error = add_sum(store, digest, &wanted[i], &ret_curves->sums[i], ret_curves, why);
	if (error)
		zm_page_curves_release(ret_curves);
	return error;
}

void zm_page_curves_release(struct zm_page_curves *curves)
{
	for (size_t i = 0; i < ZM_PAGE_SUMS; i++) {
		free(curves->sums[i].x_s);
		free(curves->sums[i].y);
		free(curves->sums[i].t_ns);
	}
	zm_format_run_curves_release(&curves->usual);
}
