/*
 * import: the runs of another store, taken into this one.
 *
 *     each run over there: is it here? -> its rows -> its series as they are packed (or its chunks, which
 *     are then put together here)
 *     all comparisons of a kernel with itself
 *
 * Into a file some dozens of runs make a transaction, so that a long import is neither a sync per run nor
 * one log as large as the other store. Into a server each run is one, its names known before.
 */
#include "results/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/db.h"
#include "results/finish.h"
#include "results/intern.h"
#include "results/noise.h"
#include "results/query.h"
#include "results/rows.h"
#include "results/runrow.h"
#include "results/runset.h"

#define RUNS_AT_ONCE 50
#define TRIES        5 /* where another's transaction came between */

struct importing {
	struct zm_db *into;
	struct zm_store *from;
	struct zm_runset *taken;
	struct zm_import *counts;
	struct zm_why *why;
	struct renumbered {
		int64_t there, here;
	} * bases; /* of the run under way */
	size_t nr_bases, capacity;
	size_t nr_chunks; /* the same */
};

static int add_rows(const struct zm_run_view *view, struct zm_row_list *list)
{
	int error = 0;

	for (size_t i = 0; i < view->nr_phases && !error; i++)
		error = zm_row_list_add(
			list, &(struct zm_row){ .kind = ZM_ROW_PHASE,
						.integers = { (int64_t)view->phases[i].phase,
							      (int64_t)view->phases[i].t0_ns,
							      (int64_t)view->phases[i].t1_ns } });
	for (size_t i = 0; i < view->nr_tasks && !error; i++)
		error = zm_row_list_add(
			list, &(struct zm_row){
				      .kind = ZM_ROW_TASK,
				      .integers = { view->tasks[i].index, view->tasks[i].pid,
						    view->tasks[i].cpu, view->tasks[i].node } });
	for (size_t i = 0; i < view->nr_notes && !error; i++)
		error = zm_row_list_add(list, &(struct zm_row){ .kind = ZM_ROW_NOTE,
								.texts = { view->notes[i].kind,
									   view->notes[i].text } });
	for (size_t i = 0; i < view->nr_absents && !error; i++)
		error = zm_row_list_add(list,
					&(struct zm_row){ .kind = ZM_ROW_ABSENT,
							  .texts = { view->absents[i].kind,
								     view->absents[i].text } });
	return error;
}

static int add_results(const struct zm_run_view *view, struct zm_row_list *list)
{
	int error = 0;

	for (size_t i = 0; i < view->nr_results && !error; i++) {
		const struct zm_result *result = &view->results[i];

		error = zm_row_list_add(
			list, &(struct zm_row){
				      .kind = ZM_ROW_RESULT,
				      .integers = { result->is_primary,
						    (int64_t)result->interval_ns, result->better },
				      .reals = { result->value, result->count },
				      .texts = { result->metric, result->unit, result->source } });
	}
	return error;
}

static int copy_rows(struct importing *importing, const struct zm_run_view *view, int64_t run)
{
	struct zm_row_list list = { .is_copy = true };
	int error = add_rows(view, &list);

	if (!error)
		error = add_results(view, &list);
	if (!error)
		error = zm_row_list_write(&list, importing->into, run, importing->why);
	zm_row_list_release(&list);
	return error;
}

static int note_base(struct importing *importing, int64_t there, int64_t here)
{
	int error = zm_array_grow((void **)&importing->bases, &importing->capacity,
				  importing->nr_bases, sizeof(*importing->bases));

	if (!error)
		importing->bases[importing->nr_bases++] = (struct renumbered){ there, here };
	return error;
}

static int copy_base(struct importing *importing, const struct zm_rows *rows, int64_t run)
{
	size_t size;
	const void *data = zm_rows_blob(rows, 2, &size);
	int64_t here;
	int error = zm_db_int(
		importing->into, importing->why,
		"INSERT INTO timebase (run, nr, data) VALUES (?1, ?2, ?3) RETURNING id",
		ZM_BIND(zm_int(run), zm_int(zm_rows_int(rows, 1)), zm_blob(data, size)), &here);

	return error ? error : note_base(importing, zm_rows_int(rows, 0), here);
}

static bool find_base(const struct importing *importing, int64_t there, int64_t *ret_here)
{
	for (size_t i = importing->nr_bases; i-- > 0;) {
		if (importing->bases[i].there == there) {
			*ret_here = importing->bases[i].here;
			return true;
		}
	}
	return false;
}

