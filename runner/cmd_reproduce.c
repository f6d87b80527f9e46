/*
 * cmd_reproduce: a robot's mail -> what was understood -> the same runs here -> both side by side. A
 * documented table goes the same way.
 *
 *     read         the file, or stdin; at most what a mail may have; or the catalogue
 *     understand   each record: which workload, which words, what cannot be the same
 *     run          each workload once, as `zonemark run` does
 *     compare      for each record, the table with this machine's column; or, with --measured, with
 *                  what runs of several kernels came to
 */
#include "runner/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/mail.h"
#include "results/report_mail.h"
#include "runner/beside.h"
#include "runner/catalogue.h"
#include "runner/documented.h"
#include "runner/inventory.h"
#include "runner/invocation.h"
#include "runner/readfile.h"
#include "runner/reproduce.h"
#include "runner/understanding.h"
#include "workloads/base/cleanup.h"

struct switches {
	struct zm_invocation_ask ask;
	bool dry_run, as_reported, json;
	uint64_t runtime_ns, record;
	char *measured;
};

#define AT(member)  offsetof(struct switches, member)
#define ASK(member) AT(ask.member)

static const struct zm_option rows[] = {
	{ .name = "dry_run",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(dry_run),
	  .preset = "0",
	  .help = "only say what was understood, run nothing" },
	{ .name = "as_reported",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(as_reported),
	  .preset = "0",
	  .help = "as many tasks and bytes as there, not the same share of the CPUs and memory" },
	{ .name = "runtime",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(runtime_ns),
	  .preset = "0",
	  .help = "measure for so long instead of the reported time" },
	{ .name = "record",
	  .type = ZM_OPTION_U64,
	  .offset = AT(record),
	  .preset = "0",
	  .unit = "number",
	  .help = "only this record of the mail, from 1 on; 0: all" },
	{ .name = "measured",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(measured),
	  .unit = "list",
	  .help = "run nothing: show what these labels, kernels, runs or stores came to, the base "
		  "first, and whether the shape agrees; KERNEL=LABEL says which of the kernels "
		  "there "
		  "one stands for" },
	ZM_INVOCATION_ROWS(ASK),
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(json),
	  .preset = "0",
	  .help = "the answer as JSON" },
	{ .name = NULL },
};

struct command {
	const struct zm_args *args;
	const struct switches *switches;
	struct zm_report_mail report;
	struct zm_documented documented; /* instead of a mail */
	bool is_documented;
	struct zm_reproduce_options options;
	struct zm_sysroot root;
	bool has_root;
	struct zm_topology topology;
	bool has_topology;
	json_t *inventory;
	struct zm_reproduction *reproductions; /* one per record */
	json_t *measured;                      /* with --json, what was measured */
	int status, signal;
};

/* --- reading --- */

static int read_documented(struct command *command, struct zm_why *why)
{
	int r = zm_documented_open(command->args->words[0], &command->documented, why);

	command->is_documented = r == 0;
	if (r == 0)
		command->report = command->documented.report;
	return r;
}

/* One byte more than a mail may have: so it is seen to be too large. */
static int read_report(struct command *command, struct zm_why *why)
{
	const char *name = command->args->words[0];
	size_t size = ZM_MAIL_BYTES + 1, length = 0;
	zm_autofree char *bytes = malloc(size);
	bool is_stdin = strcmp(name, "-") == 0;
	zm_autoclose int fd = is_stdin ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int r;

	if (!bytes)
		return zm_why_errno(why, -ENOMEM, "%s", name);
	if (!is_stdin && fd < 0)
		return zm_why_errno(why, -errno, "%s", name);
	r = zm_readfile(is_stdin ? STDIN_FILENO : fd, bytes, size, &length);
	if (r < 0)
		return zm_why_errno(why, r, "%s", name);
	r = zm_report_mail_read(bytes, length, &command->report, why);
	if (r < 0)
		zm_why_prefix(why, "%s", is_stdin ? "standard input" : name);
	return r;
}

/* --- understanding --- */

static int read_machine(struct command *command, struct zm_why *why)
{
	int r = zm_sysroot_open(&command->root, NULL);

	if (r < 0)
		return zm_why_errno(why, r, "/");
	command->has_root = true;
	r = zm_invocation_topology(command->switches->ask.cpus, &command->root, &command->topology,
				   why);
	command->has_topology = r == 0;
	if (r == 0)
		r = zm_inventory_read(&command->root, &command->topology, &command->inventory, why);
	return r;
}

