/*
 * cmd_fleet: a matrix on many machines; the scheduler is Slurm.
 *
 *     submit MATRIX …   a campaign's folder (fleet/campaign.h), and its arrays to sbatch
 *     status FOLDER     how far each task is
 *     gather FOLDER     the results that are there into a store, and what is missing, and why
 *     again FOLDER      submits anew what has no result and nobody runs
 *     task FOLDER TASK  one task, here: what Slurm's scripts call
 */
#include "runner/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "results/table.h"
#include "runner/cmd_rows.h"
#include "runner/fleet/attempt.h"
#include "runner/fleet/cells.h"
#include "runner/fleet/gather.h"
#include "runner/fleet/hostlist.h"
#include "runner/fleet/state.h"
#include "runner/fleet/submit.h"
#include "workloads/base/cleanup.h"

#define SAID_MAX 20 /* runs that failed, by name */

enum per {
	PER_MACHINE,
	PER_CELL,
};

static const char *const pers[] = { "machine", "cell", NULL };

struct switches {
	char *nodes, *kernel, *kernel_b, *folder, *program, *scratch, *db;
	uint64_t rounds;
	unsigned int per;
	bool reboot, dry_run, only_folder, json;
};

#define AT(member) offsetof(struct switches, member)
#define TEXT(member, what, text)                                                                   \
	{                                                                                          \
		.name = #member, .type = ZM_OPTION_STRING, .offset = AT(member), .unit = (what),   \
		.help = (text)                                                                     \
	}
#define FLAG(member, text)                                                                         \
	{                                                                                          \
		.name = #member, .type = ZM_OPTION_BOOL, .offset = AT(member), .preset = "0",      \
		.help = (text)                                                                     \
	}

static const struct zm_option rows[] = {
	TEXT(nodes, "list", "the machines, as Slurm writes them: n1,n2 or rack[01-16]"),
	TEXT(kernel, "list",
	     "kernels by the names that they have as features of the nodes; each run's label"),
	{ .name = "kernel_b",
	  .also = "kernel",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(kernel_b),
	  .unit = "list",
	  .help = "more of them; a second --kernel is this" },
	{ .name = "per",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(per),
	  .preset = "machine",
	  .choices = pers,
	  .help = "what a task is: all of the matrix on a machine, or one cell, each cell on one "
		  "of the machines, the same for every kernel" },
	{ .name = "rounds",
	  .type = ZM_OPTION_U64,
	  .offset = AT(rounds),
	  .preset = "1",
	  .min = 1,
	  .max = ZM_CAMPAIGN_ROUNDS,
	  .unit = "rounds",
	  .help = "all of it so often; the kernels take turns in each" },
	FLAG(reboot, "each task begins with a reboot of its machine, where Slurm may do that"),
	TEXT(folder, "file", "a new folder that all machines see; otherwise one here"),
	TEXT(program, "file", "zonemark on the machines; otherwise this one's path"),
	FLAG(dry_run, "print what would be submitted, and do nothing"),
	FLAG(only_folder, "make the campaign's folder and submit nothing: for another scheduler"),
	TEXT(scratch, "file",
	     "of `task`: where its store is until it is whole; otherwise $TMPDIR or /tmp"),
	ZM_ROW_DB(struct switches),
	ZM_ROW_JSON(struct switches),
	{ .name = NULL },
};

/* --- submit ---------------------------------------------------------------------------------- */

struct submitting {
	const struct switches *switches;
	struct zm_hostlist nodes, kernels;
	struct zm_fleet_cells cells;
	struct zm_campaign campaign;
	char *program;
};

static int read_kernels(struct submitting *submitting, struct zm_why *why)
{
	const struct switches *switches = submitting->switches;
	zm_autofree char *both = NULL;
	int r;

	if (!switches->kernel)
		return 0;
	if (asprintf(&both, "%s%s%s", switches->kernel, switches->kernel_b ? "," : "",
		     switches->kernel_b ? switches->kernel_b : "") < 0) {
		both = NULL;
		return zm_why_errno(why, -ENOMEM, "--kernel");
	}
	r = zm_hostlist_parse(both, &submitting->kernels, why);
	if (r < 0)
		zm_why_prefix(why, "--kernel: a feature's name");
	return r;
}

