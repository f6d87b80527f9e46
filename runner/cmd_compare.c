/*
 * cmd_compare: is it better, worse, the same, or too noisily measured to tell?
 *
 *     words -> sides (runs, labels, kernels, stores, others' results) -> comparison -> one of the formats
 *           -> exit status
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare.h"
#include "results/outfile.h"
#include "runner/cmd_rows.h"
#include "runner/side.h"
#include "runner/verdicts.h"

enum gate {
	GATE_NONE,
	GATE_NUMBER,
	GATE_BISECT,
};

struct switches {
	struct zm_verdict_switches verdicts;
	double power;
	bool series;
	char *gate, *output, *db;
};

#define AT(member)       offsetof(struct switches, member)
#define VERDICTS(member) AT(verdicts.member)

static const struct zm_option rows[] = {
	ZM_VERDICT_ROWS(VERDICTS, "of all verdicts together", 100),
	{ .name = "power",
	  .type = ZM_OPTION_DOUBLE,
	  .offset = AT(power),
	  .preset = "80",
	  .min = 50,
	  .max = 100,
	  .unit = "percent",
	  .help = "with which a change would have been seen, where that is said" },
	{ .name = "series",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(series),
	  .preset = "0",
	  .help = "look for explanations in all that the monitors recorded, too" },
	{ .name = "gate",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(gate),
	  .unit = "percent|bisect",
	  .help = "exit status 1 on a regression of at least so much (any, without a value), or "
		  "when "
		  "more runs fail; `bisect`: 0, 1 or 125 for git bisect run" },
	ZM_ROW_OUTPUT(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

/* --- sides --- */

static int find_sides(struct zm_sides *sides, const struct zm_args *args, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	int error = 0;

	for (size_t i = 0; i < args->nr_words && !error; i++)
		error = zm_sides_add(sides, args->words[i], switches->db, why);
	if (error)
		zm_why_prefix(why, "compare");
	return error;
}

/* --- gate --- */

static int parse_gate(const char *text, enum gate *ret_gate, double *ret_percent,
		      struct zm_why *why)
{
	*ret_gate = GATE_NONE;
	if (!text)
		return 0;
	*ret_gate = GATE_BISECT;
	if (!strcmp(text, "bisect"))
		return 0;
	*ret_gate = GATE_NUMBER;
	if (zm_units_parse_double(text, ret_percent) < 0 || *ret_percent < 0)
		return zm_why_set(why, -EINVAL,
				  "compare: --gate %s: a percentage (2), or bisect, is wanted",
				  text);
	return 0;
}

/* A regression of at least so much, on any side. */
static bool has_worse_metric(const struct zm_compare *compare, double percent)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary; k++) {
			for (size_t side = 1; side < compare->nr_sides; side++) {
				const struct zm_compare_outcome *outcome =
					&cell->metrics[k].outcomes[side];
				double change = outcome->judgement.change;

				if (!outcome->judgement.is_ratio && outcome->judgement.base != 0)
					change /= outcome->judgement.base;
				if (outcome->verdict == ZM_VERDICT_WORSE &&
				    (change < 0 ? -change : change) * 100 >= percent)
					return true;
			}
		}
	}
	return false;
}

/* Runs that fail more often than before are a regression of any size. */
static bool has_worse_failures(const struct zm_compare *compare)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		for (size_t side = 1; side < compare->nr_sides; side++) {
			if (zm_compare_failures(compare, &compare->cells[i], side) ==
			    ZM_VERDICT_WORSE)
				return true;
		}
	}
	return false;
}

static bool is_mute(const struct zm_compare_cell *cell, size_t side)
{
	return cell->sides[side].nr_ok == 0 && cell->sides[side].nr_failed > 0;
}

/* Where all runs of one side failed, and not those of the other, nothing was judged. */
static int find_mute(const struct zm_compare *compare, struct zm_why *why)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t side = 1; side < compare->nr_sides; side++) {
			size_t which = is_mute(cell, 0) ? 0 : side;

			if (is_mute(cell, 0) != is_mute(cell, side))
				return zm_why_set(
					why, -ENODATA,
					"compare: --gate: %s: all %zu runs of %s failed, so "
					"that there is nothing to judge",
					cell->workload, cell->sides[which].nr_failed,
					compare->sides[which].name);
		}
	}
	return 0;
}

static size_t nr_judged(const struct zm_compare *compare)
{
	size_t nr = 0;

	for (unsigned int verdict = 0; verdict <= ZM_VERDICT_CHANGED; verdict++)
		nr += compare->nr_of[verdict];
	return nr;
}

