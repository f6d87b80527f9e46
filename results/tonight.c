/*
 * tonight: what one night says beside those before it.
 *
 *     invocation -> its runs: who, when, which failed -> each history that has it: value, usual, state -> sorted
 */
#include "results/tonight.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/db.h"
#include "results/json.h"
#include "results/query.h"
#include "results/stat.h"
#include "results/table.h"
#include "results/words.h"

static const char *const state_names[ZM_NR_TONIGHT_STATES] = {
	[ZM_TONIGHT_WORSE] = "regression",    [ZM_TONIGHT_CHANGED] = "changed",
	[ZM_TONIGHT_BETTER] = "improvement",  [ZM_TONIGHT_ASKED] = "not settled",
	[ZM_TONIGHT_WITHDRAWN] = "withdrawn", [ZM_TONIGHT_OUTLIER] = "outlier",
	[ZM_TONIGHT_NEW] = "too few nights",  [ZM_TONIGHT_USUAL] = "as usual",
};

const char *zm_tonight_state_name(enum zm_tonight_state state)
{
	return state_names[state];
}

/* --- the night's runs --- */

struct reading {
	struct zm_tonight *tonight;
	const struct zm_nightly *nightly;
	size_t nr_runs;
};

/* With its parameters, where a history of its cell says which tell it apart. */
static void title_of(char *buf, size_t size, const struct zm_nightly *nightly,
		     const struct zm_run_info *run)
{
	(void)snprintf(buf, size, "%s", run->workload);
	for (size_t i = 0; i < nightly->nr; i++) {
		const struct zm_nightly_history *history = &nightly->histories[i];

		if (!strcmp(history->workload, run->workload) &&
		    !strcmp(history->cell, run->cell)) {
			(void)zm_tonight_title(buf, size, history);
			return;
		}
	}
}

static int add_failure(const struct reading *reading, const struct zm_run_info *run)
{
	struct zm_tonight *tonight = reading->tonight;
	char title[512];
	int error = zm_array_grow((void **)&tonight->failures, &tonight->failures_capacity,
				  tonight->nr_failures, sizeof(*tonight->failures));

	if (error)
		return error;
	title_of(title, sizeof(title), reading->nightly, run);
	tonight->failures[tonight->nr_failures++] = (struct zm_tonight_failure){
		.title = zm_pool_text(&tonight->pool, title),
		.status = zm_status_name(run->status),
		.reason = zm_pool_text(&tonight->pool, run->reason ? run->reason : ""),
		.run = run->id,
	};
	return tonight->pool.error;
}

/* The newest comes first; the oldest says when the night began. */
static int add_run(void *context, const struct zm_run_info *run)
{
	struct reading *reading = context;
	struct zm_tonight *tonight = reading->tonight;

	if (reading->nr_runs++ == 0) {
		tonight->machine = zm_pool_text(&tonight->pool, run->machine);
		tonight->kernel = zm_pool_text(&tonight->pool, run->kernel);
		tonight->label = zm_pool_text(&tonight->pool, run->label ? run->label : "");
		tonight->command_line = zm_pool_text(&tonight->pool, run->command_line);
	}
	tonight->wall_ns = run->wall_ns;
	return run->status == ZM_STATUS_OK ? tonight->pool.error : add_failure(reading, run);
}

static int read_runs(struct zm_store *store, const struct zm_nightly *nightly,
		     struct zm_tonight *tonight, struct zm_why *why)
{
	const struct zm_run_filter filter = { .invocation = tonight->invocation, .status = -1 };
	struct reading reading = { .tonight = tonight, .nightly = nightly };
	int error = zm_query_runs(store, &filter, add_run, &reading, why);

	if (!error && reading.nr_runs == 0)
		error = zm_why_set(why, -ENODATA, "%s: has no run of this night",
				   zm_store_path(store));
	return error;
}

static int number_of(struct zm_store *store, const char *invocation, int64_t *ret_number,
		     struct zm_why *why)
{
	return zm_db_int(zm_store_db(store), why, "SELECT id FROM invocation WHERE uuid = ?1",
			 ZM_BIND(zm_text(invocation)), ret_number);
}

/* --- a row --- */

static bool is_outlier(const struct zm_nightly_history *history, size_t night)
{
	for (size_t i = 0; i < history->changes.nr_outliers; i++) {
		if (history->changes.outliers[i] == night)
			return true;
	}
	return false;
}

