/*
 * cmd_report: one page about some runs, which holds all it shows.
 *
 *     words -> sides -> with two or more a comparison -> verdicts -> the newest run of each side -> file
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare.h"
#include "results/digest.h"
#include "results/outfile.h"
#include "results/page.h"
#include "runner/cmd_rows.h"
#include "runner/side.h"

#define NR_EXPLANATIONS 15

struct switches {
	double least, confidence;
	char *output, *db;
};

static const struct zm_option rows[] = {
	ZM_ROW_LEAST(struct switches),
	ZM_ROW_CONFIDENCE(struct switches, "of all verdicts together"),
	ZM_ROW_OUTPUT(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

static int put_comparison(FILE *out, struct zm_sides *sides, const struct switches *switches,
			  struct zm_why *why)
{
	const struct zm_compare_options options = {
		.judge = { .alpha = 1 - switches->confidence / 100,
			   .power = 0.8,
			   .margin = switches->least / 100 },
	};
	struct zm_compare *compare = NULL;
	int error;

	if (sides->nr < 2)
		return 0;
	error = zm_compare_make(sides->list, sides->nr, &options, &compare, why);
	if (!error)
		zm_page_compare(out, compare, NR_EXPLANATIONS);
	zm_compare_free(compare);
	return error;
}

static int put_newest(FILE *out, const struct zm_compare_side *side, struct zm_why *why)
{
	struct zm_digest *digest = NULL;
	uint64_t newest = 0;
	int error;

	for (size_t i = 0; i < side->runs.nr; i++)
		newest = side->runs.runs[i] > newest ? side->runs.runs[i] : newest;
	error = zm_digest_make(side->store, newest, NULL, &digest, why);
	if (!error)
		error = zm_page_run(out, side->store, digest, why);
	zm_digest_free(digest);
	return error;
}

static int put_page(FILE *out, struct zm_sides *sides, const struct switches *switches,
		    struct zm_why *why)
{
	char title[512] = "zonemark:";
	int error;

	for (size_t i = 0; i < sides->nr; i++) {
		size_t length = strlen(title);

		(void)snprintf(title + length, sizeof(title) - length, "%s%s",
			       i ? " against " : " ", sides->list[i].name);
	}
	zm_page_begin(out, title);
	error = put_comparison(out, sides, switches, why);
	if (!error)
		error = zm_page_scaling(out, sides->list, sides->nr, why);
	for (size_t i = 0; i < sides->nr && !error; i++)
		error = put_newest(out, &sides->list[i], why);
	zm_page_end(out);
	return error;
}

static int write_page(struct zm_sides *sides, const struct switches *switches, struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	int error;

	if (!switches->output)
		return put_page(stdout, sides, switches, why);
	error = zm_outfile_open(&file, switches->output, why);
	if (!error)
		error = put_page(file.out, sides, switches, why);
	if (!error)
		error = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return error;
}

static int report(const struct zm_args *args, struct zm_sides *sides, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	int error = 0;

	for (size_t i = 0; i < args->nr_words && !error; i++)
		error = zm_sides_add(sides, args->words[i], switches->db, why);
	if (!error)
		error = write_page(sides, switches, why);
	if (error && !why->text[0])
		(void)zm_why_errno(why, error, "the page");
	if (error)
		zm_why_prefix(why, "report");
	return error;
}

static int run(const struct zm_args *args)
{
	struct zm_sides sides = { 0 };
	struct zm_why why = { "" };
	int error;

	if (args->nr_words < 1 || args->nr_words > ZM_COMPARE_SIDES)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "report: one to %d labels, runs, kernels or stores are wanted",
				    ZM_COMPARE_SIDES);
	error = report(args, &sides, &why);
	zm_sides_release(&sides);
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "write one page about some runs: verdicts, tables, curves, flame graphs",
	.usage = "BASE [AGAINST…]",
	.details =
		"The page is one HTML file that holds all it shows: it opens from a disk or a "
		"mail, "
		"without a network and without scripts, in light and in dark.\n\n"
		"Each word is what `zonemark compare` takes: a label, a run, a kernel, a store. "
		"With two or more the verdicts stand first, as compare gives them, and then how "
		"the "
		"machines differ. Where something was run with several numbers of tasks, its "
		"figures stand against them, a curve for each word. Of each word the newest run "
		"follows: its figures, its curves on "
		"one time axis, its histograms, its flame graph where call chains were recorded, "
		"what could not be had and why, the machine, the command that repeats it. Curves "
		"need gnuplot; without it the page says so.",
	.examples = "zonemark report base new --output report.html\tverdicts, and a run of each\n"
		    "zonemark report last --output run.html\tthe newest run alone",
	.completes = "runs files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