/* git bisect: 125 is "cannot be told", which makes it try another commit. A gate that had nothing to judge is
 * not passed. */
static int gate_status(const struct zm_compare *compare, enum gate gate, double percent,
		       struct zm_why *why)
{
	bool is_unclear = compare->nr_of[ZM_VERDICT_TOO_NOISY] ||
			  compare->nr_of[ZM_VERDICT_NOT_ENOUGH] || nr_judged(compare) == 0;
	int error;

	if (gate == GATE_NONE)
		return ZM_EXIT_OK;
	if (has_worse_metric(compare, percent) || has_worse_failures(compare))
		return ZM_EXIT_NO;
	error = find_mute(compare, why);
	if (gate == GATE_BISECT)
		return is_unclear || error ? 125 : ZM_EXIT_OK;
	if (error)
		return zm_cmd_fail(ZM_EXIT_RUN_FAILED, why);
	if (nr_judged(compare) == 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "compare: --gate: there is no verdict: "
						   "no primary metric in common");
	return ZM_EXIT_OK;
}

/* --- answer --- */

static int print(const struct zm_compare *compare, const struct switches *switches,
		 struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	int error;

	if (!switches->output)
		return zm_verdicts_print(&switches->verdicts, compare, stdout);
	error = zm_outfile_open(&file, switches->output, why);
	if (!error)
		error = zm_verdicts_print(&switches->verdicts, compare, file.out);
	if (!error || error == -EIO)
		error = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return error;
}

static int compare_all(const struct zm_args *args, struct zm_sides *sides, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	const struct zm_compare_options options = {
		.judge = { .alpha = (100 - switches->verdicts.confidence) / 100,
			   .power = switches->power / 100,
			   .margin = switches->verdicts.least / 100 },
		.with_series = switches->series,
	};
	struct zm_compare *compare = NULL;
	double percent = 0;
	enum gate gate;
	int status = ZM_EXIT_USAGE;
	int error = parse_gate(switches->gate, &gate, &percent, why);

	if (!error)
		error = find_sides(sides, args, why);
	if (!error)
		error = zm_compare_make(sides->list, sides->nr, &options, &compare, why);
	if (!error)
		error = print(compare, switches, why);
	if (!error)
		status = gate_status(compare, gate, percent, why);
	zm_compare_free(compare);
	if (error == -EIO && !why->text[0])
		return ZM_EXIT_USAGE; /* standard output failed: main says how */
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, why) : status;
}

static int run(const struct zm_args *args)
{
	struct zm_sides sides = { 0 };
	struct zm_why why = { "" };
	int status;

	if (args->nr_words < 2 || args->nr_words > ZM_COMPARE_SIDES)
		return zm_cmd_failf(
			ZM_EXIT_USAGE,
			"compare: a base and one to %d others are wanted: labels, runs, "
			"kernels, stores or others' results",
			ZM_COMPARE_SIDES - 1);
	status = compare_all(args, &sides, &why);
	zm_sides_release(&sides);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "say whether runs are better, worse, the same, or too noisy to tell",
	.usage = "BASE AGAINST…",
	.details = "Each word is a label, a kernel's release (or a pattern of it), a run, or the "
		   "path of a store, of a folder of lkp-tests, or of what will-it-scale's "
		   "runtest.py or netperf printed. Runs of the same workload with the same "
		   "parameters are compared; what "
		   "differs between the machines is said.\n\n"
		   "The unit is the boot: the runs of one boot are one value. Where each side is a "
		   "single boot the runs are the values, and the verdict says so. With five values "
		   "a side "
		   "or more ranks decide (Hodges-Lehmann, Mann-Whitney), with two to four Welch's "
		   "t on "
		   "logarithms. A verdict is given on primary metrics, corrected for their number "
		   "(Holm); "
		   "everything else that changed is listed as an explanation.\n\n"
		   "docs/compare.md describes verdicts and formats.",
	.examples =
		"zonemark compare base new\ttwo labels\n"
		"zonemark compare 6.18.0 6.19.0-rc1 --format changelog\tfor a commit message\n"
		"zonemark compare base new --gate 2\texit status 1 when 2 % worse or more\n"
		"zonemark compare ./old.db ./new.db --format lkp\tas the robot's mails\n"
		"zonemark compare ./old/page_fault1.csv new\twhat runtest.py printed, as the base\n"
		"zonemark compare base new --format html --output verdicts.html\ta page\n"
		"zonemark compare base new --series --explain 40\twhat else changed",
	.completes = "runs files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.bare = "gate=0",
	.run = run,
};