/* A series whose time base is not there is damaged, and stays behind. */
static int copy_series(struct importing *importing, const struct zm_rows *rows, int64_t run)
{
	int64_t metric = 0, source = 0, base;
	size_t size;
	const void *data = zm_rows_blob(rows, 9, &size);
	const char *name = zm_rows_text(rows, 0), *unit = zm_rows_text(rows, 1);
	int error;

	if (!find_base(importing, zm_rows_int(rows, 8), &base) || !name || !unit)
		return 0;
	error = zm_intern_metric(importing->into, name, unit, (int)zm_rows_int(rows, 2),
				 (int)zm_rows_int(rows, 3), &metric, importing->why);
	if (!error)
		error = zm_intern_source(importing->into, zm_rows_text(rows, 4), &source,
					 importing->why);
	if (error)
		return error;
	return zm_db_send(importing->into, importing->why,
			  "INSERT INTO series (run, metric, source, scope, scope_id, is_float,"
			  " timebase, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
			  ZM_BIND(zm_int(run), zm_int(metric), zm_int(source),
				  zm_int(zm_rows_int(rows, 5)), zm_int(zm_rows_int(rows, 6)),
				  zm_int(zm_rows_int(rows, 7)), zm_int(base), zm_blob(data, size)));
}

static int copy_chunk(struct importing *importing, const struct zm_rows *rows, int64_t run)
{
	size_t size;
	const void *data = zm_rows_blob(rows, 1, &size);

	importing->nr_chunks++;
	return zm_db_send(importing->into, importing->why,
			  "INSERT INTO chunk (run, seq, data) VALUES (?1, ?2, ?3)",
			  ZM_BIND(zm_int(run), zm_int(zm_rows_int(rows, 0)), zm_blob(data, size)));
}

static int copy_stacks(struct importing *importing, const struct zm_rows *rows, int64_t run)
{
	size_t size;
	const void *data = zm_rows_blob(rows, 4, &size);
	int64_t source = 0;
	int error =
		zm_intern_source(importing->into, zm_rows_text(rows, 1), &source, importing->why);

	if (error)
		return error;
	return zm_db_send(importing->into, importing->why,
			  "INSERT INTO stacks (run, seq, source, event, unit, data)"
			  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
			  ZM_BIND(zm_int(run), zm_int(zm_rows_int(rows, 0)), zm_int(source),
				  zm_text(zm_rows_text(rows, 2)), zm_text(zm_rows_text(rows, 3)),
				  zm_blob(data, size)));
}

static int copy_each(struct importing *importing, const char *sql, int64_t there, int64_t here,
		     int (*copy)(struct importing *, const struct zm_rows *, int64_t))
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(zm_store_db(importing->from), importing->why, &rows, sql,
				ZM_BIND(zm_int(there)));

	while (!error && zm_rows_next(&rows, importing->why, &error))
		error = copy(importing, &rows, here);
	zm_rows_end(&rows);
	return error;
}

static int copy_packed(struct importing *importing, int64_t there, int64_t here)
{
	int error;

	importing->nr_bases = 0;
	importing->nr_chunks = 0;
	error = copy_each(importing, "SELECT id, nr, data FROM timebase WHERE run = ?1", there,
			  here, copy_base);
	if (!error)
		error = copy_each(
			importing,
			"SELECT metric.name, metric.unit, metric.kind, metric.better,"
			" source.name, scope, scope_id, is_float, timebase, data FROM series"
			" JOIN metric ON metric.id = series.metric"
			" JOIN source ON source.id = series.source WHERE series.run = ?1"
			" ORDER BY series.id",
			there, here, copy_series);
	if (!error)
		error = copy_each(importing,
				  "SELECT seq, data FROM chunk WHERE run = ?1 ORDER BY seq", there,
				  here, copy_chunk);
	if (!error)
		error = copy_each(importing,
				  "SELECT seq, source.name, event, unit, data FROM stacks"
				  " JOIN source ON source.id = stacks.source"
				  " WHERE stacks.run = ?1 ORDER BY seq",
				  there, here, copy_stacks);
	if (!error && importing->nr_chunks)
		error = zm_finish_run(importing->into, here, importing->why);
	return error;
}

static struct zm_run_record record_of(const struct zm_run_view *view)
{
	const struct zm_run_info *info = &view->info;

	return (struct zm_run_record){
		.invocation = info->invocation,
		.command_line = info->command_line,
		.label = info->label,
		.workload = info->workload,
		.params = info->params,
		.cell = info->cell,
		.repeat = info->repeat,
		.status = info->status,
		.reason = info->reason,
		.nr_tasks = info->nr_tasks,
		.kind = info->kind,
		.inventory = view->inventory,
		.machine_id = info->machine,
		.boot_id = info->boot,
		.kernel = info->kernel,
		.version = info->version,
		.uuid = info->uuid,
		.wall_ns = info->wall_ns,
		.start_ns = info->start_ns,
	};
}

