/*
 * nightly: a history for each machine, cell and primary figure, one value a night.
 *
 *     rows, by history and then in order -> launches of one invocation -> a night, or values of a confirmation
 *     -> changes -> each settled by the confirmations between it and the next
 */
#include "results/nightly.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/db.h"
#include "results/stat.h"
#include "results/words.h"

/* --- reading --- */

enum {
	COLUMN_MACHINE,
	COLUMN_CELL,
	COLUMN_METRIC,
	COLUMN_INVOCATION,
	COLUMN_LABEL,
	COLUMN_RUN,
	COLUMN_WALL,
	COLUMN_VALUE,
	COLUMN_KERNEL,
	COLUMN_BOOT,
	COLUMN_MACHINE_KEY,
	COLUMN_WORKLOAD,
	COLUMN_CELL_JSON,
	COLUMN_METRIC_NAME,
	COLUMN_UNIT,
	COLUMN_BETTER,
};

static const char all_rows[] =
	"SELECT boot.machine, run.cell, result.metric, run.invocation, invocation.label, run.id,"
	" run.wall_ns, result.value, boot.kernel, boot.key, machine.key, workload.name, cell.json,"
	" metric.name, metric.unit, metric.better FROM invocation"
	" JOIN run ON run.invocation = invocation.id"
	" JOIN boot ON boot.id = run.boot"
	" JOIN machine ON machine.id = boot.machine"
	" JOIN cell ON cell.id = run.cell"
	" JOIN workload ON workload.id = cell.workload"
	" JOIN result ON result.run = run.id"
	" JOIN metric ON metric.id = result.metric"
	" WHERE invocation.label IN (?1, ?2) AND run.status = ?3 AND result.is_primary = 1"
	" AND (?4 = '' OR machine.key = ?4)"
	" ORDER BY boot.machine, run.cell, result.metric, run.invocation, run.id";

/* The launches of one invocation, on their way to a night. */
struct reading {
	struct zm_nightly *nightly;
	const char *label;
	int64_t machine, cell, metric;
	struct zm_nightly_night night;
	double *launches;
	size_t nr, capacity;
};

static int end_night(struct reading *reading)
{
	struct zm_nightly *nightly = reading->nightly;
	struct zm_nightly_history *history = &nightly->histories[nightly->nr - 1];
	size_t capacity = history->capacity;
	int error;

	if (reading->nr == 0)
		return 0;
	error = zm_array_grow((void **)&history->nights, &capacity, history->nr,
			      sizeof(*history->nights));
	if (!error)
		error = zm_array_grow((void **)&history->values, &history->capacity, history->nr,
				      sizeof(*history->values));
	if (error)
		return error;
	reading->night.nr_launches = reading->nr;
	history->nights[history->nr] = reading->night;
	history->values[history->nr++] = zm_stat_mean(reading->launches, reading->nr);
	reading->nr = 0;
	return 0;
}

static int add_launch(struct reading *reading, const struct zm_rows *rows)
{
	int64_t invocation = zm_rows_int(rows, COLUMN_INVOCATION);
	int error = reading->nr && reading->night.invocation != invocation ? end_night(reading) : 0;

	if (!error)
		error = zm_array_grow((void **)&reading->launches, &reading->capacity, reading->nr,
				      sizeof(*reading->launches));
	if (error)
		return error;
	if (reading->nr == 0)
		reading->night = (struct zm_nightly_night){
			.invocation = invocation,
			.run = (uint64_t)zm_rows_int(rows, COLUMN_RUN),
			.wall_ns = (uint64_t)zm_rows_int(rows, COLUMN_WALL),
			.kernel = zm_pool_text(&reading->nightly->pool,
					       zm_rows_text(rows, COLUMN_KERNEL)),
			.boot = zm_pool_text(&reading->nightly->pool,
					     zm_rows_text(rows, COLUMN_BOOT)),
		};
	reading->launches[reading->nr++] = zm_rows_real(rows, COLUMN_VALUE);
	return reading->nightly->pool.error;
}

