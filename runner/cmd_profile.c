/*
 * cmd_profile: a command of the user's, with all monitors watching.
 *
 *     is it there? -> invocation (store, lock, signals) -> launches (foreign.h) -> the last one, as `show`
 *     shows it -> the command's own exit status
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "results/digest.h"
#include "results/format_run.h"
#include "results/outfile.h"
#include "results/query.h"
#include "results/table.h"
#include "runner/cmd_rows.h"
#include "runner/foreign.h"
#include "runner/invocation.h"
#include "runner/phase.h"
#include "runner/quote.h"
#include "workloads/base/clock.h"

#define STATUS_NOT_RUNNABLE 126 /* as every shell says it */
#define STATUS_NOT_FOUND    127

struct switches {
	char *db, *label, *monitor, *output;
	uint64_t repeat, monitor_interval_ns;
	bool share, json;
};

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	{ .name = "monitor",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(monitor),
	  .unit = "list",
	  .help = "which monitors are read: a list of names, default, all (without it), or none" },
	{ .name = "monitor_interval",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(monitor_interval_ns),
	  .preset = "1s",
	  .min = 10 * ZM_NS_PER_MS,
	  .max = 3600 * ZM_NS_PER_S,
	  .help = "between two reads of a monitor" },
	{ .name = "repeat",
	  .type = ZM_OPTION_U64,
	  .offset = AT(repeat),
	  .preset = "1",
	  .min = 1,
	  .max = 100000,
	  .unit = "launches",
	  .help = "so many launches, one after the other; one that does not end with 0 is the "
		  "last" },
	{ .name = "label",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(label),
	  .unit = "text",
	  .help = "kept with the runs, to find and compare them by" },
	{ .name = "share",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(share),
	  .preset = "0",
	  .help = "run although a measuring run is under way; both are disturbed" },
	ZM_ROW_OUTPUT(struct switches),
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

/* --- the answer ------------------------------------------------------------------------------ */