static int read_nodes(struct submitting *submitting, struct zm_why *why)
{
	int r;

	if (!submitting->switches->nodes)
		return zm_why_set(why, -EINVAL, "on which machines? --nodes n1,n2 or rack[01-16]");
	r = zm_hostlist_parse(submitting->switches->nodes, &submitting->nodes, why);
	if (r < 0)
		zm_why_prefix(why, "--nodes");
	return r;
}

static int find_program(struct submitting *submitting, struct zm_why *why)
{
	const char *given = submitting->switches->program;

	if (given && given[0] != '/')
		return zm_why_set(why, -EINVAL,
				  "--program %s: the machines need its whole path, from / on",
				  given);
	submitting->program = given ? strdup(given) : realpath("/proc/self/exe", NULL);
	return submitting->program ? 0 : zm_why_errno(why, -errno, "this program's path");
}

static int make_campaign(struct submitting *submitting, const struct zm_args *args,
			 struct zm_why *why)
{
	const struct switches *switches = submitting->switches;
	const char *const *words = args->words + 1;
	size_t nr_words = args->nr_words - 1;
	struct zm_campaign_ask ask = {
		.folder = switches->folder,
		.words = words,
		.nr_words = nr_words,
		.nr_rounds = (unsigned int)switches->rounds,
	};
	int r;

	if (nr_words == 0)
		return zm_why_set(why, -EINVAL, "submit what? `zonemark list matrices` shows sets");
	r = read_nodes(submitting, why);
	if (r == 0)
		r = read_kernels(submitting, why);
	if (r == 0)
		r = zm_fleet_cells_make(words, nr_words, submitting->nodes.nr,
					submitting->kernels.nr > 0, &submitting->cells, why);
	if (r == 0)
		r = find_program(submitting, why);
	if (r < 0)
		return r;
	ask.program = submitting->program;
	ask.nodes = (const char *const *)submitting->nodes.names;
	ask.nr_nodes = submitting->nodes.nr;
	ask.kernels = (const char *const *)submitting->kernels.names;
	ask.nr_kernels = submitting->kernels.nr;
	if (switches->per == PER_CELL) {
		ask.node_of = submitting->cells.node_of;
		ask.nr_parts = submitting->cells.nr_parts;
		ask.split = submitting->cells.split;
	}
	return zm_campaign_make(&ask, &submitting->campaign, why);
}

static int carry_out(const struct submitting *submitting, struct zm_why *why)
{
	const struct switches *switches = submitting->switches;
	const struct zm_campaign *campaign = &submitting->campaign;
	int r;

	if (switches->dry_run)
		return zm_fleet_submit_print(campaign, switches->reboot, stdout, why);
	r = switches->only_folder ? zm_campaign_write(campaign, why)
				  : zm_fleet_submit(campaign, switches->reboot, why);
	if (r == 0)
		(void)printf("%s\n", campaign->folder);
	return r;
}

static int submit(const struct zm_args *args, struct zm_why *why)
{
	struct submitting submitting = { .switches = args->switches };
	int r = make_campaign(&submitting, args, why);

	if (r == 0)
		r = carry_out(&submitting, why);
	zm_campaign_release(&submitting.campaign);
	zm_fleet_cells_release(&submitting.cells);
	zm_hostlist_release(&submitting.nodes);
	zm_hostlist_release(&submitting.kernels);
	free(submitting.program);
	return r < 0 ? zm_cmd_fail(r == -ENOPKG ? ZM_EXIT_SKIPPED : ZM_EXIT_USAGE, why)
		     : ZM_EXIT_OK;
}

/* --- how far it is --------------------------------------------------------------------------- */

struct looking {
	struct zm_campaign campaign;
	struct zm_slurm_queue queue;
	bool has_queue;
	struct zm_table *table;
	json_t *json;
	size_t nr_of[ZM_FLEET_STATES];
};