/* The median of the good nights before it. */
static int find_usual(struct zm_tonight_row *row, size_t night)
{
	const struct zm_nightly_history *history = row->history;
	size_t level = zm_nightly_level(history);
	double good[ZM_TONIGHT_NIGHTS];

	for (size_t i = night; i > level && row->nr_usual < ZM_TONIGHT_NIGHTS; i--) {
		if (!is_outlier(history, i - 1))
			good[row->nr_usual++] = history->values[i - 1];
	}
	row->usual = zm_stat_median(good, row->nr_usual);
	row->difference = row->value - row->usual;
	if (!history->is_share)
		row->difference /= fabs(row->usual);
	return row->nr_usual && isnan(row->usual) ? -ENOMEM : 0;
}

static enum zm_tonight_state state_of_change(const struct zm_nightly_history *history,
					     const struct zm_change *change)
{
	enum zm_verdict direction = zm_nightly_direction(history, change);

	if (change->state == ZM_CHANGE_ASKED)
		return ZM_TONIGHT_ASKED;
	if (change->state == ZM_CHANGE_WITHDRAWN)
		return ZM_TONIGHT_WITHDRAWN;
	if (direction == ZM_VERDICT_WORSE)
		return ZM_TONIGHT_WORSE;
	return direction == ZM_VERDICT_BETTER ? ZM_TONIGHT_BETTER : ZM_TONIGHT_CHANGED;
}

/* The last change, when there is something about it that was not told. */
static const struct zm_change *change_to_tell(const struct zm_nightly_history *history,
					      int64_t since)
{
	size_t nr = history->changes.nr;
	const struct zm_change *change = nr ? &history->changes.changes[nr - 1] : NULL;

	if (!change)
		return NULL;
	return change->state == ZM_CHANGE_ASKED || zm_nightly_confirmed_by(history, nr - 1) > since
		       ? change
		       : NULL;
}

static int fill_row(struct zm_tonight_row *row, size_t night, int64_t since)
{
	const struct zm_nightly_history *history = row->history;

	row->value = history->values[night];
	row->change = change_to_tell(history, since);
	if (row->change)
		row->state = state_of_change(history, row->change);
	else if (is_outlier(history, night))
		row->state = ZM_TONIGHT_OUTLIER;
	else if (history->nr < ZM_TONIGHT_LEAST)
		row->state = ZM_TONIGHT_NEW;
	else
		row->state = ZM_TONIGHT_USUAL;
	return find_usual(row, night);
}

static int by_gravity(const void *a, const void *b)
{
	const struct zm_tonight_row *x = a, *y = b;

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return (x->history > y->history) - (x->history < y->history);
}

/* The night before, on that clock. */
static void look_at_clock(struct zm_tonight *tonight, const struct zm_nightly_history *history,
			  size_t night)
{
	double behind_s;

	if (night == 0)
		return;
	behind_s = ((double)history->nights[night - 1].wall_ns -
		    (double)history->nights[night].wall_ns) /
		   1e9;
	tonight->behind_s = fmax(tonight->behind_s, behind_s);
}

static int add_rows(struct zm_tonight *tonight, const struct zm_nightly *nightly, int64_t number,
		    int64_t since)
{
	int error = 0;

	tonight->rows = calloc(nightly->nr + 1, sizeof(*tonight->rows));
	if (!tonight->rows)
		return -ENOMEM;
	for (size_t i = 0; i < nightly->nr && !error; i++) {
		const struct zm_nightly_history *history = &nightly->histories[i];
		struct zm_tonight_row row = { .history = history };

		if (history->nr == 0 || history->nights[history->nr - 1].invocation != number)
			continue;
		error = fill_row(&row, history->nr - 1, since);
		look_at_clock(tonight, history, history->nr - 1);
		tonight->nr_of[row.state]++;
		tonight->rows[tonight->nr_rows++] = row;
	}
	if (tonight->nr_rows)
		qsort(tonight->rows, tonight->nr_rows, sizeof(*tonight->rows), by_gravity);
	return error;
}

static int find_last_told(struct zm_store *store, struct zm_tonight *tonight, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error =
		zm_db_query(zm_store_db(store), why, &rows,
			    "SELECT uuid FROM invocation ORDER BY id DESC LIMIT 1", ZM_BIND_NONE);

	if (!error && zm_rows_next(&rows, why, &error))
		tonight->last_told = zm_pool_text(&tonight->pool, zm_rows_text(&rows, 0));
	zm_rows_end(&rows);
	return error ? error : tonight->pool.error;
}

/* Which night it is, and what was told before it. */
static int find_numbers(struct zm_store *store, const char *invocation, const char *since,
			int64_t *ret_number, int64_t *ret_since, struct zm_why *why)
{
	int error = number_of(store, invocation, ret_number, why);

	if (error || !since)
		*ret_since = *ret_number;
	else
		error = number_of(store, since, ret_since, why);
	if (error == -ENOENT && since) {
		*ret_since = *ret_number;
		error = 0;
	}
	return error;
}

