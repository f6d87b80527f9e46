/*
 * cmd_show: one run, as a text with its curves, as JSON, or as a picture.
 *
 *     store -> which run? -> digest -> text | JSON, and with --svg or --flame a picture
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/digest.h"
#include "results/flame.h"
#include "results/format_run.h"
#include "results/outfile.h"
#include "results/plot.h"
#include "results/query.h"
#include "results/stacks.h"
#include "results/store.h"
#include "results/table.h"
#include "runner/cmd_rows.h"

#define CURVE_ROWS           16
#define POINT_ROWS           40
#define WIDTH_OF_NO_TERMINAL 100

struct switches {
	char *svg, *flame, *db, *metric;
	bool json, all, trace;
};

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	{ .name = "svg",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(svg),
	  .unit = "file",
	  .help = "draw the curves of throughput and used memory into this file (gnuplot)" },
	{ .name = "flame",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(flame),
	  .unit = "file",
	  .help = "draw the profile's call chains as a flame graph into this file (SVG)" },
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

	if (error || curves.plot.nr_panels == 0) {
		zm_format_run_curves_release(&curves);
		return;
	}
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

/* A flame graph on its way into a file. */
struct burning {
	const struct zm_run_info *info;
	FILE *out;
	bool is_drawn;
};

/* Of the first set of chains that has any. */
static int draw_flame(void *context, const struct zm_stacks *stacks)
{
	struct burning *burning = context;
	char title[256], subtitle[512];
	const struct zm_flame flame = { .title = title,
					.subtitle = subtitle,
					.unit = stacks->unit };
	int error;

	(void)snprintf(title, sizeof(title), "%s: run %llu, %s", burning->info->workload,
		       (unsigned long long)burning->info->id, stacks->event);
	(void)snprintf(subtitle, sizeof(subtitle), "%s%sLinux %s, %s; zonemark %s",
		       burning->info->label ? burning->info->label : "",
		       burning->info->label ? ": " : "", burning->info->kernel, stacks->source,
		       burning->info->version);
	error = zm_flame_write(&flame, stacks->folded, burning->out);
	if (error == -ENODATA)
		return 0;
	burning->is_drawn = true;
	return error ? error : 1;
}

static int burn(struct zm_store *store, const struct zm_run_info *info, const char *path,
		struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	struct burning burning = { .info = info };
	int error = zm_outfile_open(&file, path, why);

	burning.out = file.out;
	if (!error)
		error = zm_stacks_read(store, info->id, draw_flame, &burning, why);
	if (error >= 0 && !burning.is_drawn)
		error = zm_why_set(why, -ENODATA,
				   "run %llu has no call chains; `zonemark run --monitor "
				   "default,perf-profile` records them",
				   (unsigned long long)info->id);
	if (error >= 0)
		error = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return error;
}

static int write_flame(struct zm_store *store, const struct zm_run_info *info, const char *path)
{
	struct zm_why why = { "" };
	int error = burn(store, info, path, &why);

	if (!error)
		return ZM_EXIT_OK;
	if (!why.text[0])
		(void)zm_why_errno(&why, error, "%s", path);
	zm_why_prefix(&why, "show --flame");
	return zm_cmd_fail(ZM_EXIT_USAGE, &why);
}

static int show(struct zm_store *store, const struct zm_digest *digest,
		const struct switches *switches)
{
	const struct zm_format_run options = { .width = zm_table_terminal_width(),
					       .all = switches->all,
					       .trace = switches->trace,
					       .only_found = switches->metric != NULL };
	int status = switches->svg ? draw_svg(digest, switches->svg) : ZM_EXIT_OK;

	if (!status && switches->flame)
		status = write_flame(store, &digest->view->info, switches->flame);
	if (switches->json)
		return status ? status : print_json(digest);
	if (status || switches->svg || switches->flame)
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
	status = error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : show(store, digest, switches);
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
		    "zonemark show base --flame base.svg\twhere the kernel's time went\n"
		    "zonemark show --metric 'pcp.*'\tall lists of the CPUs, one by one",
	.completes = "runs",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
