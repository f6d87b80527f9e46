/* calibrate: a table of figures, each with the series or results it is made of. */
#include "runner/calibrate.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/query.h"
#include "results/series.h"
#include "runner/memuse.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

/* How a figure's value comes about. */
enum form {
	FORM_RESULT,  /* the run's figure `of`, less its figure `per` */
	FORM_RATE,    /* counts `of` per second of the window */
	FORM_SHARE,   /* counts `of`, per `scale` of the counts `per` */
	FORM_RISE,    /* the mean of gauge `of` in the window above that in the idle phase */
	FORM_INVERSE, /* seconds of the window per count `of` */
	FORM_USED,    /* memory (memuse.h) in the window above that in the idle phase, mean */
	FORM_PEAK,    /* the same, the most */
};

static const struct {
	const char *label, *unit;
	enum form form;
	const char *of, *per; /* shell patterns of metrics; a list with blanks between */
	double scale;
} figures[ZM_NR_CALIBRATE_FIGURES] = {
	[ZM_CALIBRATE_PROCESSES] = { "processes", "/s", FORM_RATE, "exits.processes", NULL, 1 },
	[ZM_CALIBRATE_FAULTS] = { "page faults", "/s", FORM_RATE, "proc-vmstat.pgfault", NULL, 1 },
	[ZM_CALIBRATE_COMPILER_FAULTS] = { "page faults of a compiler, median", "", FORM_RESULT,
					   "exits.compiler.faults_median", NULL, 1 },
	[ZM_CALIBRATE_COMPILER_FAULTS_95] = { "page faults of a compiler, 95 %", "", FORM_RESULT,
					      "exits.compiler.faults_95%", NULL, 1 },
	[ZM_CALIBRATE_COMPILER_RSS] = { "peak memory of a compiler, median", "MiB", FORM_RESULT,
					"exits.compiler.peak_rss_median", NULL, 1.0 / 1024 },
	[ZM_CALIBRATE_COMPILER_RSS_95] = { "peak memory of a compiler, 95 %", "MiB", FORM_RESULT,
					   "exits.compiler.peak_rss_95%", NULL, 1.0 / 1024 },
	[ZM_CALIBRATE_ALLOCATIONS] = { "pages allocated", "/s", FORM_RATE, "proc-vmstat.pgalloc_*",
				       NULL, 1 },
	[ZM_CALIBRATE_REFILLS] = { "PCP refills per 1,000 faults", "", FORM_SHARE, "pcp.refill",
				   "proc-vmstat.pgfault", 1000 },
	[ZM_CALIBRATE_DRAINS] = { "PCP drains per 1,000 faults", "", FORM_SHARE, "pcp.drain",
				  "proc-vmstat.pgfault", 1000 },
	[ZM_CALIBRATE_ORDERS] = { "order 0 of blocks from zones", "%", FORM_SHARE,
				  "pcp.alloc_zone.order0", "pcp.alloc_zone.order*", 100 },
	[ZM_CALIBRATE_SYSTEM_SHARE] = { "system share of CPU time", "%", FORM_SHARE,
					"mpstat.cpu.all.sys",
					"mpstat.cpu.all.sys mpstat.cpu.all.usr", 100 },
	[ZM_CALIBRATE_SWITCHES] = { "context switches", "/s", FORM_RATE, "vmstat.system.cs", NULL,
				    1 },
	[ZM_CALIBRATE_USED] = { "used memory above idle, average", "MiB", FORM_USED, NULL, NULL,
				1.0 / 1024 },
	[ZM_CALIBRATE_USED_PEAK] = { "used memory above idle, peak", "MiB", FORM_PEAK, NULL, NULL,
				     1.0 / 1024 },
	[ZM_CALIBRATE_ANON] = { "anonymous memory above idle", "MiB", FORM_RISE,
				"meminfo.AnonPages", NULL, 1.0 / 1024 },
	[ZM_CALIBRATE_TABLES] = { "page tables above idle", "MiB", FORM_RISE, "meminfo.PageTables",
				  NULL, 1.0 / 1024 },
	[ZM_CALIBRATE_UNIT_TIME] = { "time per compiled unit", "s", FORM_INVERSE, "exits.compilers",
				     NULL, 1 },
	[ZM_CALIBRATE_BUILD_TIME] = { "time of a build", "s", FORM_RESULT,
				      "kbuild.buildtime_per_iteration", NULL, 1 },
	[ZM_CALIBRATE_USER_TIME] = { "user time of a build", "s", FORM_RESULT,
				     "kbuild.user_time_per_iteration", NULL, 1 },
	[ZM_CALIBRATE_SYSTEM_TIME] = { "system time of a build", "s", FORM_RESULT,
				       "kbuild.sys_time_per_iteration", NULL, 1 },
};

const char *zm_calibrate_label(enum zm_calibrate_figure figure)
{
	return figures[figure].label;
}

/* --- a run's values --- */

