/*
 * cmd_noise: how far a kernel is from itself, kept in the store for all comparisons after it.
 *
 *     no word     the floors that there are
 *     A AGAIN     runs of one kernel on one machine, held against each other
 *     --run …     launches in turns, held against each other; and against those of an earlier boot
 */
#include "runner/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "results/json.h"
#include "results/noise.h"
#include "results/noise_measure.h"
#include "results/outbox.h"
#include "results/table.h"
#include "runner/cmd_rows.h"
#include "runner/invocation.h"
#include "runner/side.h"
#include "workloads/base/cleanup.h"

#define USUAL_LABEL   "noise"
#define USUAL_REPEATS 8
#define LEAST_REPEATS 4

struct switches {
	struct zm_invocation_ask ask;
	bool json, run;
};

#define AT(member)  offsetof(struct switches, member)
#define ASK(member) AT(ask.member)

static const struct zm_option rows[] = {
	{ .name = "run",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(run),
	  .preset = "0",
	  .help = "run the words as `zonemark run` does, 8 launches of every cell unless --repeat "
		  "says otherwise, and hold these against each other; the switches below are for "
		  "this" },
	ZM_ROW_JSON(struct switches),
	ZM_INVOCATION_ROWS(ASK),
	{ .name = NULL },
};

/* --- list --- */

struct listing {
	struct zm_table *table; /* either of the two */
	json_t *array;
};

static int list_one(void *context, const struct zm_noise_floor *floor)
{
	const struct listing *listing = context;
	const struct zm_noise *noise = &floor->largest;
	char text[48];

	if (listing->array) {
		json_t *object = json_object();

		(void)json_object_set_new(object, "machine", zm_json_text(noise->machine));
		(void)json_object_set_new(object, "workload", zm_json_text(noise->workload));
		(void)json_object_set_new(object, "cell", zm_json_parsed(noise->cell));
		(void)json_object_set_new(object, "metric", zm_json_text(noise->metric));
		(void)zm_json_set_real(object, "floor", noise->change);
		(void)json_object_set_new(object, "is_points", json_boolean(noise->is_points));
		(void)json_object_set_new(object, "is_one_boot", json_boolean(noise->is_one_boot));
		(void)json_object_set_new(object, "of", json_integer((json_int_t)floor->nr));
		(void)json_object_set_new(object, "kernel", zm_json_text(noise->kernel));
		(void)json_object_set_new(object, "newest", zm_json_time(noise->wall_ns));
		(void)json_array_append_new(listing->array, object);
		return 0;
	}
	zm_table_cell(listing->table, "%s", noise->workload);
	zm_table_cell(listing->table, "%s", noise->metric);
	if (noise->is_points)
		zm_table_cell(listing->table, "%.3g points", noise->change);
	else
		zm_table_cell(listing->table, "%s",
			      zm_table_percent(text, sizeof(text), noise->change));
	zm_table_cell(listing->table, "%s", noise->is_one_boot ? "one" : "several");
	zm_table_cell(listing->table, "%zu", floor->nr);
	zm_table_cell(listing->table, "%.8s", noise->machine);
	zm_table_cell(listing->table, "%s", noise->kernel);
	zm_table_cell(listing->table, "%s", zm_json_time_text(text, sizeof(text), noise->wall_ns));
	zm_table_cell(listing->table, "%s", noise->cell);
	return 0;
}

static const struct zm_column columns[] = {
	{ .title = "workload", .may_be_cut = true }, { .title = "metric", .may_be_cut = true },
	{ .title = "floor", .is_right = true },      { .title = "boots" },
	{ .title = "of", .is_right = true },         { .title = "machine" },
	{ .title = "kernel", .may_be_cut = true },   { .title = "newest" },
	{ .title = "cell", .may_be_cut = true },
};