static int understand(struct command *command, struct zm_why *why)
{
	const struct zm_reproduce_here here = { &command->root, &command->topology,
						command->inventory, zm_workloads };
	size_t nr = command->report.nr_records;
	int r = 0;

	command->options = (struct zm_reproduce_options){
		.as_reported = command->switches->as_reported,
		.runtime_ns = command->switches->runtime_ns,
		.scaled = command->is_documented ? &command->documented.document.scaled : NULL,
	};
	command->reproductions = calloc(nr, sizeof(*command->reproductions));
	if (!command->reproductions)
		return zm_why_errno(why, -ENOMEM, "%zu records", nr);
	for (size_t i = 0; r == 0 && i < nr; i++)
		r = zm_reproduce_make(command->report.records[i], &here, &command->options,
				      &command->reproductions[i], why);
	return r;
}

static bool is_chosen(const struct command *command, size_t index)
{
	return command->switches->record == 0 || command->switches->record == index + 1;
}

/* Has an earlier chosen record the same runs? Then that is the one which runs, for both. */
static bool is_twin(const struct command *command, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (is_chosen(command, i) &&
		    zm_reproduction_is_same(&command->reproductions[i],
					    &command->reproductions[index]))
			return true;
	}
	return false;
}

static size_t count_runnable(const struct command *command)
{
	size_t nr = 0;

	for (size_t i = 0; i < command->report.nr_records; i++)
		nr += is_chosen(command, i) && command->reproductions[i].workload;
	return nr;
}

/* --- views --- */

static int show(struct command *command, const struct zm_view *view, struct zm_why *why)
{
	int r = 0;

	if (command->measured)
		(void)json_array_append_new(command->measured, zm_document_view_json(view));
	else
		r = zm_document_view_print(view, stdout);
	return r < 0 ? zm_why_errno(why, r, "the answer") : 0;
}

/* A mail's record as a document of one table, or the document itself. */
static int document_of(struct command *command, size_t index, struct zm_document *made,
		       const struct zm_document **ret_document,
		       const struct zm_document_table **ret_table, struct zm_why *why)
{
	int r = 0;

	*made = (struct zm_document){ 0 };
	if (command->is_documented) {
		*ret_document = &command->documented.document;
		*ret_table = &command->documented.document.tables[index];
		return 0;
	}
	r = zm_documented_of_record(command->report.records[index],
				    command->reproductions[index].name, made, why);
	*ret_document = made;
	*ret_table = made->tables;
	return r;
}

static int show_run(struct command *command, const struct zm_invocation *invocation, size_t index,
		    struct zm_why *why)
{
	const struct zm_document *document;
	const struct zm_document_table *table;
	struct zm_document made;
	struct zm_beside beside;
	int r = document_of(command, index, &made, &document, &table, why);

	if (r == 0)
		r = zm_beside_run(&beside, document, table, &command->options, invocation, why);
	if (r == 0) {
		r = show(command, &beside.view, why);
		zm_beside_release(&beside);
	}
	zm_document_release(&made);
	return r;
}

static int show_sides(struct command *command, size_t index, const struct zm_plan *plan,
		      const struct zm_beside_words *words, struct zm_sides *sides,
		      struct zm_why *why)
{
	const struct zm_document *document;
	const struct zm_document_table *table;
	struct zm_document made;
	struct zm_beside beside;
	int r = document_of(command, index, &made, &document, &table, why);

	for (size_t i = 0; r == 0 && i < words->nr; i++) {
		r = zm_sides_add(sides, words->words[i], command->switches->ask.db, why);
		if (r < 0)
			zm_why_prefix(why, "--measured");
	}
	if (r == 0)
		r = zm_beside_stored(&beside, document, table, &command->options,
				     (unsigned int)command->topology.nr_cpus, plan, sides, words,
				     why);
	if (r == 0) {
		r = show(command, &beside.view, why);
		zm_beside_release(&beside);
	}
	zm_document_release(&made);
	return r;
}

static int show_record(struct command *command, size_t index, struct zm_why *why)
{
	struct zm_invocation_ask ask = command->switches->ask;
	const struct zm_mail_record *record = command->report.records[index];
	struct zm_beside_words words;
	struct zm_sides sides = { 0 };
	struct zm_plan plan;
	int r = zm_beside_parse(command->switches->measured, record, &words, why);

	if (r < 0)
		return r;
	ask.words = command->reproductions[index].words;
	ask.nr_words = command->reproductions[index].nr_words;
	if (record->nr_rows == 0 || words.nr < 2)
		r = zm_why_set(why, -EINVAL,
			       record->nr_rows ? "--measured: a base and another are wanted: "
						 "--measured base,new"
					       : "--measured: this record has no table");
	else
		r = zm_invocation_plan(&ask, &command->root, &command->topology, &plan, why);
	if (r == 0) {
		r = show_sides(command, index, &plan, &words, &sides, why);
		zm_plan_release(&plan);
	}
	zm_sides_release(&sides);
	zm_beside_words_release(&words);
	return r;
}

/* --- running --- */

