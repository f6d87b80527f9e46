/* cmd_nightly: a matrix, compared with the last good nights; what changed is confirmed, then told. */
#include "runner/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/format_tonight.h"
#include "runner/cmd_rows.h"
#include "runner/nightly.h"
#include "workloads/base/cleanup.h"

struct switches {
	struct zm_invocation_ask ask;
	uint64_t confirm;
	double least;
	char *output, *out;
	bool json;
};

#define AT(member)  offsetof(struct switches, member)
#define ASK(member) AT(ask.member)

static const struct zm_option switch_rows[] = {
	ZM_INVOCATION_ROWS(ASK),
	{ .name = "confirm",
	  .type = ZM_OPTION_U64,
	  .offset = AT(confirm),
	  .preset = "5",
	  .max = 1000,
	  .unit = "launches",
	  .help = "of each changed cell, in a confirmation run behind the night's own runs; 0: no "
		  "such run" },
	ZM_ROW_LEAST(struct switches),
	{ .name = "output",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(output),
	  .unit = "folder",
	  .help = "then write the dashboard of all nights there (also -o), as `zonemark dashboard` "
		  "does" },
	{ .name = "out",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(out),
	  .unit = "folder",
	  .help = "where mail.txt, junit.xml, openmetrics.txt, tonight.html and nightly.json go; "
		  "otherwise `nightly` beside the store" },
	ZM_ROW_JSON(struct switches),
	{ .name = NULL },
};

static int answer(const struct zm_nightly_outcome *outcome, const char *folder, bool is_json)
{
	int r = is_json ? zm_format_tonight_json(&outcome->tonight, stdout)
			: zm_format_tonight_text(&outcome->tonight, stdout);

	if (r < 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "nightly: no memory for the answer");
	if (outcome->is_told)
		(void)fprintf(stderr, "nightly: the files are in %s\n", folder);
	return outcome->status;
}

/* What could not be written is said, but does not hide a regression. */
static int finish(int error, const struct zm_nightly_options *options,
		  const struct zm_nightly_outcome *outcome, bool is_json, struct zm_why *why)
{
	int status = outcome->status;

	if (outcome->tonight.invocation)
		status = answer(outcome, options->folder, is_json);
	if (error < 0) {
		zm_why_prefix(why, "nightly");
		status = zm_cmd_fail(error == -ENOPKG ? ZM_EXIT_SKIPPED : ZM_EXIT_USAGE, why);
	}
	return outcome->tonight.nr_of[ZM_TONIGHT_WORSE] ? ZM_EXIT_NO : status;
}

static int night(const struct zm_nightly_options *options, bool is_json)
{
	struct zm_nightly_outcome outcome;
	struct zm_why why = { "" };
	int r = zm_nightly_run(options, &outcome, &why);
	int signal_number = outcome.signal;
	int status =
		signal_number ? 128 + signal_number : finish(r, options, &outcome, is_json, &why);

	zm_nightly_outcome_release(&outcome);
	if (signal_number) { /* as it would have died without us */
		(void)signal(signal_number, SIG_DFL);
		(void)raise(signal_number);
	}
	return status;
}

static int run(const struct zm_args *args)
{
	static const char *const usual[] = { "nightly" };
	static char label[] = ZM_NIGHTLY_LABEL;
	const struct switches *switches = args->switches;
	zm_autofree char *folder = NULL;
	struct zm_nightly_options options = {
		.ask = switches->ask,
		.nr_confirming = switches->confirm,
		.margin = switches->least / 100,
		.folder = switches->out,
		.site = switches->output,
	};
	struct zm_why why = { "" };

	options.ask.words = args->nr_words ? args->words : usual;
	options.ask.nr_words = args->nr_words ? args->nr_words : 1;
	options.ask.argc = args->argc;
	options.ask.argv = args->argv;
	if (!options.ask.label)
		options.ask.label = label;
	if (!options.folder) {
		if (zm_nightly_folder(switches->ask.db, &folder, &why) < 0)
			return zm_cmd_fail(ZM_EXIT_USAGE, &why);
		options.folder = folder;
	}
	return night(&options, switches->json);
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "run a matrix, compare it with the last good nights, and tell what changed",
	.usage = "[WORKLOAD|MATRIX|FILE|DOCUMENTED] [option=value …]",
	.details =
		"Runs what `zonemark run` would (the matrix `nightly` when nothing is named) under "
		"the label `nightly`, and looks at every primary figure's history on this machine, "
		"one value a night: a change is seen where the nights fall into two parts, with at "
		"most one false alarm in 1,000 nights of noise; a single bad night is an outlier.\n"
		"\n"
		"A change asks for its confirmation run, which nightly makes behind the night's "
		"own "
		"runs (label `nightly confirmation`): the changed cells, --confirm launches each, "
		"against the nights before the change. It is then confirmed, withdrawn, or asked "
		"for again the next night.\n\n"
		"The answer is a text; the same as a mail, as JUnit, as OpenMetrics, as a page and "
		"as JSON "
		"goes into the folder of --out, each file whole or as it was; -o brings a "
		"dashboard "
		"up to date. What a nightly that "
		"was killed did not tell the next one tells; --resume goes on with its runs.\n\n"
		"The exit status is 1 when a regression was confirmed that had not been told, and "
		"only then; otherwise as that of `zonemark run`. docs/nightly.md has a systemd "
		"timer and a cron line.",
	.examples =
		"zonemark nightly --hours 6\tthe usual matrix, within six hours\n"
		"zonemark nightly night.yaml --out /srv/night\ta matrix of one's own, and where "
		"the files go\n"
		"zonemark nightly page_fault1 nr_task=1,100% --repeat 3 --json\tone workload",
	.completes = "workloads matrices documented options settings files",
	.switches = switch_rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
