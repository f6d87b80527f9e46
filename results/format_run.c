/* format_run: one run's digest as a JSON object; its curves; the words of its parameters. */
#include "results/format_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/json.h"
#include "results/table.h"
#include "results/words.h"

/* --- JSON --- */

static json_t *figure_json(const struct zm_digest_figure *figure)
{
	json_t *object = zm_json_result(figure->result);

	json_object_set_new(object, "within", zm_json_spread(&figure->within));
	json_object_set_new(object, "launches", zm_json_spread(&figure->launches));
	return object;
}

static json_t *desc_json(const struct zm_series_desc *desc)
{
	json_t *object = json_object();

	json_object_set_new(object, "metric", zm_json_text(desc->metric));
	json_object_set_new(object, "unit", zm_json_text(desc->unit));
	json_object_set_new(object, "source", zm_json_text(desc->source));
	json_object_set_new(object, "kind", json_string(zm_kind_name(desc->kind)));
	json_object_set_new(object, "better", json_string(zm_json_better(desc->better)));
	json_object_set_new(object, "scope", json_string(zm_scope_name(desc->scope)));
	return object;
}

static json_t *scope_json(const struct zm_digest_scope *scope, enum zm_kind kind)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(scope->id));
	zm_json_set_real(object, kind == ZM_COUNT ? "per_second" : "mean", scope->value);
	if (kind == ZM_COUNT)
		zm_json_set_real(object, "count", scope->count);
	json_object_set_new(object, "covered_ns", json_integer((json_int_t)scope->covered_ns));
	json_object_set_new(object, "readings", json_integer((json_int_t)scope->nr_readings));
	json_object_set_new(object, "spread", zm_json_spread(&scope->spread));
	if (scope->flags)
		json_object_set_new(object, "flags", zm_json_flags(scope->flags));
	return object;
}

static json_t *metric_json(const struct zm_digest_metric *metric)
{
	json_t *object = desc_json(&metric->desc);
	json_t *scopes = json_array();

	for (size_t i = 0; i < metric->nr_scopes; i++)
		json_array_append_new(scopes, scope_json(&metric->scopes[i], metric->desc.kind));
	zm_json_set_real(object, "total", metric->total);
	json_object_set_new(object, "scopes", scopes);
	return object;
}

static json_t *buckets_json(const struct zm_hist *hist)
{
	json_t *array = json_array();

	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++) {
		uint64_t first, end;

		if (!hist->buckets[i])
			continue;
		zm_hist_bounds(i, &first, &end);
		json_array_append_new(array, json_pack("[III]", (json_int_t)first, (json_int_t)end,
						       (json_int_t)hist->buckets[i]));
	}
	return array;
}

static json_t *hist_json(const struct zm_digest_hist *hist)
{
	static const struct {
		const char *key;
		double q;
	} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99_9", 0.999 } };
	json_t *object = desc_json(&hist->desc);

	json_object_set_new(object, "count", json_integer((json_int_t)hist->hist->count));
	if (hist->hist->count) {
		zm_json_set_real(object, "mean", zm_hist_mean(hist->hist));
		for (size_t i = 0; i < 4; i++)
			zm_json_set_real(object, quantiles[i].key,
					 zm_hist_quantile(hist->hist, quantiles[i].q));
		json_object_set_new(object, "max", json_integer((json_int_t)hist->hist->max));
	}
	json_object_set_new(object, "buckets", buckets_json(hist->hist));
	return object;
}

static json_t *curve_json(const struct zm_digest_curve *curve)
{
	json_t *object = json_object(), *points = json_array();

	for (size_t i = 0; i < curve->nr; i++)
		json_array_append_new(points, json_pack("[ff]", curve->x_s[i], curve->y[i]));
	json_object_set_new(object, "unit", zm_json_text(curve->unit));
	json_object_set_new(object, "points", points);
	return object;
}

static json_t *window_json(const struct zm_digest *digest)
{
	json_t *object = json_object();

	json_object_set_new(object, "is_measured", json_boolean(digest->is_measured));
	if (digest->is_measured) {
		json_object_set_new(object, "t0_ns", json_integer((json_int_t)digest->t0_ns));
		json_object_set_new(object, "t1_ns", json_integer((json_int_t)digest->t1_ns));
	}
	return object;
}