static int copy_run(struct importing *importing, const struct zm_run_view *view)
{
	const struct zm_run_record record = record_of(view);
	int64_t run = 0;
	int error = zm_runrow_insert(importing->into, &record, NULL, &run, importing->why);

	if (!error)
		error = copy_rows(importing, view, run);
	return error ? error : copy_packed(importing, (int64_t)view->info.id, run);
}

enum meeting {
	STAYS_AWAY, /* it is here already, or still under way over there */
	IS_NEW,
	REPLACES, /* the one that is here did not end well; this one has */
};

static int remove_run(struct importing *importing, int64_t run)
{
	return zm_db_run(importing->into, importing->why, "DELETE FROM run WHERE id = ?1",
			 ZM_BIND(zm_int(run)));
}

/* Makes room for a run that replaces the one that is here. */
static int meet(struct importing *importing, const struct zm_run_info *info,
		enum meeting *ret_meeting)
{
	struct zm_rows rows = { 0 };
	int64_t run = 0, status = 0;
	int error = zm_db_query(importing->into, importing->why, &rows,
				"SELECT id, status FROM run WHERE uuid = ?1",
				ZM_BIND(zm_text(info->uuid)));

	*ret_meeting = IS_NEW;
	if (!error && zm_rows_next(&rows, importing->why, &error)) {
		*ret_meeting = STAYS_AWAY;
		run = zm_rows_int(&rows, 0);
		status = zm_rows_int(&rows, 1);
	}
	zm_rows_end(&rows);
	if (error || *ret_meeting == IS_NEW)
		return error;
	if (status != ZM_STATUS_INTERRUPTED || info->status == ZM_STATUS_INTERRUPTED)
		return 0;
	*ret_meeting = REPLACES;
	return remove_run(importing, run);
}

static int count(struct importing *importing, uint64_t id, enum meeting meeting)
{
	importing->counts->nr_new += meeting == IS_NEW;
	importing->counts->nr_replaced += meeting == REPLACES;
	importing->counts->nr_there += meeting == STAYS_AWAY;
	return importing->taken ? zm_runset_add(importing->taken, id) : 0;
}

static int take_run(struct importing *importing, const struct zm_run_view *view,
		    enum meeting *ret_meeting)
{
	int error = meet(importing, &view->info, ret_meeting);

	return error || *ret_meeting == STAYS_AWAY ? error : copy_run(importing, view);
}

/* --- into a file --- */

static int import_run(struct importing *importing, uint64_t id)
{
	struct zm_run_view *view = NULL;
	enum meeting meeting = STAYS_AWAY;
	int error = zm_query_run(importing->from, id, &view, importing->why);

	if (error)
		return error;
	if (view->info.status == ZM_STATUS_RUNNING) {
		importing->counts->nr_under_way++;
		zm_run_view_free(view);
		return 0;
	}
	error = take_run(importing, view, &meeting);
	if (!error)
		error = count(importing, id, meeting);
	zm_run_view_free(view);
	return error;
}

/* The oldest first, so that numbers here go up with time, too. */
static int import_some(struct importing *importing, const struct zm_runset *runs, size_t from)
{
	const struct zm_import before = *importing->counts;
	size_t nr_before = importing->taken ? importing->taken->nr : 0;
	int error = zm_db_begin(importing->into, importing->why);

	if (error)
		return error;
	for (size_t i = from; i < runs->nr && i < from + RUNS_AT_ONCE && !error; i++)
		error = import_run(importing, runs->runs[runs->nr - 1 - i]);
	if (error)
		zm_db_rollback(importing->into);
	else
		error = zm_db_commit(importing->into, importing->why);
	if (error)
		*importing->counts = before;
	if (error && importing->taken)
		importing->taken->nr = nr_before;
	return error;
}

/* --- into a server --- */

static int know_metric(struct importing *importing, const struct zm_rows *rows, int64_t run)
{
	int64_t number;
	int error = zm_intern_metric(importing->into, zm_rows_text(rows, 0), zm_rows_text(rows, 1),
				     (int)zm_rows_int(rows, 2), (int)zm_rows_int(rows, 3), &number,
				     importing->why);

	(void)run;
	return error ? error
		     : zm_intern_source(importing->into, zm_rows_text(rows, 4), &number,
					importing->why);
}

static int know_source(struct importing *importing, const struct zm_rows *rows, int64_t run)
{
	int64_t number;

	(void)run;
	return zm_intern_source(importing->into, zm_rows_text(rows, 0), &number, importing->why);
}