int zm_tonight_make(struct zm_store *store, const struct zm_nightly *nightly,
		    const char *invocation, const char *since, struct zm_tonight *ret_tonight,
		    struct zm_why *why)
{
	struct zm_tonight tonight = { 0 };
	int64_t number = 0, told = 0;
	int error;

	tonight.invocation = zm_pool_text(&tonight.pool, invocation);
	error = read_runs(store, nightly, &tonight, why);
	if (!error)
		error = find_numbers(store, invocation, since, &number, &told, why);
	if (!error)
		error = find_last_told(store, &tonight, why);
	if (!error)
		error = add_rows(&tonight, nightly, number, told);
	if (error) {
		zm_tonight_release(&tonight);
		return why && why->text[0] ? error : zm_why_errno(why, error, "the night");
	}
	*ret_tonight = tonight;
	return 0;
}

void zm_tonight_release(struct zm_tonight *tonight)
{
	free(tonight->rows);
	free(tonight->failures);
	zm_pool_release(&tonight->pool);
	*tonight = (struct zm_tonight){ 0 };
}

/* --- words --- */

char *zm_tonight_difference(char *buf, size_t size, const struct zm_nightly_history *history,
			    double difference)
{
	double percent = difference * 100;

	buf[0] = '\0';
	if (isnan(difference))
		return buf;
	if (history->is_share)
		(void)snprintf(buf, size, "%+.2f points", difference);
	else if (isinf(percent))
		(void)snprintf(buf, size, "%cinf%%", percent > 0 ? '+' : '-');
	else
		(void)snprintf(buf, size, "%+.*f%%", fabs(percent) < 10 ? 2 : 1, percent);
	return buf;
}

char *zm_tonight_title(char *buf, size_t size, const struct zm_nightly_history *history)
{
	(void)snprintf(buf, size, "%s%s%s", history->workload, history->words[0] ? " " : "",
		       history->words);
	return buf;
}

/* A change is a ratio or a difference; of what is no percentage a difference is said as a share. */
static double share_of(const struct zm_nightly_history *history,
		       const struct zm_judgement *judgement, double change)
{
	return judgement->is_ratio || history->is_share ? change : change / fabs(judgement->base);
}

static void print_judgement(char *buf, size_t size, const struct zm_nightly_history *history,
			    const struct zm_judgement *judgement)
{
	char change[48], low[48], high[48];

	(void)zm_tonight_difference(change, sizeof(change), history,
				    share_of(history, judgement, judgement->change));
	(void)zm_tonight_difference(low, sizeof(low), history,
				    share_of(history, judgement, judgement->low));
	(void)zm_tonight_difference(high, sizeof(high), history,
				    share_of(history, judgement, judgement->high));
	(void)snprintf(buf, size, "%s%s%s%s%s%s", change, *low ? " (" : "", low, *low ? " to " : "",
		       high, *low ? ")" : "");
}

char *zm_tonight_sentence(char *buf, size_t size, const struct zm_tonight_row *row)
{
	const struct zm_nightly_history *history = row->history;
	const struct zm_change *change = row->change;
	char found[192], again[192] = "", before[48], after[48], when[32];

	buf[0] = '\0';
	if (!change)
		return buf;
	print_judgement(found, sizeof(found), history, &change->nights);
	if (change->confirmation.nr_new)
		print_judgement(again, sizeof(again), history, &change->confirmation);
	(void)snprintf(
		buf, size, "%s to %s %s, %s, from the night of %s on (run %" PRIu64 "); %s%s%s",
		zm_table_number(before, sizeof(before), change->nights.base),
		zm_table_number(after, sizeof(after), change->nights.new), history->unit, found,
		zm_json_time_text(when, sizeof(when), history->nights[change->first].wall_ns),
		history->nights[change->first].run,
		change->state == ZM_CHANGE_CONFIRMED   ? "confirmed"
		: change->state == ZM_CHANGE_WITHDRAWN ? "withdrawn"
		: *again                               ? "its confirmation could not tell"
						       : "it asks for its confirmation run",
		*again ? ", by runs of their own: " : "", again);
	return buf;
}

char *zm_tonight_counts(char *buf, size_t size, const struct zm_tonight *tonight)
{
	size_t length = 0;

	for (size_t i = 0; i < ZM_NR_TONIGHT_STATES && length < size; i++) {
		if (tonight->nr_of[i])
			length += (size_t)snprintf(buf + length, size - length, "%s%zu %s",
						   length ? ", " : "", tonight->nr_of[i],
						   state_names[i]);
	}
	if (length == 0)
		length = (size_t)snprintf(buf, size, "no figure");
	if (tonight->nr_failures && length < size)
		(void)snprintf(buf + length, size - length, ", %zu run%s without a result",
			       tonight->nr_failures, tonight->nr_failures == 1 ? "" : "s");
	return buf;
}