/* Where squeue is missing or says no, the folder is read alone. */
static int open_looking(struct looking *looking, const struct zm_args *args, struct zm_why *why)
{
	static const struct zm_column columns[] = {
		{ .title = "task" },
		{ .title = "machine" },
		{ .title = "kernel" },
		{ .title = "round" },
		{ .title = "part" },
		{ .title = "state" },
		{ .title = "why", .may_be_cut = true },
	};
	struct zm_why queue_why;
	int r;

	if (args->nr_words != 2)
		return zm_why_set(why, -EINVAL, "%s: of which campaign? give its folder",
				  args->words[0]);
	r = zm_campaign_read(args->words[1], &looking->campaign, why);
	if (r < 0)
		return r;
	looking->has_queue =
		zm_slurm_queue_read(&looking->campaign, &looking->queue, &queue_why) == 0;
	if (!looking->has_queue)
		(void)fprintf(stderr, "%s\n", queue_why.text);
	looking->table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	looking->json = json_array();
	return looking->table && looking->json ? 0 : zm_why_errno(why, -ENOMEM, "its tasks");
}

static void close_looking(struct looking *looking)
{
	json_decref(looking->json);
	zm_table_free(looking->table);
	zm_slurm_queue_release(&looking->queue);
	zm_campaign_release(&looking->campaign);
}

static void add_row(struct looking *looking, size_t array, size_t task,
		    const struct zm_fleet_look *look)
{
	const struct zm_campaign *campaign = &looking->campaign;
	const struct zm_fleet_array *it = &campaign->arrays[array];

	zm_table_cell(looking->table, "%zu.%zu", array + 1, task + 1);
	zm_table_cell(looking->table, "%s", look->node);
	zm_table_cell(looking->table, "%s", it->kernel ? it->kernel : "");
	zm_table_cell(looking->table, "%u", it->round);
	if (campaign->nr_parts > 1)
		zm_table_cell(looking->table, "%u/%u", it->parts[task], campaign->nr_parts);
	else
		zm_table_cell(looking->table, "%s", "");
	zm_table_cell(looking->table, "%s", zm_fleet_state_names[look->state]);
	zm_table_cell(looking->table, "%s", look->reason.text);
}

static void add_object(struct looking *looking, size_t array, size_t task,
		       const struct zm_fleet_look *look)
{
	const struct zm_fleet_array *it = &looking->campaign.arrays[array];
	char name[32];

	(void)snprintf(name, sizeof(name), "%zu.%zu", array + 1, task + 1);
	(void)json_array_append_new(
		looking->json,
		json_pack("{s:s, s:s, s:s*, s:i, s:i, s:i, s:s, s:s}", "task", name, "machine",
			  look->node, "kernel", it->kernel, "round", (int)it->round, "part",
			  (int)it->parts[task], "parts", (int)looking->campaign.nr_parts, "state",
			  zm_fleet_state_names[look->state], "why", look->reason.text));
}

/* All tasks, or those without a result. */
static void look_at_all(struct looking *looking, bool with_done)
{
	const struct zm_campaign *campaign = &looking->campaign;

	for (size_t i = 0; i < campaign->nr_arrays; i++) {
		for (size_t k = 0; k < campaign->arrays[i].nr_tasks; k++) {
			struct zm_fleet_look look;

			zm_fleet_look(campaign, looking->has_queue ? &looking->queue : NULL, i, k,
				      &look);
			looking->nr_of[look.state]++;
			if (look.state == ZM_FLEET_DONE && !with_done)
				continue;
			add_row(looking, i, k, &look);
			add_object(looking, i, k, &look);
		}
	}
}

/* "12 tasks: 9 done, 2 running, 1 lost" */
static void print_counts(const struct looking *looking, FILE *out)
{
	const char *between = ": ";
	size_t nr = 0;

	for (size_t i = 0; i < ZM_FLEET_STATES; i++)
		nr += looking->nr_of[i];
	(void)fprintf(out, "%zu task%s", nr, nr == 1 ? "" : "s");
	for (size_t i = 0; i < ZM_FLEET_STATES; i++) {
		if (looking->nr_of[i] == 0)
			continue;
		(void)fprintf(out, "%s%zu %s", between, looking->nr_of[i], zm_fleet_state_names[i]);
		between = ", ";
	}
	(void)fputc('\n', out);
}

static int status(const struct zm_args *args, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	struct looking looking = { .has_queue = false };
	int r = open_looking(&looking, args, why);

	if (r == 0)
		look_at_all(&looking, true);
	if (r == 0 && switches->json) {
		(void)json_dumpf(looking.json, stdout, JSON_INDENT(1));
		(void)putchar('\n');
	} else if (r == 0) {
		print_counts(&looking, stdout);
		r = zm_table_print(looking.table, stdout, zm_table_terminal_width(), "  ");
		if (r < 0)
			(void)zm_why_errno(why, r, "the table");
	}
	close_looking(&looking);
	return r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, why) : ZM_EXIT_OK;
}

