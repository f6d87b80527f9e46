/*
 * cmd_runs: the history: which runs there are, by filter, newest first.
 */
#include "runner/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/history.h"
#include "results/json.h"
#include "results/store.h"
#include "results/table.h"
#include "results/utf8.h"
#include "runner/cmd_rows.h"
#include "runner/since.h"

#define LABEL_WIDTH 60 /* columns of a label, at most */

struct switches {
	char *workload, *label, *kernel, *since, *db;
	unsigned int status;
	uint64_t limit;
	bool json;
};

static const char *const statuses[] = { "any",         "running", "ok", "failed",
					"interrupted", "skipped", NULL };

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	{ .name = "workload",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(workload),
	  .unit = "pattern",
	  .help = "only runs of such workloads: 'page_fault*'" },
	{ .name = "label",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(label),
	  .unit = "pattern",
	  .help = "only runs with such a label" },
	{ .name = "kernel",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(kernel),
	  .unit = "pattern",
	  .help = "only runs on such kernels: '6.1[89]*'" },
	{ .name = "status",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(status),
	  .preset = "any",
	  .choices = statuses,
	  .help = "only runs that ended so" },
	{ .name = "since",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(since),
	  .unit = "time",
	  .help = "only runs since then: " ZM_SINCE_HELP },
	{ .name = "limit",
	  .type = ZM_OPTION_U64,
	  .offset = AT(limit),
	  .preset = "25",
	  .max = UINT64_C(1) << 40,
	  .unit = "runs",
	  .help = "at most so many, the newest; 0: all" },
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

/* An imported one may be of any length. */
static void add_label(struct zm_table *table, const char *label)
{
	size_t bytes = zm_utf8_cut(label, LABEL_WIDTH);

	zm_table_cell(table, "%.*s%s", (int)bytes, label, label[bytes] ? "…" : "");
}

static void add_row(struct zm_table *table, const struct zm_history_run *run)
{
	char when[32];

	zm_table_cell(table, "%" PRIu64, run->info.id);
	(void)zm_json_time_text(when, sizeof(when), run->info.wall_ns);
	when[10] = ' ';
	zm_table_cell(table, "%.16s", when);
	zm_table_cell(table, "%s", run->info.workload);
	zm_table_cell(table, "%u %s", run->info.nr_tasks, run->info.kind);
	zm_table_cell(table, "%s", run->words);
	zm_table_cell(table, "%s", zm_status_name(run->info.status));
	if (run->has_figure) {
		zm_table_figure(table, run->figure.value);
		zm_table_cell(table, "%s %s", run->figure.unit, run->figure.metric);
	} else {
		zm_table_cell(table, "%s", "");
		zm_table_cell(table, "%s", run->info.reason ? run->info.reason : "");
	}
	add_label(table, run->info.label ? run->info.label : "");
	zm_table_cell(table, "%s", run->info.kernel);
}

static int print_text(const struct zm_history *history)
{
	static const struct zm_column columns[] = {
		{ .title = "run", .is_right = true },
		{ .title = "began (UTC)" },
		{ .title = "workload", .may_be_cut = true },
		{ .title = "tasks" },
		{ .title = "parameters", .may_be_cut = true },
		{ .title = "status" },
		{ .title = "figure", .is_right = true },
		{ .title = "", .may_be_cut = true },
		{ .title = "label", .may_be_cut = true },
		{ .title = "kernel", .may_be_cut = true },
	};
	struct zm_table *table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int error;

	for (size_t i = 0; i < history->nr; i++)
		add_row(table, &history->runs[i]);
	error = zm_table_print(table, stdout, zm_table_terminal_width(), "");
	zm_table_free(table);
	return error ? zm_cmd_failf(ZM_EXIT_USAGE, "runs: not enough memory") : ZM_EXIT_OK;
}

/* One run a line. */
static int print_json(const struct zm_history *history)
{
	(void)fputs("[", stdout);
	for (size_t i = 0; i < history->nr; i++) {
		const struct zm_history_run *run = &history->runs[i];
		json_t *object = zm_json_run(&run->info);

		if (run->has_figure)
			json_object_set_new(object, "figure", zm_json_result(&run->figure));
		(void)fputs(i ? ",\n " : "\n ", stdout);
		(void)json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
		json_decref(object);
	}
	(void)fputs(history->nr ? "\n]\n" : "]\n", stdout);
	return ZM_EXIT_OK;
}

static bool has_filter(const struct switches *switches)
{
	return switches->workload || switches->label || switches->kernel || switches->since ||
	       switches->status;
}

/* What is not shown is said, not on stdout. */
static void say_rest(struct zm_store *store, const struct switches *switches, size_t nr_shown)
{
	uint64_t nr_all = 0;

	if (nr_shown == 0)
		(void)fprintf(stderr,
			      has_filter(switches) ? "no run is like that\n" : "no run yet\n");
	if (switches->limit == 0 || nr_shown < switches->limit ||
	    zm_query_nr_runs(store, &nr_all, NULL) || nr_all <= nr_shown)
		return;
	(void)fprintf(stderr, "the newest %zu%s; --limit 0 shows all (the store has %" PRIu64 ")\n",
		      nr_shown, has_filter(switches) ? " of these" : "", nr_all);
}

static int list(struct zm_store *store, const struct switches *switches, uint64_t since_ns,
		struct zm_why *why)
{
	const struct zm_run_filter filter = {
		.workload = switches->workload,
		.label = switches->label,
		.kernel = switches->kernel,
		.status = (int)switches->status - 1,
		.since_ns = since_ns,
		.limit = switches->limit,
	};
	struct zm_history history = { 0 };
	int status, error = zm_query_begin(store, why);

	if (!error)
		error = zm_history_read(store, &filter, &history, why);
	if (error)
		return zm_cmd_fail(ZM_EXIT_USAGE, why);
	status = switches->json ? print_json(&history) : print_text(&history);
	if (!switches->json)
		say_rest(store, switches, history.nr);
	zm_history_release(&history);
	return status;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	uint64_t since_ns = 0;
	int status, error;

	if (args->nr_words)
		return zm_cmd_failf(
			ZM_EXIT_USAGE,
			"runs: %s: it takes switches only; `zonemark show %s` shows one "
			"run",
			args->words[0], args->words[0]);
	error = zm_since_parse("runs", switches->since, &since_ns, &why);
	if (!error)
		error = zm_store_open(switches->db, false, &store, &why);
	status = error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : list(store, switches, since_ns, &why);
	zm_store_close(store);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "list the runs in the store, newest first",
	.usage = "",
	.details = "Each with its primary figure, and with the parameters in which it differs from "
		   "the other runs of its workload in the list. Patterns are the shell's.",
	.examples = "zonemark runs\tthe newest 25\n"
		    "zonemark runs --workload 'page_fault*' --since 7d --limit 0\ta week's\n"
		    "zonemark runs --status failed\twhat went wrong, and why\n"
		    "zonemark runs --json --limit 0\tfor a program",
	.completes = "",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
