/*
 * cmd_export: everything that the store has of some runs, or of all, as JSON or CSV; or their call chains,
 * folded.
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>

#include "results/format_export.h"
#include "results/outfile.h"
#include "results/query.h"
#include "results/runset.h"
#include "results/store.h"
#include "runner/cmd_rows.h"

struct switches {
	unsigned int format;
	char *output, *db;
};

static const char *const formats[] = {
	[ZM_EXPORT_JSON] = "json", [ZM_EXPORT_CSV] = "csv", [ZM_EXPORT_FOLDED] = "folded", NULL
};

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	{ .name = "format",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(format),
	  .preset = "json",
	  .choices = formats,
	  .help = "one JSON object, a CSV table of one row per fact and reading, or only the "
		  "profile's call chains, folded: a;b;c COUNT" },
	ZM_ROW_OUTPUT(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

/* Which runs are meant: each once, in the order of their numbers. */
static int find_runs(struct zm_store *store, const struct zm_args *args, struct zm_runset *runs,
		     struct zm_why *why)
{
	const struct zm_run_filter all = { .status = -1 };
	int error = 0;

	if (args->nr_words == 0)
		error = zm_query_runs(store, &all, zm_runset_add_info, runs, why);
	for (size_t i = 0; i < args->nr_words && !error; i++)
		error = zm_query_resolve(store, args->words[i], runs, why);
	zm_runset_sort(runs);
	return error;
}

static int write_runs(struct zm_store *store, const struct zm_runset *runs,
		      enum zm_export_format format, FILE *out, struct zm_why *why)
{
	struct zm_export export;
	int error = 0;

	zm_export_begin(&export, format, out);
	for (size_t i = 0; i < runs->nr && !error; i++)
		error = zm_export_run(&export, store, runs->runs[i], why);
	if (!error && format == ZM_EXPORT_FOLDED && export.nr_stacks == 0)
		error = zm_why_set(why, -ENODATA,
				   "export: no call chains in %s; `zonemark run --monitor "
				   "default,perf-profile` records them",
				   runs->nr == 1 ? "this run" : "these runs");
	if (!error)
		zm_export_end(&export);
	return error;
}

static int write_answer(struct zm_store *store, const struct switches *switches,
			const struct zm_runset *runs, struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	int error;

	if (!switches->output)
		return write_runs(store, runs, switches->format, stdout, why);
	error = zm_outfile_open(&file, switches->output, why);
	if (!error)
		error = write_runs(store, runs, switches->format, file.out, why);
	if (!error || error == -EIO)
		error = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return error;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	struct zm_runset runs = { 0 };
	int error = zm_store_open(switches->db, false, &store, &why);

	if (!error)
		error = zm_query_begin(store, &why);
	if (!error)
		error = find_runs(store, args, &runs, &why);
	if (!error)
		error = write_answer(store, switches, &runs, &why);
	zm_runset_release(&runs);
	zm_store_close(store);
	if (error == -ENOMEM && !why.text[0])
		(void)zm_why_errno(&why, error, "export");
	if (error == -EIO && !why.text[0])
		return ZM_EXIT_USAGE; /* standard output failed: main says how */
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "write out everything the store has of runs, with all raw series",
	.usage = "[RUN…]",
	.details = "RUN is a number, the first letters of a UUID, `last`, or a label (all of its "
		   "runs); "
		   "without any, all runs are exported. Readings are raw, with the moment of the "
		   "monotonic clock and the phase that they lie in. docs/store.md describes the "
		   "forms. "
		   "Numbers have a decimal point whatever the locale.",
	.examples = "zonemark export base --output base.json\tall runs labelled base\n"
		    "zonemark export 12 --format csv\tone run as a table\n"
		    "zonemark export 12 --format folded\tits call chains, for any flame graph tool",
	.completes = "runs",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