/* --- gather ---------------------------------------------------------------------------------- */

struct gathering {
	struct looking looking;
	struct zm_store *into;
	struct zm_import sum;
	json_t *runs;     /* that did not go well */
	size_t nr_unread; /* results that could not be taken */
	size_t nr_said, nr_failed;
};

static void note_run(void *context, const char *task, const char *how, const char *workload,
		     const char *reason)
{
	struct gathering *gathering = context;
	struct zm_why line;

	gathering->nr_failed += strcmp(how, zm_status_name(ZM_STATUS_FAILED)) == 0;
	(void)json_array_append_new(gathering->runs,
				    json_pack("{s:s, s:s, s:s, s:s}", "task", task, "status", how,
					      "workload", workload, "reason", reason));
	(void)zm_why_set(&line, 0, "task %s: %s %s: %s", task, workload, how, reason);
	if (gathering->nr_said++ < SAID_MAX)
		(void)fprintf(stderr, "%s\n", line.text);
}

static void gather_one(struct gathering *gathering, size_t array, size_t task)
{
	struct zm_why why = { "" };
	int r = zm_gather_task(&gathering->looking.campaign, array, task, gathering->into,
			       &gathering->sum, note_run, gathering, &why);

	if (r == 0 || r == -ENOENT)
		return;
	gathering->nr_unread++;
	(void)fprintf(stderr, "task %zu.%zu: %s\n", array + 1, task + 1, why.text);
}

static void gather_all(struct gathering *gathering)
{
	const struct zm_campaign *campaign = &gathering->looking.campaign;

	for (size_t i = 0; i < campaign->nr_arrays; i++)
		for (size_t k = 0; k < campaign->arrays[i].nr_tasks; k++)
			gather_one(gathering, i, k);
	if (gathering->nr_said > SAID_MAX)
		(void)fprintf(stderr, "… and %zu more runs that failed or could not run\n",
			      gathering->nr_said - SAID_MAX);
	look_at_all(&gathering->looking, false);
}

static void print_gathered_json(const struct gathering *gathering)
{
	const struct zm_import *sum = &gathering->sum;
	json_t *object = json_pack("{s:I, s:I, s:I, s:i, s:O, s:O}", "new", (json_int_t)sum->nr_new,
				   "replaced", (json_int_t)sum->nr_replaced, "there",
				   (json_int_t)sum->nr_there, "unread", (int)gathering->nr_unread,
				   "missing", gathering->looking.json, "runs", gathering->runs);

	(void)json_dumpf(object, stdout, JSON_INDENT(1));
	(void)putchar('\n');
	json_decref(object);
}

static int print_gathered(const struct gathering *gathering, struct zm_why *why)
{
	const struct zm_import *sum = &gathering->sum;
	int r = 0;

	print_counts(&gathering->looking, stdout);
	(void)printf("%s: %" PRIu64 " runs new, %" PRIu64 " replaced, %" PRIu64 " there already\n",
		     zm_store_path(gathering->into), sum->nr_new, sum->nr_replaced, sum->nr_there);
	if (zm_table_nr_rows(gathering->looking.table)) {
		(void)puts("missing:");
		r = zm_table_print(gathering->looking.table, stdout, zm_table_terminal_width(),
				   "  ");
	}
	return r < 0 ? zm_why_errno(why, r, "the table") : 0;
}

static int exit_of(const struct gathering *gathering)
{
	if (json_array_size(gathering->looking.json) || gathering->nr_unread)
		return ZM_EXIT_NO;
	return gathering->nr_failed ? ZM_EXIT_RUN_FAILED : ZM_EXIT_OK;
}

static int gather(const struct zm_args *args, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	struct gathering gathering = { .runs = json_array() };
	int result = ZM_EXIT_USAGE;
	int r = open_looking(&gathering.looking, args, why);

	if (r == 0)
		r = zm_store_open(switches->db, true, &gathering.into, why);
	if (r == 0) {
		gather_all(&gathering);
		if (switches->json)
			print_gathered_json(&gathering);
		else
			r = print_gathered(&gathering, why);
		result = exit_of(&gathering);
	}
	zm_store_close(gathering.into);
	json_decref(gathering.runs);
	close_looking(&gathering.looking);
	return r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, why) : result;
}