static json_t *launches_json(const struct zm_launches *launches)
{
	json_t *object = json_object();

	json_object_set_new(object, "n", json_integer((json_int_t)launches->nr));
	zm_json_set_real(object, "mean", launches->mean);
	zm_json_set_real(object, "cv_within", launches->within);
	zm_json_set_real(object, "cv_between", launches->between);
	return object;
}

static void set_series(json_t *object, const struct zm_digest *digest)
{
	json_t *figures = json_array(), *metrics = json_array(), *hists = json_array();

	for (size_t i = 0; i < digest->view->nr_results; i++)
		json_array_append_new(figures, figure_json(&digest->figures[i]));
	for (size_t i = 0; i < digest->nr_metrics; i++)
		json_array_append_new(metrics, metric_json(&digest->metrics[i]));
	for (size_t i = 0; i < digest->nr_hists; i++)
		json_array_append_new(hists, hist_json(&digest->hists[i]));
	json_object_set_new(object, "figures", figures);
	json_object_set_new(object, "metrics", metrics);
	json_object_set_new(object, "histograms", hists);
}

json_t *zm_format_run_json(const struct zm_digest *digest)
{
	const struct zm_run_view *view = digest->view;
	json_t *object = zm_json_run(&view->info);
	json_t *curves = json_object();

	json_object_set_new(object, "inventory", zm_json_parsed(view->inventory));
	json_object_set_new(object, "notes",
			    zm_json_notes(view->notes, view->nr_notes, "kind", "text"));
	json_object_set_new(object, "absent",
			    zm_json_notes(view->absents, view->nr_absents, "source", "reason"));
	json_object_set_new(object, "phases", zm_json_phases(view));
	json_object_set_new(object, "tasks", zm_json_tasks(view));
	json_object_set_new(object, "window", window_json(digest));
	set_series(object, digest);
	json_object_set_new(object, "throughput_over_launches", launches_json(&digest->launches));
	json_object_set_new(curves, "throughput", curve_json(&digest->rate_curve));
	json_object_set_new(curves, "used_memory", curve_json(&digest->used_curve));
	json_object_set_new(object, "curves", curves);
	json_object_set_new(object, "damaged_series", json_integer((json_int_t)digest->nr_damaged));
	return object;
}

/* --- curves --- */

static const struct {
	const char *name;
	double bytes;
} memory_units[] = { { "GiB", 1073741824 }, { "MiB", 1048576 }, { "KiB", 1024 } };

/* In the largest unit of which the curve has two or more, else MiB. */
static int scale_memory(const struct zm_digest_curve *curve, struct zm_format_curves *curves)
{
	double most = 0;
	size_t unit = 0;

	curves->scaled = calloc(curve->nr + 1, sizeof(*curves->scaled));
	if (!curves->scaled)
		return -ENOMEM;
	for (size_t i = 0; i < curve->nr; i++)
		most = fmax(most, curve->y[i]);
	while (unit < 2 && most < 2 * memory_units[unit].bytes)
		unit++;
	for (size_t i = 0; i < curve->nr; i++)
		curves->scaled[i] = curve->y[i] / memory_units[unit].bytes;
	(void)snprintf(curves->labels[1], sizeof(curves->labels[1]), "used memory (%s)",
		       memory_units[unit].name);
	return 0;
}

static void add_panel(struct zm_format_curves *curves, size_t which, const double *x,
		      const double *y, size_t nr)
{
	size_t at = curves->plot.nr_panels;

	if (nr == 0)
		return;
	curves->curves[at] = (struct zm_curve){ .x = x, .y = y, .nr = nr };
	curves->panels[at] = (struct zm_panel){ .y_label = curves->labels[which],
						.curves = &curves->curves[at],
						.nr_curves = 1 };
	curves->plot.nr_panels++;
}

static void add_bands(const struct zm_run_view *view, struct zm_format_curves *curves)
{
	size_t most = sizeof(curves->bands) / sizeof(curves->bands[0]);

	for (size_t i = 0; i < view->nr_phases && i < most; i++) {
		double origin = (double)view->phases[0].t0_ns;

		curves->bands[i] = (struct zm_band){
			.name = zm_phase_name(view->phases[i].phase),
			.x0 = ((double)view->phases[i].t0_ns - origin) / 1e9,
			.x1 = ((double)view->phases[i].t1_ns - origin) / 1e9,
		};
		curves->plot.nr_bands++;
	}
}

