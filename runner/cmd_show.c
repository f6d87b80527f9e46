/*
 * cmd_show: one run, as a text with its curves, as JSON, or as a picture.
 *
 *     store -> which run? -> digest -> text | JSON, and with --svg a picture
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/digest.h"
#include "results/format_run.h"
#include "results/plot.h"
#include "results/query.h"
#include "results/store.h"
#include "results/table.h"
#include "runner/cmd_rows.h"

#define CURVE_ROWS           16
#define POINT_ROWS           40
#define WIDTH_OF_NO_TERMINAL 100

struct switches {
	char *svg, *db, *metric;
	bool json, all, trace;
};

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	{ .name = "svg",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(svg),
	  .unit = "file",
	  .help = "draw the curves of throughput and used memory into this file (gnuplot)" },
	{ .name = "metric",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(metric),
	  .unit = "pattern",
	  .help = "only metrics whose names match: each task, CPU and node by itself, histograms "
		  "as "
		  "bars" },
	{ .name = "all",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(all),
	  .preset = "0",
	  .help = "also what did not move, and every task, CPU, node and zone by itself" },
	{ .name = "trace",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(trace),
	  .preset = "0",
	  .help = "what each figure came from: raw count, interval, source, and each task's CPU" },
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

/* What stdout refuses is said once, when it is closed. */
static int print_json(const struct zm_digest *digest)
{
	json_t *object = zm_format_run_json(digest);
	int error = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	json_decref(object);
	if (error < 0)
		return ferror(stdout) ? ZM_EXIT_USAGE
				      : zm_cmd_failf(ZM_EXIT_USAGE, "show: out of memory");
	(void)putchar('\n');
	return ZM_EXIT_OK;
}

/* Drawn where gnuplot is; else the points in figures. */
static void print_curves(const struct zm_digest *digest, size_t width)
{
	struct zm_format_curves curves;
	struct zm_why why = { "" };
	int error = zm_format_run_curves(digest, &curves);

	if (error || curves.plot.nr_panels == 0)
		return;
	if (width == 0 || width > 120)
		width = WIDTH_OF_NO_TERMINAL;
	(void)putchar('\n');
	error = zm_plot_terminal(&curves.plot, width, CURVE_ROWS, stdout, &why);
	if (error) {
		(void)printf("curves: %s; here are their points\n", why.text);
		(void)zm_format_run_points(digest, POINT_ROWS, width, stdout);
	}
	zm_format_run_curves_release(&curves);
}

static int draw_svg(const struct zm_digest *digest, const char *path)
{
	struct zm_format_curves curves;
	struct zm_why why = { "" };
	int error = zm_format_run_curves(digest, &curves);

	if (!error)
		error = zm_plot_svg(&curves.plot, path, &why);
	zm_format_run_curves_release(&curves);
	if (error) {
		zm_why_prefix(&why, "show --svg");
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	return ZM_EXIT_OK;
}

static int show(const struct zm_digest *digest, const struct switches *switches)
{
	const struct zm_format_run options = { .width = zm_table_terminal_width(),
					       .all = switches->all,
					       .trace = switches->trace,
					       .only_found = switches->metric != NULL };
	int status = switches->svg ? draw_svg(digest, switches->svg) : ZM_EXIT_OK;

	if (switches->json)
		return status ? status : print_json(digest);
	if (status || switches->svg)
		return status;
	if (switches->metric && digest->nr_metrics == 0 && digest->nr_hists == 0)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "show: run %llu has no metric like %s; `zonemark show --all` "
				    "shows what it has",
				    (unsigned long long)digest->view->info.id, switches->metric);
	if (zm_format_run_text(digest, &options, stdout))
		return zm_cmd_failf(ZM_EXIT_USAGE, "show: not enough memory");
	if (!switches->metric)
		print_curves(digest, options.width);
	return ZM_EXIT_OK;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	const char *word = args->nr_words ? args->words[0] : "last";
	struct zm_digest *digest = NULL;
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	uint64_t id;
	int status, error;

	if (args->nr_words > 1)
		return zm_cmd_failf(ZM_EXIT_USAGE, "show: %s: one run at a time", args->words[1]);
	error = zm_store_open(switches->db, false, &store, &why);
	if (!error)
		error = zm_query_begin(store, &why);
	if (!error)
		error = zm_query_find(store, word, &id, &why);
	if (!error)
		error = zm_digest_make(store, id, switches->metric, &digest, &why);
	status = error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : show(digest, switches);
	zm_digest_free(digest);
	zm_store_close(store);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "show one run: parameters, every figure with its spread, the tasks, the curves",
	.usage = "[RUN]",
	.details =
		"RUN is a number, the first letters of a run's UUID, a label (its newest run) or "
		"`last` "
		"(the newest of all), which is also what is shown without it.\n\n"
		"Figures are those of the measured window; their spread is that of its intervals. "
		"Where one command launched the same cell several times, the spread between "
		"launches "
		"stands apart from the spread within one. What could not be measured is listed "
		"with "
		"the reason.",
	.examples = "zonemark show\tthe newest run\n"
		    "zonemark show 12 --trace\twhere each figure comes from\n"
		    "zonemark show base --svg base.svg\tthe curves as a picture\n"
		    "zonemark show --metric 'pcp.*'\tall lists of the CPUs, one by one",
	.completes = "runs",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