/* --- again ----------------------------------------------------------------------------------- */

static int again(const struct zm_args *args, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	struct looking looking = { .has_queue = false };
	struct zm_hostlist nodes = { 0 };
	int r = open_looking(&looking, args, why);

	if (r == 0 && !looking.has_queue)
		r = zm_why_set(why, -EIO,
			       "again: without Slurm's queue it is not known what is under way");
	if (r == 0 && switches->nodes)
		r = zm_hostlist_parse(switches->nodes, &nodes, why);
	if (r == 0)
		r = zm_fleet_submit_again(&looking.campaign, &looking.queue, &nodes,
					  switches->reboot, why);
	zm_hostlist_release(&nodes);
	close_looking(&looking);
	return r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, why) : ZM_EXIT_OK;
}

/* --- task ------------------------------------------------------------------------------------ */

static int task(const struct zm_args *args, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	struct zm_campaign campaign;
	size_t array, index;
	int result = ZM_EXIT_USAGE, r;

	if (args->nr_words != 3)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "task: which? give the campaign's folder and a task, as 3.12");
	r = zm_campaign_read(args->words[1], &campaign, why);
	if (r < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, why);
	r = zm_campaign_find(&campaign, args->words[2], &array, &index, why);
	if (r == 0)
		r = zm_attempt_run(&campaign, array, index, switches->scratch, &result, why);
	zm_campaign_release(&campaign);
	return r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, why) : result;
}

/* --- all of it ------------------------------------------------------------------------------- */

static const struct action {
	const char *name;
	int (*run)(const struct zm_args *args, struct zm_why *why);
} actions[] = {
	{ "submit", submit }, { "status", status }, { "gather", gather },
	{ "again", again },   { "task", task },
};

static int run(const struct zm_args *args)
{
	struct zm_why why = { "" };

	for (size_t i = 0; args->nr_words && i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(args->words[0], actions[i].name) == 0)
			return actions[i].run(args, &why);
	}
	return zm_cmd_failf(ZM_EXIT_USAGE, "fleet %s: one of submit, status, gather, again, task",
			    args->nr_words ? args->words[0] : "needs a word");
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "run a matrix on many machines, by Slurm, and bring the results together",
	.usage = "submit MATRIX [option=value …] --nodes LIST | status FOLDER | gather FOLDER | "
		 "again FOLDER",
	.details =
		"`submit` makes a campaign: a folder that all machines see, with one job array of "
		"Slurm for each machine, kernel and round. Machines are taken whole. With --per "
		"machine each runs all of the matrix; with --per cell each cell is a task, and "
		"stays on one machine for every kernel. A kernel is the name that it has as a "
		"feature of the nodes, and its runs' label. Switches of `zonemark run` stand "
		"behind --. What else sbatch takes (partition, account, time limit) it takes from "
		"its own variables (SBATCH_PARTITION …).\n\n"
		"A task that is run twice, or killed midway, leaves one result or none: its store "
		"appears in the folder whole. Killed and begun again on the same machine, it goes "
		"on where it stood.\n\n"
		"`status` says how far each task is. `gather` takes every result into a store; "
		"doing it twice changes nothing. Its exit status is 1 when something is missing, "
		"which it lists with the reason, and 3 when a run failed. `again` submits anew "
		"what has no result and is not under way, with --nodes on other machines. `task "
		"FOLDER TASK` is what the jobs call.\n\n"
		"Without Slurm: `zonemark run MATRIX --shard I/N`, docs/fleet.md.",
	.examples = "zonemark fleet submit nightly --nodes rack[01-16]\tthe matrix on sixteen "
		    "machines\n"
		    "zonemark fleet submit full --nodes n[1-4] --kernel k6.18 --kernel k6.19 --per "
		    "cell --rounds 5 -- --repeat 2\ttwo kernels, cell by cell, on four machines\n"
		    "zonemark fleet submit quick --nodes n1 --dry-run\twhat would be submitted\n"
		    "zonemark fleet gather zonemark-fleet-3f2a91c0 --db lab.db\ttheir results",
	.completes = "matrices workloads documented files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