static int add_confirming(struct reading *reading, const struct zm_rows *rows)
{
	struct zm_nightly *nightly = reading->nightly;
	struct zm_nightly_history *history = &nightly->histories[nightly->nr - 1];
	int error = zm_array_grow((void **)&history->confirming, &history->confirming_capacity,
				  history->nr_confirming, sizeof(*history->confirming));

	if (!error)
		history->confirming[history->nr_confirming++] = (struct zm_nightly_confirming){
			.invocation = zm_rows_int(rows, COLUMN_INVOCATION),
			.value = zm_rows_real(rows, COLUMN_VALUE),
		};
	return error;
}

static bool is_of_history(const struct reading *reading, const struct zm_rows *rows)
{
	return reading->nightly->nr && reading->machine == zm_rows_int(rows, COLUMN_MACHINE) &&
	       reading->cell == zm_rows_int(rows, COLUMN_CELL) &&
	       reading->metric == zm_rows_int(rows, COLUMN_METRIC);
}

static int begin_history(struct reading *reading, const struct zm_rows *rows)
{
	struct zm_nightly *nightly = reading->nightly;
	struct zm_pool *pool = &nightly->pool;
	int error = nightly->nr ? end_night(reading) : 0;

	if (!error)
		error = zm_array_grow((void **)&nightly->histories, &nightly->capacity, nightly->nr,
				      sizeof(*nightly->histories));
	if (error)
		return error;
	reading->machine = zm_rows_int(rows, COLUMN_MACHINE);
	reading->cell = zm_rows_int(rows, COLUMN_CELL);
	reading->metric = zm_rows_int(rows, COLUMN_METRIC);
	nightly->histories[nightly->nr++] = (struct zm_nightly_history){
		.machine = zm_pool_text(pool, zm_rows_text(rows, COLUMN_MACHINE_KEY)),
		.workload = zm_pool_text(pool, zm_rows_text(rows, COLUMN_WORKLOAD)),
		.cell = zm_pool_text(pool, zm_rows_text(rows, COLUMN_CELL_JSON)),
		.metric = zm_pool_text(pool, zm_rows_text(rows, COLUMN_METRIC_NAME)),
		.unit = zm_pool_text(pool, zm_rows_text(rows, COLUMN_UNIT)),
		.better = (enum zm_better)zm_rows_int(rows, COLUMN_BETTER),
		.is_share = strcmp(zm_rows_text(rows, COLUMN_UNIT), "%") == 0,
	};
	return pool->error;
}

static int add_row(struct reading *reading, const struct zm_rows *rows)
{
	int error = is_of_history(reading, rows) ? 0 : begin_history(reading, rows);

	if (error)
		return error;
	if (strcmp(zm_rows_text(rows, COLUMN_LABEL), reading->label) == 0)
		return add_launch(reading, rows);
	return add_confirming(reading, rows);
}

static int read_rows(struct zm_store *store, const char *label, const char *machine,
		     struct zm_nightly *nightly, struct zm_why *why)
{
	struct reading reading = { .nightly = nightly, .label = label };
	struct zm_rows rows = { 0 };
	char confirmation[512];
	int error = zm_db_walk(
		zm_store_db(store), why, &rows, all_rows,
		ZM_BIND(zm_text(label),
			zm_text(zm_change_confirmation(confirmation, sizeof(confirmation), label)),
			zm_int(ZM_STATUS_OK), zm_text(machine ? machine : "")));

	while (!error && zm_rows_next(&rows, why, &error))
		error = add_row(&reading, &rows);
	zm_rows_end(&rows);
	if (!error && nightly->nr)
		error = end_night(&reading);
	free(reading.launches);
	return error;
}

/* What tells the cells of one workload apart. */
static int name_cells(struct zm_nightly *nightly)
{
	struct zm_words *sets = calloc(nightly->nr + 1, sizeof(*sets));
	int error = sets ? 0 : -ENOMEM;

	for (size_t i = 0; i < nightly->nr && !error; i++)
		sets[i] = (struct zm_words){ .group = nightly->histories[i].workload,
					     .json = nightly->histories[i].cell };
	if (!error)
		error = zm_words_differing(sets, nightly->nr, &nightly->pool);
	for (size_t i = 0; i < nightly->nr && !error; i++)
		nightly->histories[i].words = sets[i].words;
	free(sets);
	return error;
}

/* --- what became of changes --- */

/* Those that count for a change: after the night on which it was seen, before the next change was. */
struct range {
	size_t first, nr;
};