/* "page_fault1, 2 process tasks, Linux 6.18.0, base" */
static void make_title(const struct zm_run_info *info, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s, %u %s task%s, Linux %s%s%s", info->workload, info->nr_tasks,
		       info->kind, info->nr_tasks == 1 ? "" : "s", info->kernel,
		       info->label ? ", " : "", info->label ? info->label : "");
}

/* The parameters as further lines of the title. */
static void add_words(const struct zm_run_info *info, struct zm_format_curves *curves)
{
	FILE *out = fmemopen(curves->words, sizeof(curves->words), "w");
	char *rest = curves->words;

	if (!out)
		return;
	zm_words_print(info->params, 120, 0, out);
	(void)fclose(out);
	curves->words[sizeof(curves->words) - 1] = '\0';
	for (size_t i = 1; i < ZM_PLOT_TITLES && rest && *rest; i++)
		curves->plot.titles[i] = strsep(&rest, "\n");
}

int zm_format_run_curves(const struct zm_digest *digest, struct zm_format_curves *ret_curves)
{
	int error;

	*ret_curves = (struct zm_format_curves){ .plot = { .titles = { ret_curves->title },
							   .x_label = "time (s)",
							   .panels = ret_curves->panels,
							   .bands = ret_curves->bands } };
	(void)snprintf(ret_curves->labels[0], sizeof(ret_curves->labels[0]), "throughput (%s)",
		       digest->rate_curve.unit);
	error = scale_memory(&digest->used_curve, ret_curves);
	if (error)
		return error;
	make_title(&digest->view->info, ret_curves->title, sizeof(ret_curves->title));
	add_words(&digest->view->info, ret_curves);
	add_panel(ret_curves, 0, digest->rate_curve.x_s, digest->rate_curve.y,
		  digest->rate_curve.nr);
	add_panel(ret_curves, 1, digest->used_curve.x_s, ret_curves->scaled, digest->used_curve.nr);
	add_bands(digest->view, ret_curves);
	return 0;
}

void zm_format_run_curves_release(struct zm_format_curves *curves)
{
	free(curves->scaled);
	curves->scaled = NULL;
}

/* --- points --- */

static const char *phase_at(const struct zm_run_view *view, double x_s)
{
	for (size_t i = 0; i < view->nr_phases; i++) {
		double t_ns = (double)view->phases[0].t0_ns + x_s * 1e9;

		if (t_ns <= (double)view->phases[i].t1_ns)
			return zm_phase_name(view->phases[i].phase);
	}
	return "";
}

/* The last point at or before a moment, or NaN. */
static double y_at(const struct zm_digest_curve *curve, double x_s)
{
	double y = NAN;

	for (size_t i = 0; i < curve->nr && curve->x_s[i] <= x_s; i++)
		y = curve->y[i];
	return y;
}

int zm_format_run_points(const struct zm_digest *digest, size_t nr_rows, size_t width, FILE *out)
{
	static const struct zm_column columns[] = {
		{ .title = "time (s)", .is_right = true },   { .title = "phase" },
		{ .title = "throughput", .is_right = true }, { .title = "unit" },
		{ .title = "used (MiB)", .is_right = true },
	};
	const struct zm_digest_curve *rates = &digest->rate_curve, *used = &digest->used_curve;
	const struct zm_digest_curve *longer = rates->nr >= used->nr ? rates : used;
	struct zm_table *table = zm_table_new(columns, 5);
	size_t step = longer->nr / nr_rows + 1;
	int error;

	for (size_t i = step - 1; i < longer->nr; i += step) {
		double x_s = longer->x_s[i];

		zm_table_cell(table, "%.2f", x_s);
		zm_table_cell(table, "%s", phase_at(digest->view, x_s));
		zm_table_figure(table, y_at(rates, x_s));
		zm_table_cell(table, "%s", rates->nr ? rates->unit : "");
		zm_table_figure(table, y_at(used, x_s) / 1048576);
	}
	error = zm_table_print(table, out, width, "  ");
	zm_table_free(table);
	return error;
}