static int print(const struct zm_digest *digest, bool is_json, bool is_wide, FILE *out)
{
	const struct zm_format_run options = { .width = is_wide ? 0 : zm_table_terminal_width() };
	json_t *object;
	int error;

	if (!is_json)
		return zm_format_run_text(digest, &options, out);
	object = zm_format_run_json(digest);
	error = json_dumpf(object, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	json_decref(object);
	(void)fputc('\n', out);
	return error ? -EIO : 0;
}

static int print_into(const struct zm_digest *digest, const struct switches *switches,
		      struct zm_why *why)
{
	struct zm_outfile file;
	int error = zm_outfile_open(&file, switches->output, why);

	if (error)
		return error;
	error = print(digest, switches->json, true, file.out);
	if (!error)
		error = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return error;
}

static int answer(struct zm_store *store, uint64_t run, const struct switches *switches,
		  struct zm_why *why)
{
	struct zm_digest *digest = NULL;
	int error = zm_query_begin(store, why);

	if (!error)
		error = zm_digest_make(store, run, NULL, &digest, why);
	if (!error)
		error = switches->output ? print_into(digest, switches, why)
					 : print(digest, switches->json, false, stdout);
	if (error && !why->text[0])
		(void)zm_why_errno(why, error, "profile");
	zm_digest_free(digest);
	zm_query_end(store);
	return error;
}

/* --- the launches ---------------------------------------------------------------------------- */

/* As a shell says it. */
static int status_of(const struct zm_foreign *foreign)
{
	if (foreign->exec_error)
		return foreign->exec_error == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
	if (WIFSIGNALED(foreign->status))
		return 128 + WTERMSIG(foreign->status);
	return WEXITSTATUS(foreign->status);
}

/* Until one does not end with 0, or a signal comes. */
static int launch_all(struct zm_invocation *invocation, struct zm_foreign *foreign, uint64_t repeat,
		      uint64_t *ret_run, struct zm_why *why)
{
	int status = 0;

	for (unsigned int i = 0; i < repeat && status == 0 && !invocation->signal; i++) {
		struct zm_outcome outcome;
		int error;

		zm_foreign_run(foreign, i, &outcome);
		invocation->signal = outcome.signal;
		*ret_run = outcome.run_id ? outcome.run_id : *ret_run;
		status = foreign->status < 0 ? ZM_EXIT_USAGE : status_of(foreign);
		error = outcome.store_error;
		if (!error && (foreign->status < 0 || foreign->exec_error))
			error = -ECHILD;
		if (error)
			*why = outcome.why;
		zm_outcome_release(&outcome);
		if (error)
			return status ? status : ZM_EXIT_USAGE;
	}
	return status;
}

static bool has_chains(const struct zm_invocation *invocation)
{
	for (size_t i = 0; invocation->monitors[i]; i++)
		if (strcmp(invocation->monitors[i]->name, "perf-profile") == 0)
			return true;
	return false;
}

static int profile(struct zm_invocation *invocation, struct zm_foreign *foreign,
		   const struct switches *switches)
{
	struct zm_why why = { "" };
	uint64_t run = 0;
	int status = launch_all(invocation, foreign, switches->repeat, &run, &why);

	if (why.text[0])
		return zm_cmd_fail((enum zm_exit)status, &why);
	if (answer(invocation->session.store, run, switches, &why) < 0)
		return zm_cmd_fail(status ? (enum zm_exit)status : ZM_EXIT_USAGE, &why);
	if (!invocation->session.guest_note && !invocation->url)
		(void)fprintf(stderr, "`zonemark show %llu` shows it again%s; the store is %s\n",
			      (unsigned long long)run,
			      has_chains(invocation)
				      ? ", with --flame FILE where the kernel's time went"
				      : "",
			      zm_store_path(invocation->session.store));
	return status;
}

static int run_line(const struct zm_args *args, const struct switches *switches,
		    struct zm_foreign *foreign)
{
	const struct zm_invocation_ask ask = {
		.argc = args->argc,
		.argv = args->argv,
		.db = switches->db,
		.label = switches->label,
		.monitor = switches->monitor ? switches->monitor : (char[]){ "all" },
		.share = switches->share,
		.repeat = switches->repeat,
		.is_planless = true,
	};
	struct zm_invocation invocation;
	struct zm_why why = { "" };
	int status;

	if (zm_invocation_open(&invocation, &ask, &why) < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	foreign->session = &invocation.session;
	foreign->mask = &invocation.old_mask;
	status = profile(&invocation, foreign, switches);
	zm_invocation_close(&invocation);
	zm_invocation_die(&invocation);
	return status;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_foreign foreign = { .interval_ns = switches->monitor_interval_ns };
	struct zm_why why = { "" };
	char *line;
	int error, status;

	if (args->nr_words == 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "profile: which command? `zonemark profile -- "
						   "make -j8`, say");
	error = zm_foreign_find(args->words[0], &why);
	if (error)
		return zm_cmd_fail(error == -ENOENT ? (enum zm_exit)STATUS_NOT_FOUND
						    : (enum zm_exit)STATUS_NOT_RUNNABLE,
				   &why);
	if (switches->output && zm_outfile_check(switches->output, &why) < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	line = zm_quote_line(args->words, args->nr_words);
	if (!line)
		return zm_cmd_failf(ZM_EXIT_USAGE, "profile: no memory");
	foreign.line = line;
	foreign.argv = (char *const *)(const void *)args->words; /* which end with NULL */
	status = run_line(args, switches, &foreign);
	free(line);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "watch a command of yours with all monitors, and keep what they saw",
	.usage = "[--] COMMAND [word …]",
	.details =
		"Runs the command once (or --repeat times), with the monitors that a run of a "
		"workload "
		"has: lock contention, page lists, profile, events, used memory and all others "
		"that "
		"can "
		"be had here. Its standard input, output and error are its own. When it has ended, "
		"the "
		"tables are printed, as `zonemark show` prints them, and all of it is kept.\n\n"
		"Most monitors look at the whole machine, so what else runs is in their figures; "
		"time, "
		"sched-delay and profile.… are of the command's first process and the children "
		"that it "
		"waited for.\n\n"
		"The exit status is the command's own; 128 and the signal's number when a signal "
		"killed it; "
		"127 when there is no such command, 126 when it cannot be run; and 2 when "
		"something "
		"else went wrong, which one line on standard error says. A signal to zonemark goes "
		"on "
		"to "
		"the command, a second one kills it; the tables are printed all the same. Killed "
		"by a "
		"signal of its own, a run is failed: none of its figures counts as a result.",
	.examples = "zonemark profile -- make -j8\ta build, and what the page allocator did in it\n"
		    "zonemark profile --monitor pcp,perf-profile --output build.txt -- make -j8\t"
		    "only these; the tables into a file\n"
		    "zonemark profile --repeat 5 --label old -- ./mine\tto be compared later\n"
		    "zonemark show --flame mine.svg\tthe newest run's flame graph",
	.completes = "",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.takes_a_line = true,
	.run = run,
};
