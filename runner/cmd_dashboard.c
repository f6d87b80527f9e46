/*
 * cmd_dashboard: a store's whole history as a static site.
 */
#include "runner/cmd.h"

#include <inttypes.h>
#include <stdio.h>

#include "results/store.h"
#include "results/web/dashboard.h"
#include "runner/cmd_rows.h"
#include "runner/since.h"
#include "workloads/base/units.h"

enum { METRICS_ALL, METRICS_PRIMARY };

struct switches {
	char *output, *label, *since, *db;
	double least, confidence;
	uint64_t recent, curves;
	unsigned int metrics;
	bool json;
};

static const char *const metrics_names[] = { "all", "primary", NULL };

static const struct zm_option rows[] = {
	{ .name = "output",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, output),
	  .unit = "folder",
	  .help = "the site's folder (also -o): new, empty, or a site made before; replaced whole "
		  "or not "
		  "at all" },
	{ .name = "label",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, label),
	  .unit = "pattern",
	  .help = "only runs with such a label" },
	{ .name = "since",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, since),
	  .unit = "time",
	  .help = "only runs since then: " ZM_SINCE_HELP },
	{ .name = "recent",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct switches, recent),
	  .preset = "14",
	  .min = 1,
	  .max = 1000,
	  .unit = "nights",
	  .help = "a change among so many of the last nights is news" },
	{ .name = "curves",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct switches, curves),
	  .preset = "7",
	  .max = 10000,
	  .unit = "nights",
	  .help = "so many of the last nights have their runs' curves in the site, and both sides "
		  "of each "
		  "change; 0: none" },
	{ .name = "metrics",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct switches, metrics),
	  .preset = "all",
	  .choices = metrics_names,
	  .help = "which figures have pages: all, or those that verdicts are given on (quicker)" },
	ZM_ROW_LEAST(struct switches),
	ZM_ROW_CONFIDENCE(struct switches, "of each interval"),
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

static void print_json(const struct zm_dashboard *site)
{
	(void)printf("{\"machines\": %zu, \"figures\": %zu, \"nights\": %zu, \"worse\": %zu, "
		     "\"better\": %zu, \"changed\": %zu, \"steady\": %zu, \"few\": %zu, "
		     "\"failed\": %zu, \"files\": %zu, \"bytes\": %" PRIu64
		     ", \"landing_s\": %.3f, \"charts\": \"%s\"}\n",
		     site->nr_machines, site->nr_primary, site->nr_nights, site->nr_worse,
		     site->nr_better, site->nr_changed, site->nr_steady, site->nr_few,
		     site->nr_failed, site->nr_files, site->nr_bytes,
		     (double)site->landing_ns / 1e9, zm_dashboard_charts());
}

static void print_text(const struct zm_dashboard *site, const char *folder)
{
	char bytes[32];

	(void)printf("%zu figures on %zu machines, up to %zu nights: %zu worse, %zu better, "
		     "%zu changed, %zu steady, %zu with too few nights\n",
		     site->nr_primary, site->nr_machines, site->nr_nights, site->nr_worse,
		     site->nr_better, site->nr_changed, site->nr_steady, site->nr_few);
	if (site->nr_failed)
		(void)printf("%zu had a run that failed in their last night\n", site->nr_failed);
	(void)printf("%s/index.html: %zu files, %s; charts: %s\n", folder, site->nr_files,
		     zm_units_human_bytes(bytes, sizeof(bytes), (double)site->nr_bytes),
		     zm_dashboard_charts());
}

static int write_site(const struct switches *switches, uint64_t since_ns, struct zm_why *why)
{
	const struct zm_dashboard_options options = {
		.label = switches->label,
		.since_ns = since_ns,
		.margin = switches->least / 100,
		.alpha = 1 - switches->confidence / 100,
		.recent = switches->recent,
		.nr_curves = switches->curves,
		.primary_only = switches->metrics == METRICS_PRIMARY,
	};
	struct zm_store *store = NULL;
	struct zm_dashboard site;
	int error = zm_store_open(switches->db, false, &store, why);

	if (!error)
		error = zm_dashboard_write(store, switches->output, &options, &site, why);
	zm_store_close(store);
	if (error)
		return error;
	if (switches->json)
		print_json(&site);
	else
		print_text(&site, switches->output);
	return 0;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_why why = { "" };
	uint64_t since_ns;
	int error;

	if (args->nr_words)
		return zm_cmd_failf(
			ZM_EXIT_USAGE,
			"dashboard: %s: it takes switches only; --output names the folder",
			args->words[0]);
	if (!switches->output || !*switches->output)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "dashboard: into which folder? --output FOLDER names it");
	error = zm_since_parse("dashboard", switches->since, &since_ns, &why);
	if (!error)
		error = write_site(switches, since_ns, &why);
	if (error && !why.text[0])
		(void)zm_why_errno(&why, error, "dashboard");
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "write a store's whole history as a static site",
	.usage = "--output FOLDER",
	.details =
		"The landing page says whether anything changed, what, by how much and how sure "
		"that is, "
		"and shows every primary figure on every machine as a matrix. Behind it stand "
		"every "
		"night's value of each figure with its spread and its changes, any two nights side "
		"by "
		"side, and the curves of single runs. The site is files only: it opens from a disk "
		"and "
		"from any web server, and loads nothing from elsewhere.\n\n"
		"The new site takes the old one's place when it is complete; until then, and when "
		"anything goes wrong, the old one stays. A night is what one kernel did between "
		"noon "
		"and noon (UTC).",
	.examples = "zonemark dashboard --output site\tof the usual store\n"
		    "zonemark dashboard --db lab.db --label nightly --output "
		    "/srv/www/zonemark\tthe nightly "
		    "runs of a lab\n"
		    "zonemark dashboard --metrics primary --curves 1 --output site\tof a very "
		    "large store",
	.completes = "files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