/* A run, and the sums over its series that its figures are made of. */
struct reading {
	const struct zm_run_view *view;
	const struct zm_phase_row *window, *idle;
	struct zm_memuse memuse;
	struct {
		double of, per; /* counts in the window; a gauge's means in the window and before */
		bool has_of, has_per;
	} sums[ZM_NR_CALIBRATE_FIGURES];
};

static bool is_meant(const char *patterns, const char *metric)
{
	while (patterns && *patterns) {
		size_t length = strcspn(patterns, " ");
		char pattern[128];

		(void)snprintf(pattern, sizeof(pattern), "%.*s", (int)length, patterns);
		if (fnmatch(pattern, metric, 0) == 0)
			return true;
		patterns += length + (patterns[length] == ' ');
	}
	return false;
}

static void add_to(double *sum, bool *has, double value)
{
	if (isnan(value))
		return;
	*sum += value;
	*has = true;
}

static double total_of(const struct reading *reading, const struct zm_series *series)
{
	uint64_t covered_ns;
	double total = zm_series_total(series, reading->window->t0_ns, reading->window->t1_ns,
				       &covered_ns);

	return covered_ns > 0 ? total : NAN;
}

static int add_series(void *context, const struct zm_series *series)
{
	struct reading *reading = context;

	for (size_t i = 0; i < ZM_NR_CALIBRATE_FIGURES; i++) {
		bool is_of = is_meant(figures[i].of, series->desc.metric);
		bool is_per = is_meant(figures[i].per, series->desc.metric);

		if (figures[i].form == FORM_RESULT || series->desc.scope != ZM_SCOPE_HOST)
			continue;
		if (figures[i].form == FORM_RISE && is_of) {
			add_to(&reading->sums[i].of, &reading->sums[i].has_of,
			       zm_series_mean(series, reading->window->t0_ns,
					      reading->window->t1_ns));
			add_to(&reading->sums[i].per, &reading->sums[i].has_per,
			       zm_series_mean(series, reading->idle->t0_ns, reading->idle->t1_ns));
			continue;
		}
		if (series->desc.kind != ZM_COUNT)
			continue;
		if (is_of)
			add_to(&reading->sums[i].of, &reading->sums[i].has_of,
			       total_of(reading, series));
		if (is_per)
			add_to(&reading->sums[i].per, &reading->sums[i].has_per,
			       total_of(reading, series));
	}
	return 0;
}

static double result_of(const struct reading *reading, size_t i)
{
	const struct zm_result *of = zm_run_view_result(reading->view, figures[i].of);
	const struct zm_result *less = NULL;

	if (figures[i].per)
		less = zm_run_view_result(reading->view, figures[i].per);
	if (!of || (figures[i].per && !less))
		return NAN;
	return (of->value - (less ? less->value : 0)) * figures[i].scale;
}

static double value_of(const struct reading *reading, size_t i)
{
	double seconds = (double)(reading->window->t1_ns - reading->window->t0_ns) / ZM_NS_PER_S;
	double of = reading->sums[i].of, per = reading->sums[i].per;

	if (figures[i].form == FORM_RESULT)
		return result_of(reading, i);
	if (figures[i].form == FORM_USED)
		return (reading->memuse.mean - reading->memuse.idle) * figures[i].scale;
	if (figures[i].form == FORM_PEAK)
		return (reading->memuse.peak - reading->memuse.idle) * figures[i].scale;
	if (!reading->sums[i].has_of || (!reading->sums[i].has_per && figures[i].per))
		return NAN;
	switch (figures[i].form) {
	case FORM_RATE:
		return seconds > 0 ? of / seconds * figures[i].scale : NAN;
	case FORM_SHARE:
		return per > 0 ? of / per * figures[i].scale : NAN;
	case FORM_RISE:
		return reading->sums[i].has_per ? (of - per) * figures[i].scale : NAN;
	case FORM_INVERSE:
		return of > 0 ? seconds / of * figures[i].scale : NAN;
	default:
		return NAN;
	}
}

static int read_run(struct zm_store *store, uint64_t run, double values[ZM_NR_CALIBRATE_FIGURES],
		    struct zm_why *why)
{
	const struct zm_series_filter all = { .scope = ZM_SCOPE_HOST };
	struct zm_run_view *view = NULL;
	struct reading reading = { 0 };
	int r = zm_query_run(store, run, &view, why);

	if (r < 0)
		return r;
	reading.view = view;
	reading.window = zm_run_view_phase(view, ZM_PHASE_MEASURE);
	reading.idle = zm_run_view_phase(view, ZM_PHASE_IDLE);
	if (!reading.window || !reading.idle)
		r = zm_why_set(why, -ENODATA, "run %llu has no measured window or no idle phase",
			       (unsigned long long)run);
	if (r == 0)
		r = zm_series_read(store, run, &all, add_series, &reading, NULL, why);
	if (r == 0)
		r = zm_memuse_read(store, run, reading.idle, reading.window, &reading.memuse, why);
	for (size_t i = 0; r == 0 && i < ZM_NR_CALIBRATE_FIGURES; i++)
		values[i] = value_of(&reading, i);
	zm_run_view_free(view);
	return r;
}

