/*
 * cmd_noise: how far a kernel is from itself, kept in the store for all comparisons after it.
 *
 *     no word          the floors that there are
 *     two words        runs of one kernel on one machine -> a comparison -> a row per cell and metric
 */
#include "runner/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/compare.h"
#include "results/json.h"
#include "results/noise.h"
#include "results/query.h"
#include "results/table.h"
#include "runner/cmd_rows.h"
#include "runner/side.h"
#include "workloads/base/clock.h"

struct switches {
	char *db;
	bool json;
};

static const struct zm_option rows[] = {
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
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
	int error = zm_store_open(switches->db, false, &store, why);

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
		(void)puts("no noise floors yet: `zonemark noise A AGAIN` measures them");
	}
	json_decref(listing.array);
	zm_table_free(listing.table);
	zm_store_close(store);
	return error;
}

/* --- measure --- */

struct measuring {
	struct zm_store *store;
	struct zm_sides sides;
	struct zm_compare *compare;
	char *machine, *kernel; /* the one of all runs */
	struct zm_noise *list;
	size_t nr, capacity;
	struct zm_why *why;
};

/* Is it the one that the runs before it had? */
static int agree(struct measuring *measuring, char **one, const char *value, const char *what)
{
	if (!*one) {
		*one = strdup(value);
		return *one ? 0 : -ENOMEM;
	}
	if (!strcmp(*one, value))
		return 0;
	return zm_why_set(measuring->why, -EINVAL,
			  "noise: runs of one %s are wanted, these are of %s and %s", what, *one,
			  value);
}

static int check_run(struct measuring *measuring, uint64_t run)
{
	struct zm_run_view *view = NULL;
	int error = zm_query_run(measuring->store, run, &view, measuring->why);

	if (!error)
		error = agree(measuring, &measuring->machine, view->info.machine, "machine");
	if (!error)
		error = agree(measuring, &measuring->kernel, view->info.kernel, "kernel");
	zm_run_view_free(view);
	return error;
}

static int check_sides(struct measuring *measuring)
{
	int error = 0;

	for (size_t side = 0; side < measuring->sides.nr && !error; side++) {
		const struct zm_compare_side *is = &measuring->sides.list[side];

		if (is->store != measuring->sides.usual)
			return zm_why_set(measuring->why, -EINVAL,
					  "noise: %s: not of the store in which it is kept; "
					  "`zonemark import` takes another's runs into it",
					  is->name);
		for (size_t i = 0; i < is->runs.nr && !error; i++)
			error = check_run(measuring, is->runs.runs[i]);
	}
	return error;
}

/* As the judge takes a margin: a share, or points of a percentage. */
static double size_of(const struct zm_compare_metric *metric)
{
	const struct zm_judgement *judgement = &metric->outcomes[1].judgement;
	double change = fabs(judgement->change);

	return judgement->is_ratio || metric->is_share ? change : change / fabs(judgement->base);
}

static int keep_metric(struct measuring *measuring, const struct zm_compare_cell *cell,
		       const struct zm_compare_metric *metric)
{
	const struct zm_judgement *judgement = &metric->outcomes[1].judgement;
	double size = size_of(metric);
	int error;

	if (!isfinite(size))
		return 0;
	error = zm_array_grow((void **)&measuring->list, &measuring->capacity, measuring->nr,
			      sizeof(*measuring->list));
	if (error)
		return error;
	measuring->list[measuring->nr++] =
		(struct zm_noise){ .machine = measuring->machine,
				   .workload = cell->workload,
				   .cell = cell->cell,
				   .metric = metric->name,
				   .change = size,
				   .is_points = metric->is_share,
				   .is_one_boot = metric->outcomes[1].is_within_boots,
				   .nr_base = judgement->nr_base,
				   .nr_again = judgement->nr_new,
				   .kernel = measuring->kernel,
				   .wall_ns = zm_clock_wall_ns() };
	return 0;
}

static int keep(struct measuring *measuring)
{
	const struct zm_compare *compare = measuring->compare;
	int error = 0;

	for (size_t i = 0; i < compare->nr_cells && !error; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary && !error; k++)
			error = keep_metric(measuring, cell, &cell->metrics[k]);
	}
	if (!error && measuring->nr == 0)
		error = zm_why_set(measuring->why, -ENODATA,
				   "noise: no primary metric that both sides have");
	return error ? error
		     : zm_noise_add(measuring->store, measuring->list, measuring->nr,
				    measuring->why);
}

static int measure(struct measuring *measuring, const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	const struct zm_compare_options options = {
		.judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 }
	};
	int error = zm_store_open(switches->db, true, &measuring->store, measuring->why);

	for (size_t i = 0; i < args->nr_words && !error; i++) {
		error = zm_sides_add(&measuring->sides, args->words[i], switches->db,
				     measuring->why);
		if (error)
			zm_why_prefix(measuring->why, "noise");
	}
	if (!error)
		error = check_sides(measuring);
	if (!error)
		error = zm_compare_make(measuring->sides.list, measuring->sides.nr, &options,
					&measuring->compare, measuring->why);
	return error ? error : keep(measuring);
}

static void release(struct measuring *measuring)
{
	zm_compare_free(measuring->compare);
	zm_sides_release(&measuring->sides);
	free(measuring->list);
	free(measuring->machine);
	free(measuring->kernel);
	zm_store_close(measuring->store);
}

static int run(const struct zm_args *args)
{
	struct zm_why why = { "" };
	struct measuring measuring = { .why = &why };
	int error = 0;

	if (args->nr_words != 0 && args->nr_words != 2)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "noise: two sides of one kernel are wanted, or none to list "
				    "what there is");
	if (args->nr_words)
		error = measure(&measuring, args);
	if (!error)
		error = list(args->switches, &why);
	release(&measuring);
	if (error == -ENOMEM && !why.text[0])
		(void)zm_why_errno(&why, error, "noise");
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "measure how far a kernel is from itself, below which compare gives no verdict",
	.usage = "[A AGAIN]",
	.details = "A and AGAIN are labels or runs of one kernel on one machine, of different "
		   "boots. By how much each primary metric of each cell differed between them is "
		   "kept in the store; the largest of the newest ten is the noise floor of that "
		   "cell and metric on that machine. Without words the floors are listed.",
	.examples = "zonemark noise a1 a2\tkeep how far the two are apart\n"
		    "zonemark noise\tlist the floors",
	.completes = "runs",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