/* Outside of the transaction, so that no other writer waits for this run to learn a name. */
static int know_names(struct importing *importing, const struct zm_run_view *view)
{
	static const char *const metrics[] = {
		"SELECT metric.name, metric.unit, metric.kind, metric.better, source.name"
		" FROM result JOIN metric ON metric.id = result.metric"
		" JOIN source ON source.id = result.source WHERE result.run = ?1",
		"SELECT DISTINCT metric.name, metric.unit, metric.kind, metric.better, source.name"
		" FROM series JOIN metric ON metric.id = series.metric"
		" JOIN source ON source.id = series.source WHERE series.run = ?1",
	};
	const struct zm_run_record record = record_of(view);
	int64_t run = (int64_t)view->info.id;
	int error = zm_runrow_intern(importing->into, &record, importing->why);

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]) && !error; i++)
		error = copy_each(importing, metrics[i], run, 0, know_metric);
	if (!error)
		error = copy_each(importing,
				  "SELECT source.name FROM stacks"
				  " JOIN source ON source.id = stacks.source WHERE stacks.run = ?1",
				  run, 0, know_source);
	return error;
}

static int try_alone(struct importing *importing, const struct zm_run_view *view,
		     enum meeting *ret_meeting)
{
	int error = zm_db_begin(importing->into, importing->why);

	if (error)
		return error;
	error = take_run(importing, view, ret_meeting);
	if (!error)
		return zm_db_commit(importing->into, importing->why);
	zm_db_rollback(importing->into);
	return error;
}

static int send_view(struct importing *importing, const struct zm_run_view *view)
{
	enum meeting meeting = STAYS_AWAY;
	int error = know_names(importing, view);

	if (error)
		return error;
	error = -EAGAIN;
	for (int i = 0; i < TRIES && (error == -EAGAIN || error == -EEXIST); i++)
		error = try_alone(importing, view, &meeting);
	return error ? error : count(importing, view->info.id, meeting);
}

static int import_alone(struct importing *importing, uint64_t id)
{
	struct zm_run_view *view = NULL;
	int error = zm_query_run(importing->from, id, &view, importing->why);

	if (error)
		return error;
	if (view->info.status == ZM_STATUS_RUNNING)
		importing->counts->nr_under_way++;
	else
		error = send_view(importing, view);
	zm_run_view_free(view);
	return error;
}

/* Of this run only: the next one may come all the same. */
static bool is_of_the_run(int error)
{
	return error == -E2BIG || error == -EFBIG || error == -EILSEQ;
}

static int import_each_alone(struct importing *importing, const struct zm_runset *runs)
{
	struct zm_why *why = importing->why, later = { "" };
	int first = 0, error = 0;

	for (size_t i = 0; i < runs->nr && !error; i++) {
		error = import_alone(importing, runs->runs[runs->nr - 1 - i]);
		if (!is_of_the_run(error))
			continue;
		first = first ? first : error;
		error = 0;
		importing->why = &later; /* the first one's sentence stays */
	}
	if (error && first && why)
		*why = later;
	return error ? error : first;
}

/* --- both --- */

static int import_all(struct importing *importing, const struct zm_runset *runs)
{
	int error = 0;

	if (zm_db_is_shared(importing->into))
		return import_each_alone(importing, runs);
	for (size_t i = 0; i < runs->nr && !error; i += RUNS_AT_ONCE)
		error = import_some(importing, runs, i);
	return error;
}

int zm_import_taking(struct zm_store *into, struct zm_store *from, struct zm_runset *taken,
		     struct zm_import *ret_import, struct zm_why *why)
{
	const struct zm_run_filter all = { .status = -1 };
	struct zm_import counts = { 0 };
	struct importing importing = {
		.into = zm_store_db(into),
		.from = from,
		.taken = taken,
		.counts = &counts,
		.why = why,
	};
	struct zm_runset runs = { 0 };
	int error = zm_query_begin(from, why);

	if (!error)
		error = zm_query_runs(from, &all, zm_runset_add_info, &runs, why);
	if (!error)
		error = import_all(&importing, &runs);
	zm_query_end(from);
	free(importing.bases);
	zm_runset_release(&runs);
	*ret_import = counts;
	return error == -ENOMEM ? zm_why_errno(why, error, "import") : error;
}

int zm_import_store(struct zm_store *into, struct zm_store *from, struct zm_import *ret_import,
		    struct zm_why *why)
{
	int error = zm_import_taking(into, from, NULL, ret_import, why);

	return error ? error : zm_noise_import(into, from, &ret_import->nr_floors, why);
}