static struct range confirming_of(const struct zm_nightly_history *history, size_t change)
{
	const struct zm_changes *changes = &history->changes;
	int64_t after = history->nights[changes->changes[change].seen].invocation;
	int64_t before = change + 1 < changes->nr
				 ? history->nights[changes->changes[change + 1].seen].invocation
				 : INT64_MAX;
	struct range range = { 0 };

	while (range.first < history->nr_confirming &&
	       history->confirming[range.first].invocation <= after)
		range.first++;
	while (range.first + range.nr < history->nr_confirming &&
	       history->confirming[range.first + range.nr].invocation < before)
		range.nr++;
	return range;
}

static int settle(struct zm_judge *judge, struct zm_nightly_history *history, size_t which)
{
	struct zm_change *change = &history->changes.changes[which];
	struct range range = confirming_of(history, which);
	size_t first = which ? history->changes.changes[which - 1].first : 0;
	double *values = calloc(range.nr + 1, sizeof(*values));
	int error;

	if (change->first - first > ZM_CHANGES_WINDOW)
		first = change->first - ZM_CHANGES_WINDOW;
	for (size_t i = 0; values && i < range.nr; i++)
		values[i] = history->confirming[range.first + i].value;
	error = !values    ? -ENOMEM
		: range.nr ? zm_change_settle(judge, change, history->values + first,
					      change->first - first, values, range.nr)
			   : 0;
	free(values);
	return error;
}

static int find_changes(struct zm_judge *judge, struct zm_nightly_history *history)
{
	int error;

	judge->is_share = history->is_share;
	error = zm_changes_find(judge, history->values, history->nr, &history->changes);
	for (size_t i = 0; i < history->changes.nr && !error; i++)
		error = settle(judge, history, i);
	return error;
}

int zm_nightly_read(struct zm_store *store, const char *label, const char *machine,
		    struct zm_judge *judge, struct zm_nightly *ret_nightly, struct zm_why *why)
{
	struct zm_nightly nightly = { 0 };
	int error = read_rows(store, label, machine, &nightly, why);

	if (!error)
		error = name_cells(&nightly);
	for (size_t i = 0; i < nightly.nr && !error; i++)
		error = find_changes(judge, &nightly.histories[i]);
	if (error) {
		zm_nightly_release(&nightly);
		return why && why->text[0] ? error : zm_why_errno(why, error, "the nights");
	}
	*ret_nightly = nightly;
	return 0;
}

void zm_nightly_release(struct zm_nightly *nightly)
{
	for (size_t i = 0; i < nightly->nr; i++) {
		free(nightly->histories[i].nights);
		free(nightly->histories[i].values);
		free(nightly->histories[i].confirming);
		zm_changes_release(&nightly->histories[i].changes);
	}
	free(nightly->histories);
	zm_pool_release(&nightly->pool);
	*nightly = (struct zm_nightly){ 0 };
}

/* --- questions --- */

bool zm_nightly_asks(const struct zm_nightly_history *history)
{
	size_t nr = history->changes.nr;

	return nr && history->changes.changes[nr - 1].state == ZM_CHANGE_ASKED &&
	       confirming_of(history, nr - 1).nr < ZM_NIGHTLY_CONFIRMING;
}

enum zm_verdict zm_nightly_direction(const struct zm_nightly_history *history,
				     const struct zm_change *change)
{
	bool is_more = change->nights.change > 0;

	if (history->better == ZM_BETTER_NEITHER)
		return ZM_VERDICT_CHANGED;
	return is_more == (history->better == ZM_BETTER_MORE) ? ZM_VERDICT_BETTER
							      : ZM_VERDICT_WORSE;
}

size_t zm_nightly_level(const struct zm_nightly_history *history)
{
	for (size_t i = history->changes.nr; i > 0; i--) {
		if (history->changes.changes[i - 1].state != ZM_CHANGE_WITHDRAWN)
			return history->changes.changes[i - 1].first;
	}
	return 0;
}

int64_t zm_nightly_confirmed_by(const struct zm_nightly_history *history, size_t change)
{
	struct range range = confirming_of(history, change);

	return range.nr ? history->confirming[range.first + range.nr - 1].invocation : 0;
}