static int list(const struct switches *switches, struct zm_why *why)
{
	struct listing listing = { 0 };
	struct zm_store *store = NULL;
	int error = zm_store_open(switches->ask.db, false, &store, why);

	if (switches->json)
		listing.array = json_array();
	else
		listing.table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	if (!error)
		error = zm_noise_floors(store, list_one, &listing, why);
	if (!error && switches->json) {
		(void)json_dumpf(listing.array, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		(void)putchar('\n');
	} else if (!error && zm_table_nr_rows(listing.table)) {
		error = zm_table_print(listing.table, stdout, zm_table_terminal_width(), "");
	} else if (!error) {
		(void)puts("no noise floors yet: `zonemark noise --run WORKLOAD` measures them");
	}
	json_decref(listing.array);
	zm_table_free(listing.table);
	zm_store_close(store);
	return error;
}

/* --- two sides --- */

static int measure_sides(const struct zm_args *args, struct zm_sides *sides, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	int error = zm_store_open(switches->ask.db, true, &sides->usual, why);

	for (size_t i = 0; i < args->nr_words && !error; i++)
		error = zm_sides_add(sides, args->words[i], switches->ask.db, why);
	return error ? error : zm_noise_measure(sides->usual, sides->list, why);
}

static int run_sides(const struct zm_args *args)
{
	struct zm_sides sides = { 0 };
	struct zm_why why = { "" };
	int error = measure_sides(args, &sides, &why);

	zm_sides_release(&sides);
	if (!error)
		error = list(args->switches, &why);
	else
		zm_why_prefix(&why, "noise");
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

/* --- launches --- */

static void release_pair(struct zm_compare_side *sides)
{
	zm_runset_release(&sides[0].runs);
	zm_runset_release(&sides[1].runs);
}

/* Within this boot: launches against their neighbours. */
static int measure_turns(const struct zm_invocation *invocation, struct zm_why *why)
{
	struct zm_store *store = invocation->session.store;
	struct zm_compare_side sides[2] = { { .name = "a", .store = store },
					    { .name = "b", .store = store } };
	int error = zm_noise_turns(store, invocation->uuid, &sides[0].runs, &sides[1].runs, why);

	if (!error)
		error = zm_noise_measure(store, sides, why);
	release_pair(sides);
	return error;
}

/* Between this boot and the one before it, if there was one. */
static int measure_boots(const struct zm_invocation *invocation, struct zm_why *why)
{
	struct zm_store *store = invocation->session.store;
	const struct zm_noise_boot now = { .label = invocation->session.label,
					   .machine = invocation->machine_id,
					   .kernel = invocation->uname.release,
					   .boot = invocation->boot_id };
	const struct zm_run_filter these = { .invocation = invocation->uuid,
					     .status = ZM_STATUS_OK };
	struct zm_compare_side sides[2] = { { .name = "the earlier boot", .store = store },
					    { .name = "this boot", .store = store } };
	int error = zm_noise_earlier(store, &now, &sides[0].runs, why);

	if (!error && sides[0].runs.nr)
		error = zm_query_runs(store, &these, zm_runset_add_info, &sides[1].runs, why);
	if (!error && sides[0].runs.nr)
		error = zm_noise_measure(store, sides, why);
	if (error == -ENODATA || (!error && !sides[0].runs.nr)) {
		(void)fprintf(
			stderr,
			"within this boot only: no earlier one has such runs labelled %s; the "
			"same command after a reboot measures what differs between boots\n",
			now.label);
		error = 0;
	}
	release_pair(sides);
	return error;
}

static int measure_launches(struct zm_invocation *invocation, struct zm_why *why)
{
	int error = measure_turns(invocation, why);

	if (!error)
		error = measure_boots(invocation, why);
	if (error)
		zm_why_prefix(why, "noise");
	return error;
}

static int answer(struct zm_invocation *invocation, const struct switches *switches)
{
	int status = zm_summary_exit_status(&invocation->summary);
	struct zm_why why = { "" };

	if (status == ZM_EXIT_SKIPPED || status == ZM_EXIT_USAGE || invocation->signal)
		return status;
	if (measure_launches(invocation, &why) || list(switches, &why))
		return zm_cmd_fail(status == ZM_EXIT_OK ? ZM_EXIT_USAGE : (enum zm_exit)status,
				   &why);
	return status;
}

/* Runs for a server wait in an outbox and leave it: there is nothing to hold against each other in between. */
static int check_store(const char *db, struct zm_why *why)
{
	zm_autofree char *url = NULL;
	int r = zm_outbox_url(db, &url, why);

	if (r == 0 && url)
		r = zm_why_set(why, -EINVAL,
			       "noise: --run keeps floors in a file's store (--db FILE); `zonemark "
			       "import`, as the server's owner, takes them there");
	return r;
}

static int run_launches(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_invocation_ask ask = switches->ask;
	struct zm_invocation invocation;
	struct zm_why why = { "" };
	int status, r;

	ask.words = args->words;
	ask.nr_words = args->nr_words;
	ask.argc = args->argc;
	ask.argv = args->argv;
	ask.label = ask.label ? ask.label : (char *)(uintptr_t)USUAL_LABEL;
	ask.repeat = ask.repeat == 1 ? USUAL_REPEATS : ask.repeat;
	if (ask.repeat < LEAST_REPEATS)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "noise: --repeat %d or more: launches are held against each "
				    "other",
				    LEAST_REPEATS);
	r = check_store(ask.db, &why);
	if (r == 0)
		r = zm_invocation_open(&invocation, &ask, &why);
	if (r < 0)
		return zm_cmd_fail(r == -ENOPKG ? ZM_EXIT_SKIPPED : ZM_EXIT_USAGE, &why);
	if (zm_invocation_run(&invocation, &why) < 0)
		status = zm_cmd_fail(ZM_EXIT_USAGE, &why);
	else
		status = answer(&invocation, switches);
	zm_invocation_close(&invocation);
	zm_invocation_die(&invocation);
	return invocation.signal ? 128 + invocation.signal : status;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_why why = { "" };

	if (switches->run && args->nr_words)
		return run_launches(args);
	if (switches->run)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "noise: --run what? a workload or a matrix, as for `zonemark "
				    "run`");
	if (args->nr_words == 2)
		return run_sides(args);
	if (args->nr_words)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "noise: two sides of one kernel are wanted, or none to list "
				    "what there is");
	return list(switches, &why) ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "measure how far a kernel is from itself, below which compare gives no verdict",
	.usage = "[A AGAIN | --run WORKLOAD|MATRIX|FILE [option=value …]]",
	.details =
		"A and AGAIN are labels or runs of one kernel on one machine. By how much each "
		"primary metric of each cell differed between them is kept in the store; the "
		"largest of the newest ten is the noise floor of that cell and metric on that "
		"machine. What was compared within one boot is kept apart from what was compared "
		"between boots, where more differs. Without words the floors are listed.\n\n"
		"With --run it launches every cell several times itself and holds neighbours "
		"against each other (A B B A A B B A): the floor within a boot. The runs get the "
		"label noise, or --label; where an earlier boot of this kernel has runs of that "
		"label, the two boots are held against each other, too: the floor between boots. "
		"So the same command after each of some reboots makes it known better and better; "
		"`zonemark ab` with one kernel given twice does the boots by itself.",
	.examples =
		"zonemark noise --run page_fault1 nr_task=50%\tlaunches in turns; again after a "
		"reboot\n"
		"zonemark noise a1 a2\tkeep how far these two are apart\n"
		"zonemark noise\tlist the floors",
	.completes = "runs workloads matrices options settings files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
