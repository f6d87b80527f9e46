/*
 * cmd_export: everything that the store has of some runs, or of all, as JSON or CSV.
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/format_export.h"
#include "results/outfile.h"
#include "results/query.h"
#include "results/store.h"

struct switches {
	unsigned int format;
	char *output, *db;
};

static const char *const formats[] = { [ZM_EXPORT_JSON] = "json", [ZM_EXPORT_CSV] = "csv", NULL };

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	{ .name = "format",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(format),
	  .preset = "json",
	  .choices = formats,
	  .help = "one JSON object, or a CSV table of one row per fact and reading" },
	{ .name = "output",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(output),
	  .unit = "file",
	  .help = "write into this file, whole or not at all; otherwise to standard output" },
	{ .name = "db",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(db),
	  .unit = "file",
	  .help = "the store; otherwise $ZONEMARK_DB or zonemark/zonemark.db in the data folder" },
	{ .name = NULL },
};

/* Which runs are meant: each once, in the order of their numbers. */
struct runs {
	uint64_t *ids;
	size_t nr, capacity;
};

static int add(struct runs *runs, uint64_t id)
{
	if (runs->nr == runs->capacity) {
		size_t capacity = runs->capacity ? runs->capacity * 2 : 64;
		uint64_t *grown = realloc(runs->ids, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		runs->ids = grown;
		runs->capacity = capacity;
	}
	runs->ids[runs->nr++] = id;
	return 0;
}

static int add_any(void *context, const struct zm_run_info *run)
{
	return add(context, run->id);
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_once(struct runs *runs)
{
	size_t kept = 0;

	if (runs->nr > 1)
		qsort(runs->ids, runs->nr, sizeof(*runs->ids), compare_ids);
	for (size_t i = 0; i < runs->nr; i++) {
		if (!kept || runs->ids[kept - 1] != runs->ids[i])
			runs->ids[kept++] = runs->ids[i];
	}
	runs->nr = kept;
}

static int find_runs(struct zm_store *store, const struct zm_args *args, struct runs *runs,
		     struct zm_why *why)
{
	const struct zm_run_filter all = { .status = -1 };
	int error = 0;

	if (args->nr_words == 0)
		error = zm_query_runs(store, &all, add_any, runs, why);
	for (size_t i = 0; i < args->nr_words && !error; i++) {
		uint64_t *ids = NULL;
		size_t nr = 0;

		error = zm_query_resolve(store, args->words[i], &ids, &nr, why);
		for (size_t k = 0; k < nr && !error; k++)
			error = add(runs, ids[k]);
		free(ids);
	}
	sort_once(runs);
	return error;
}

static int write_runs(struct zm_store *store, const struct runs *runs, enum zm_export_format format,
		      FILE *out, struct zm_why *why)
{
	struct zm_export export;
	int error = 0;

	zm_export_begin(&export, format, out);
	for (size_t i = 0; i < runs->nr && !error; i++)
		error = zm_export_run(&export, store, runs->ids[i], why);
	if (!error)
		zm_export_end(&export);
	return error;
}

static int write_answer(struct zm_store *store, const struct switches *switches,
			const struct runs *runs, struct zm_why *why)
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
	struct runs runs = { 0 };
	int error = zm_store_open(switches->db, false, &store, &why);

	if (!error)
		error = zm_query_begin(store, &why);
	if (!error)
		error = find_runs(store, args, &runs, &why);
	if (!error)
		error = write_answer(store, switches, &runs, &why);
	free(runs.ids);
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
		   "monotonic clock and the phase that they lie in. docs/store.md describes both "
		   "forms. "
		   "Numbers have a decimal point whatever the locale.",
	.examples = "zonemark export base --output base.json\tall runs labelled base\n"
		    "zonemark export 12 --format csv\tone run as a table",
	.completes = "runs",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