static int compare_cell(struct command *command, const struct zm_invocation *invocation,
			const struct zm_reproduction *reproduction, const struct zm_cell *cell,
			struct zm_why *why)
{
	struct zm_measured measured;
	int r = zm_measured_read(invocation->session.store, invocation->uuid, cell->key, &measured,
				 why);

	if (r < 0)
		return r;
	if (command->measured)
		(void)json_array_append_new(
			command->measured,
			zm_understanding_measured_json(reproduction, &measured, cell->title));
	else if (measured.nr_launches > 0)
		zm_understanding_compare(reproduction, &measured, cell->title,
					 invocation->uname.release, stdout);
	zm_measured_release(&measured);
	return 0;
}

/* Is it shown as a document, not as the robot's table with a column more? */
static bool is_viewed(const struct command *command, size_t index)
{
	return command->is_documented || command->report.records[index]->ladder;
}

/* The record that was run, and its twins. */
static int compare(struct command *command, const struct zm_invocation *invocation, size_t index,
		   struct zm_why *why)
{
	int r = 0;

	for (size_t i = index; r == 0 && i < command->report.nr_records; i++) {
		const struct zm_reproduction *reproduction = &command->reproductions[i];

		if (i != index &&
		    !(is_chosen(command, i) &&
		      zm_reproduction_is_same(&command->reproductions[index], reproduction)))
			continue;
		if (is_viewed(command, i))
			r = show_run(command, invocation, i, why);
		for (size_t k = 0;
		     r == 0 && !is_viewed(command, i) && k < invocation->plan.nr_cells; k++)
			r = compare_cell(command, invocation, reproduction,
					 &invocation->plan.cells[k], why);
	}
	return r;
}

/* The worse of two: a failed run, what was refused, what went well, what was skipped. */
static int worse(int a, int b)
{
	static const int order[] = { ZM_EXIT_RUN_FAILED, ZM_EXIT_USAGE, ZM_EXIT_OK };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (a == order[i] || b == order[i])
			return order[i];
	}
	return ZM_EXIT_SKIPPED;
}

static void note_status(struct command *command, int status)
{
	command->status = command->status < 0 ? status : worse(command->status, status);
}

static void say_troubles(const struct zm_invocation *invocation)
{
	if (zm_summary_exit_status(&invocation->summary) != ZM_EXIT_OK)
		(void)zm_summary_print(&invocation->summary, stderr);
}

/* For a document's figures. */
static char *monitor_of(struct command *command)
{
	const char *list = command->is_documented
				   ? zm_documented_monitor(&command->documented.document)
				   : NULL;

	return list ? strdup(list) : NULL;
}

static void show_stored(struct command *command, size_t index)
{
	struct zm_why why = { { 0 } };
	int r = show_record(command, index, &why);

	note_status(command, r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK);
}

static void run_record(struct command *command, size_t index)
{
	struct zm_invocation_ask ask = command->switches->ask;
	zm_autofree char *monitor = monitor_of(command);
	struct zm_invocation invocation;
	struct zm_why why = { { 0 } };
	int r;

	ask.words = command->reproductions[index].words;
	ask.nr_words = command->reproductions[index].nr_words;
	ask.argc = command->args->argc;
	ask.argv = command->args->argv;
	if (!ask.monitor && monitor)
		ask.monitor = monitor;
	if (zm_invocation_open(&invocation, &ask, &why) < 0) {
		note_status(command, zm_cmd_fail(ZM_EXIT_USAGE, &why));
		return;
	}
	r = zm_invocation_run(&invocation, &why);
	if (r == 0)
		r = compare(command, &invocation, index, &why);
	say_troubles(&invocation);
	note_status(command, r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, &why)
				   : zm_summary_exit_status(&invocation.summary));
	command->signal = invocation.signal;
	zm_invocation_close(&invocation);
	if (command->signal && !command->measured)
		zm_invocation_die(&invocation);
}

static void run_all(struct command *command)
{
	command->status = -1;
	for (size_t i = 0; !command->signal && i < command->report.nr_records; i++) {
		if (!is_chosen(command, i) || !command->reproductions[i].workload)
			continue;
		if (command->switches->measured)
			show_stored(command, i);
		else if (!is_twin(command, i))
			run_record(command, i);
	}
}

/* --- answering --- */

static void say_unknown(const struct command *command)
{
	for (size_t i = 0; i < command->report.nr_records; i++) {
		const struct zm_reproduction *reproduction = &command->reproductions[i];

		if (is_chosen(command, i) && !reproduction->workload)
			(void)zm_cmd_failf(ZM_EXIT_OK, "%s: %s", reproduction->name,
					   reproduction->reason);
	}
}