int zm_calibrate_add(struct zm_calibration *calibration, struct zm_store *store, uint64_t real,
		     uint64_t emulated, struct zm_why *why)
{
	double first[ZM_NR_CALIBRATE_FIGURES], second[ZM_NR_CALIBRATE_FIGURES];
	size_t pair = calibration->nr_pairs;
	int r;

	if (pair == ZM_CALIBRATE_PAIRS)
		return zm_why_set(why, -ENOSPC, "more than %d pairs of runs", ZM_CALIBRATE_PAIRS);
	r = read_run(store, real, first, why);
	if (r == 0)
		r = read_run(store, emulated, second, why);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ZM_NR_CALIBRATE_FIGURES; i++) {
		calibration->rows[i].real[pair] = first[i];
		calibration->rows[i].emulated[pair] = second[i];
	}
	calibration->nr_pairs++;
	return 0;
}

/* --- what comes of it --- */

bool zm_calibrate_result(const struct zm_calibration *calibration, enum zm_calibrate_figure figure,
			 struct zm_calibrate_result *ret_result)
{
	const struct zm_calibrate_row *row = &calibration->rows[figure];
	struct zm_calibrate_result result = { .least = INFINITY, .most = -INFINITY };
	double logs = 0;

	for (size_t i = 0; i < calibration->nr_pairs; i++) {
		double ratio = row->emulated[i] / row->real[i];

		if (!isfinite(ratio) || ratio <= 0)
			continue;
		result.nr++;
		result.real += row->real[i];
		result.emulated += row->emulated[i];
		logs += log(ratio);
		result.least = fmin(result.least, ratio);
		result.most = fmax(result.most, ratio);
	}
	if (result.nr == 0)
		return false;
	result.real /= (double)result.nr;
	result.emulated /= (double)result.nr;
	result.ratio = exp(logs / (double)result.nr);
	*ret_result = result;
	return true;
}

static bool is_close(const struct zm_calibrate_result *result, double tolerance)
{
	return fabs(result->ratio - 1) <= tolerance;
}

void zm_calibrate_print(const struct zm_calibration *calibration, double tolerance, FILE *out)
{
	(void)fprintf(out, "%-36s %12s %12s  %s\n", "", "real", "emulated",
		      "emulated / real (least to most)");
	for (enum zm_calibrate_figure i = 0; i < ZM_NR_CALIBRATE_FIGURES; i++) {
		struct zm_calibrate_result result;
		char label[64];

		(void)snprintf(label, sizeof(label), "%s%s%s", figures[i].label,
			       figures[i].unit[0] && figures[i].unit[0] != '/' ? ", " : "",
			       figures[i].unit);
		if (!zm_calibrate_result(calibration, i, &result)) {
			(void)fprintf(out,
				      "%-36s %12s %12s  no ratio: not measured, or not above 0\n",
				      label, "-", "-");
			continue;
		}
		(void)fprintf(out, "%-36s %12.5g %12.5g  %.3f (%.3f to %.3f)%s\n", label,
			      result.real, result.emulated, result.ratio, result.least, result.most,
			      is_close(&result, tolerance) ? "" : "  *");
	}
	(void)fprintf(out, "%zu pair%s of runs; * is further than %g %% from the real build\n",
		      calibration->nr_pairs, calibration->nr_pairs == 1 ? "" : "s",
		      tolerance * 100);
}

static json_t *result_json(enum zm_calibrate_figure figure,
			   const struct zm_calibrate_result *result, double tolerance)
{
	return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:I, s:b}", "figure",
			 figures[figure].label, "unit", figures[figure].unit, "real", result->real,
			 "emulated", result->emulated, "ratio", result->ratio, "least",
			 result->least, "most", result->most, "pairs", (json_int_t)result->nr,
			 "within", is_close(result, tolerance));
}

int zm_calibrate_print_json(const struct zm_calibration *calibration, double tolerance, FILE *out)
{
	json_t *list = json_array();
	json_t *object = NULL;
	int r = list ? 0 : -ENOMEM;

	for (enum zm_calibrate_figure i = 0; r == 0 && i < ZM_NR_CALIBRATE_FIGURES; i++) {
		struct zm_calibrate_result result;

		if (zm_calibrate_result(calibration, i, &result) &&
		    json_array_append_new(list, result_json(i, &result, tolerance)) < 0)
			r = -ENOMEM;
	}
	if (r == 0)
		object = json_pack("{s:I, s:f, s:O}", "pairs", (json_int_t)calibration->nr_pairs,
				   "tolerance", tolerance, "figures", list);
	if (r == 0 &&
	    (!object || json_dumpf(object, out, JSON_INDENT(1)) < 0 || fputc('\n', out) == EOF))
		r = -ENOMEM;
	json_decref(object);
	json_decref(list);
	return r;
}