static int print_json(json_t *answer)
{
	int r;

	if (!answer)
		return zm_cmd_failf(ZM_EXIT_USAGE, "no memory for the answer");
	r = json_dumpf(answer, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(answer);
	return r < 0 ? ZM_EXIT_USAGE : ZM_EXIT_OK; /* main says why */
}

static int answer_json(struct command *command, const struct zm_understanding *understanding)
{
	json_t *answer = zm_understanding_json(understanding);

	if (!command->switches->dry_run) {
		command->measured = json_array();
		run_all(command);
		(void)json_object_set_new(answer, "measured", command->measured);
	}
	return print_json(answer);
}

static int answer_text(struct command *command, const struct zm_understanding *understanding)
{
	bool is_brief = command->switches->measured && !command->switches->dry_run;

	if (!is_brief && zm_understanding_print(understanding, stdout) < 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "no memory for the answer");
	(void)fflush(stdout);
	if (!command->switches->dry_run)
		run_all(command);
	return ZM_EXIT_OK;
}

static int answer(struct command *command)
{
	const struct zm_understanding understanding = { &command->report, command->reproductions };
	size_t nr = count_runnable(command);
	int status;

	command->status = nr ? ZM_EXIT_OK : ZM_EXIT_SKIPPED;
	if (command->switches->json)
		status = answer_json(command, &understanding);
	else
		status = answer_text(command, &understanding);
	say_unknown(command);
	if (status != ZM_EXIT_OK)
		return status;
	return nr ? command->status : ZM_EXIT_SKIPPED;
}

static int reproduce(struct command *command, struct zm_why *why)
{
	bool is_id = zm_documented_is_id(command->args->words[0]);
	int r = is_id ? read_documented(command, why) : read_report(command, why);

	if (r == 0 && command->switches->record > command->report.nr_records)
		r = zm_why_set(why, -EINVAL, "--record %llu: there are %zu",
			       (unsigned long long)command->switches->record,
			       command->report.nr_records);
	if (r == 0)
		r = read_machine(command, why);
	return r == 0 ? understand(command, why) : r;
}

static void release(struct command *command)
{
	for (size_t i = 0; command->reproductions && i < command->report.nr_records; i++)
		zm_reproduction_release(&command->reproductions[i]);
	free(command->reproductions);
	json_decref(command->inventory);
	if (command->has_topology)
		zm_topology_release(&command->topology);
	if (command->has_root)
		zm_sysroot_release(&command->root);
	if (command->is_documented)
		zm_documented_release(&command->documented);
	else
		zm_report_mail_release(&command->report);
}

static int run(const struct zm_args *args)
{
	struct command command = { .args = args, .switches = args->switches };
	struct zm_why why = { { 0 } };
	int status;

	if (args->nr_words != 1)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "reproduce: one report is read at a time: a file, - for "
				    "standard input, or what `zonemark list documented` shows");
	if (reproduce(&command, &why) < 0)
		status = zm_cmd_fail(ZM_EXIT_USAGE, &why);
	else
		status = answer(&command);
	release(&command);
	if (command.signal) {
		(void)fflush(stdout);
		(void)signal(command.signal, SIG_DFL);
		(void)raise(command.signal);
	}
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "run here what a robot's mail or a document reports, and show both",
	.usage = "FILE|-|DOCUMENTED",
	.details =
		"Reads a kernel test robot's mail in any of the forms in which they travel "
		"(raw, quoted, wrapped, squeezed, on one line), or a job file of its suite, and "
		"says what it understood: the workload with every parameter, the machine, the "
		"kernels, what was claimed, and what cannot be the same here. Then each workload "
		"is run as `zonemark run` would run it, with the same share of this machine's "
		"CPUs, and the mail's table is printed with this machine's column.\n\n"
		"With an id of `zonemark list documented` it does the same for that table: its "
		"workload, scaled to this machine, and both in the document's own columns.\n\n"
		"To see whether a change has the documented shape, run it on both kernels with a "
		"--label each and the same switches, then show them: --measured base,new says of "
		"each figure whether direction, size and order agree.\n\n"
		"Nothing in a mail is executed. A workload that zonemark has not is named, with "
		"what was read of it.\n\n"
		"The exit status is that of the runs; 77 when zonemark has none of the "
		"workloads, and 2 when it is no report.",
	.examples =
		"zonemark reproduce report.eml\tall workloads of a mail, as reported\n"
		"zonemark reproduce report.txt --runtime 10s --repeat 5\tshorter, and five times\n"
		"zonemark reproduce --dry-run --json - < report.txt\twhat was understood, for a "
		"program\n"
		"zonemark reproduce pcp-v3/sctp-stream-many --label base\ta documented table\n"
		"zonemark reproduce pcp-v3/sctp-stream-many --measured base,new\tits shape, on two "
		"kernels that were measured",
	.completes = "files documented",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
