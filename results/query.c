/* query: reading what is in a store: the history, one run. */
#include "results/query.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/runset.h"
#include "workloads/base/owner.h"
#include "workloads/base/units.h"

int zm_query_begin(struct zm_store *store, struct zm_why *why)
{
	return zm_db_begin_read(zm_store_db(store), why);
}

void zm_query_end(struct zm_store *store)
{
	zm_db_end_read(zm_store_db(store));
}

#define RUN_COLUMNS                                                                                \
	"SELECT run.id, run.uuid, invocation.uuid, invocation.command_line, invocation.label,"     \
	" workload.name, params.json, cell.json, run.repeat, run.status, run.reason,"              \
	" run.nr_tasks, run.kind, run.version, machine.key, boot.key, boot.kernel, run.wall_ns,"   \
	" run.start_ns, run.owner_pid, run.owner_start, run.owner_space, run.owner_boot,"          \
	" run.params FROM run"                                                                     \
	" JOIN invocation ON invocation.id = run.invocation"                                       \
	" JOIN cell ON cell.id = run.cell"                                                         \
	" JOIN workload ON workload.id = cell.workload"                                            \
	" JOIN params ON params.id = run.params"                                                   \
	" JOIN boot ON boot.id = run.boot"                                                         \
	" JOIN machine ON machine.id = boot.machine"

static const char died[] = "its runner died";

/* A running run whose owner is dead will be closed by whoever writes next; it is shown so already. */
static void see_death(const struct zm_rows *rows, struct zm_run_info *info)
{
	struct zm_owner owner = { .pid = (uint64_t)zm_rows_int(rows, 19),
				  .start_ticks = (uint64_t)zm_rows_int(rows, 20),
				  .pid_ns = (uint64_t)zm_rows_int(rows, 21) };
	const char *boot = zm_rows_text(rows, 22);

	if (info->status != ZM_STATUS_RUNNING || zm_db_is_shared(rows->db))
		return;
	(void)snprintf(owner.boot_id, sizeof(owner.boot_id), "%s", boot ? boot : "");
	if (zm_owner_is_dead(&owner)) {
		info->status = ZM_STATUS_INTERRUPTED;
		info->reason = died;
	}
}

static const char *text_or_empty(const struct zm_rows *rows, int column)
{
	const char *text = zm_rows_text(rows, column);

	return text ? text : "";
}

static void read_info(const struct zm_rows *rows, struct zm_run_info *ret_info)
{
	*ret_info = (struct zm_run_info){
		.id = (uint64_t)zm_rows_int(rows, 0),
		.uuid = text_or_empty(rows, 1),
		.invocation = text_or_empty(rows, 2),
		.command_line = text_or_empty(rows, 3),
		.label = zm_rows_text(rows, 4),
		.workload = text_or_empty(rows, 5),
		.params = text_or_empty(rows, 6),
		.cell = text_or_empty(rows, 7),
		.repeat = (unsigned int)zm_rows_int(rows, 8),
		.status = (enum zm_status)zm_rows_int(rows, 9),
		.reason = zm_rows_text(rows, 10),
		.nr_tasks = (unsigned int)zm_rows_int(rows, 11),
		.kind = text_or_empty(rows, 12),
		.version = text_or_empty(rows, 13),
		.machine = text_or_empty(rows, 14),
		.boot = text_or_empty(rows, 15),
		.kernel = text_or_empty(rows, 16),
		.wall_ns = (uint64_t)zm_rows_int(rows, 17),
		.start_ns = (uint64_t)zm_rows_int(rows, 18),
		.params_number = zm_rows_int(rows, 23),
	};
	see_death(rows, ret_info);
}

static bool matches(const char *pattern, const char *text)
{
	return !pattern || (text && fnmatch(pattern, text, 0) == 0);
}

static bool is_wanted(const struct zm_run_filter *filter, const struct zm_run_info *run)
{
	return matches(filter->workload, run->workload) && matches(filter->label, run->label) &&
	       matches(filter->kernel, run->kernel) &&
	       (filter->status < 0 || filter->status == (int)run->status) &&
	       (!filter->invocation || !strcmp(filter->invocation, run->invocation)) &&
	       (!filter->cell || !strcmp(filter->cell, run->cell));
}

void zm_run_info_keep(struct zm_pool *pool, struct zm_run_info *info)
{
	const char **texts[] = {
		&info->uuid,     &info->invocation, &info->command_line, &info->label,
		&info->workload, &info->params,     &info->cell,         &info->reason,
		&info->kind,     &info->version,    &info->machine,      &info->boot,
		&info->kernel,
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = zm_pool_text(pool, *texts[i]);
}

int zm_query_runs(struct zm_store *store, const struct zm_run_filter *filter,
		  int (*each)(void *context, const struct zm_run_info *run), void *context,
		  struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	uint64_t nr = 0;
	int error;

	if (filter->invocation)
		error = zm_db_walk(
			zm_store_db(store), why, &rows,
			RUN_COLUMNS " WHERE run.invocation ="
				    " (SELECT id FROM invocation WHERE uuid = ?1)"
				    " AND run.wall_ns >= ?2"
				    " ORDER BY run.wall_ns DESC, run.id DESC",
			ZM_BIND(zm_text(filter->invocation), zm_int((int64_t)filter->since_ns)));
	else
		error = zm_db_walk(zm_store_db(store), why, &rows,
				   RUN_COLUMNS " WHERE run.wall_ns >= ?1"
					       " ORDER BY run.wall_ns DESC, run.id DESC",
				   ZM_BIND(zm_int((int64_t)filter->since_ns)));
	while (!error && (!filter->limit || nr < filter->limit) &&
	       zm_rows_next(&rows, why, &error)) {
		struct zm_run_info info;

		read_info(&rows, &info);
		if (!is_wanted(filter, &info))
			continue;
		nr++;
		error = each(context, &info);
	}
	zm_rows_end(&rows);
	return error;
}

int zm_query_nr_runs(struct zm_store *store, uint64_t *ret_nr, struct zm_why *why)
{
	int64_t nr;
	int error =
		zm_db_int(zm_store_db(store), why, "SELECT count(*) FROM run", ZM_BIND_NONE, &nr);

	if (!error)
		*ret_nr = (uint64_t)nr;
	return error;
}

static bool is_uuid_start(const char *word)
{
	size_t length = strlen(word);

	if (length < 4 || length > 36)
		return false;
	return strspn(word, "0123456789abcdef-") == length;
}

static int find_uuid(struct zm_db *db, const char *word, int64_t *ret_run, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	char end[40];
	int error;

	/* 'g' is behind every digit and '-'. */
	(void)snprintf(end, sizeof(end), "%sg", word);
	error = zm_db_query(db, why, &rows,
			    "SELECT id FROM run WHERE uuid >= ?1 AND uuid < ?2 LIMIT 2",
			    ZM_BIND(zm_text(word), zm_text(end)));
	if (!error) {
		if (zm_rows_next(&rows, why, &error))
			*ret_run = zm_rows_int(&rows, 0);
		else
			error = error ? error : -ENOENT;
	}
	if (!error && zm_rows_next(&rows, why, &error))
		error = zm_why_set(why, -EEXIST,
				   "%s: several runs' names begin so; give more letters", word);
	zm_rows_end(&rows);
	return error;
}

/* One run by number, UUID or "last". */
static int find_one(struct zm_db *db, const char *word, int64_t *ret_run, struct zm_why *why)
{
	uint64_t number;
	int error = -ENOENT;

	if (zm_units_parse_u64(word, &number) == 0 && isdigit((unsigned char)word[0]) &&
	    number <= INT64_MAX)
		error = zm_db_int(db, why, "SELECT id FROM run WHERE id = ?1",
				  ZM_BIND(zm_int((int64_t)number)), ret_run);
	if (error == -ENOENT && is_uuid_start(word))
		error = find_uuid(db, word, ret_run, why);
	if (error == -ENOENT && !strcmp(word, "last"))
		error = zm_db_int(db, why,
				  "SELECT id FROM run ORDER BY wall_ns DESC, id DESC LIMIT 1",
				  ZM_BIND_NONE, ret_run);
	return error;
}

static int not_found(struct zm_store *store, const char *word, struct zm_why *why)
{
	if (!strcmp(word, "last"))
		return zm_why_set(why, -ENOENT, "%s: no run in it yet; `zonemark run` makes one",
				  zm_store_path(store));
	return zm_why_set(why, -ENOENT,
			  "%s: no run has this number, name or label; `zonemark runs` lists them",
			  word);
}

int zm_query_find(struct zm_store *store, const char *word, uint64_t *ret_run, struct zm_why *why)
{
	struct zm_db *db = zm_store_db(store);
	int64_t run;
	int error = find_one(db, word, &run, why);

	if (error == -ENOENT)
		error = zm_db_int(db, why,
				  "SELECT run.id FROM run"
				  " JOIN invocation ON invocation.id = run.invocation"
				  " WHERE invocation.label = ?1"
				  " ORDER BY run.wall_ns DESC, run.id DESC LIMIT 1",
				  ZM_BIND(zm_text(word)), &run);
	if (error == -ENOENT)
		return not_found(store, word, why);
	if (!error)
		*ret_run = (uint64_t)run;
	return error;
}

static int add_labelled(struct zm_db *db, const char *label, struct zm_runset *runs,
			struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(db, why, &rows,
				"SELECT run.id FROM run"
				" JOIN invocation ON invocation.id = run.invocation"
				" WHERE invocation.label = ?1 ORDER BY run.wall_ns, run.id",
				ZM_BIND(zm_text(label)));

	while (!error && zm_rows_next(&rows, why, &error))
		error = zm_runset_add(runs, (uint64_t)zm_rows_int(&rows, 0));
	zm_rows_end(&rows);
	return error;
}

int zm_query_resolve(struct zm_store *store, const char *word, struct zm_runset *runs,
		     struct zm_why *why)
{
	struct zm_db *db = zm_store_db(store);
	size_t before = runs->nr;
	int64_t run;
	int error = find_one(db, word, &run, why);

	if (!error)
		return zm_runset_add(runs, (uint64_t)run);
	if (error == -ENOENT)
		error = add_labelled(db, word, runs, why);
	if (!error && runs->nr == before)
		error = not_found(store, word, why);
	return error;
}

/* Loading one run: each table's rows into an array that grows in the pool. */
struct loading {
	struct zm_db *db;
	struct zm_run_view *view;
	struct zm_why *why;
};

typedef void row_reader(struct loading *loading, const struct zm_rows *rows, void *element);

static int load_info(struct loading *loading, int64_t run)
{
	struct zm_run_view *view = loading->view;
	struct zm_rows rows = { 0 };
	int error = zm_db_query(loading->db, loading->why, &rows, RUN_COLUMNS " WHERE run.id = ?1",
				ZM_BIND(zm_int(run)));

	if (!error) {
		if (zm_rows_next(&rows, loading->why, &error)) {
			read_info(&rows, &view->info);
			zm_run_info_keep(&view->pool, &view->info);
		} else if (!error) {
			error = zm_why_set(loading->why, -ENOENT, "%lld: no such run",
					   (long long)run);
		}
	}
	zm_rows_end(&rows);
	return error;
}

static void read_phase(struct loading *loading, const struct zm_rows *rows, void *element)
{
	(void)loading;
	*(struct zm_phase_row *)element = (struct zm_phase_row){
		.phase = (enum zm_phase)zm_rows_int(rows, 0),
		.t0_ns = (uint64_t)zm_rows_int(rows, 1),
		.t1_ns = (uint64_t)zm_rows_int(rows, 2),
	};
}

static void read_task(struct loading *loading, const struct zm_rows *rows, void *element)
{
	(void)loading;
	*(struct zm_task_row *)element = (struct zm_task_row){
		.index = (unsigned int)zm_rows_int(rows, 0),
		.pid = (int)zm_rows_int(rows, 1),
		.cpu = (int)zm_rows_int(rows, 2),
		.node = (int)zm_rows_int(rows, 3),
	};
}

static void read_result(struct loading *loading, const struct zm_rows *rows, void *element)
{
	struct zm_pool *pool = &loading->view->pool;
	int64_t better = zm_rows_int(rows, 3);

	*(struct zm_result *)element = (struct zm_result){
		.metric = zm_pool_text(pool, text_or_empty(rows, 0)),
		.unit = zm_pool_text(pool, text_or_empty(rows, 1)),
		.source = zm_pool_text(pool, text_or_empty(rows, 2)),
		.better = better > 0 && better <= ZM_BETTER_LESS ? (enum zm_better)better
								 : ZM_BETTER_NEITHER,
		.is_primary = zm_rows_int(rows, 4) != 0,
		.value = zm_rows_real(rows, 5),
		.count = zm_rows_real(rows, 6),
		.interval_ns = (uint64_t)zm_rows_int(rows, 7),
	};
}

static void read_note(struct loading *loading, const struct zm_rows *rows, void *element)
{
	struct zm_pool *pool = &loading->view->pool;

	*(struct zm_note_row *)element = (struct zm_note_row){
		.kind = zm_pool_text(pool, text_or_empty(rows, 0)),
		.text = zm_pool_text(pool, text_or_empty(rows, 1)),
	};
}

static void *grow(struct zm_pool *pool, void *array, size_t nr, size_t size)
{
	void *grown;

	if (nr & (nr - 1)) /* room is made at powers of two */
		return array;
	grown = zm_pool_take(pool, (nr ? nr * 2 : 1) * size);
	if (grown && nr)
		memcpy(grown, array, nr * size);
	return grown;
}

static int load_rows(struct loading *loading, const char *sql, row_reader *reader, size_t size,
		     void **ret_array, size_t *ret_nr)
{
	struct zm_pool *pool = &loading->view->pool;
	struct zm_rows rows = { 0 };
	int error = zm_db_query(loading->db, loading->why, &rows, sql,
				ZM_BIND(zm_int((int64_t)loading->view->info.id)));
	char *array = NULL;
	size_t nr = 0;

	while (!error && zm_rows_next(&rows, loading->why, &error)) {
		array = grow(pool, array, nr, size);
		if (pool->error)
			error = pool->error;
		else
			reader(loading, &rows, array + size * nr++);
	}
	zm_rows_end(&rows);
	*ret_array = array;
	*ret_nr = nr;
	return error;
}

static int load_inventory(struct loading *loading)
{
	struct zm_run_view *view = loading->view;
	struct zm_rows rows = { 0 };
	int error = zm_db_query(loading->db, loading->why, &rows,
				"SELECT json FROM inventory WHERE id ="
				" (SELECT inventory FROM run WHERE id = ?1)",
				ZM_BIND(zm_int((int64_t)view->info.id)));

	if (!error && zm_rows_next(&rows, loading->why, &error))
		view->inventory = zm_pool_text(&view->pool, text_or_empty(&rows, 0));
	if (!view->inventory)
		view->inventory = "{}";
	zm_rows_end(&rows);
	return error;
}

#define RESULT_COLUMNS                                                                             \
	"SELECT metric.name, metric.unit, source.name, metric.better, is_primary, value, count,"   \
	" interval_ns FROM result JOIN metric ON metric.id = result.metric"                        \
	" JOIN source ON source.id = result.source WHERE result.run = ?1"

static int load_all(struct loading *loading, int64_t run)
{
	struct zm_run_view *view = loading->view;
	struct {
		const char *sql;
		row_reader *reader;
		size_t size;
		void **array;
		size_t *nr;
	} tables[] = {
		{ "SELECT phase, t0_ns, t1_ns FROM phase WHERE run = ?1 ORDER BY seq", read_phase,
		  sizeof(*view->phases), (void **)&view->phases, &view->nr_phases },
		{ "SELECT idx, pid, cpu, node FROM task WHERE run = ?1 ORDER BY idx", read_task,
		  sizeof(*view->tasks), (void **)&view->tasks, &view->nr_tasks },
		{ RESULT_COLUMNS " ORDER BY result.seq", read_result, sizeof(*view->results),
		  (void **)&view->results, &view->nr_results },
		{ "SELECT kind, text FROM note WHERE run = ?1 ORDER BY seq", read_note,
		  sizeof(*view->notes), (void **)&view->notes, &view->nr_notes },
		{ "SELECT source, reason FROM absent WHERE run = ?1 ORDER BY seq", read_note,
		  sizeof(*view->absents), (void **)&view->absents, &view->nr_absents },
	};
	int error = load_info(loading, run);

	if (!error)
		error = load_inventory(loading);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++)
		error = load_rows(loading, tables[i].sql, tables[i].reader, tables[i].size,
				  tables[i].array, tables[i].nr);
	return error ? error : view->pool.error;
}

int zm_query_run(struct zm_store *store, uint64_t run, struct zm_run_view **ret_view,
		 struct zm_why *why)
{
	struct loading loading = { .db = zm_store_db(store), .why = why };
	int error;

	loading.view = calloc(1, sizeof(*loading.view));
	if (!loading.view)
		return -ENOMEM;
	error = load_all(&loading, (int64_t)run);
	if (error) {
		zm_run_view_free(loading.view);
		return error;
	}
	*ret_view = loading.view;
	return 0;
}

void zm_run_view_free(struct zm_run_view *view)
{
	if (!view)
		return;
	zm_pool_release(&view->pool);
	free(view);
}

const struct zm_phase_row *zm_run_view_phase(const struct zm_run_view *view, enum zm_phase phase)
{
	for (size_t i = 0; i < view->nr_phases; i++) {
		if (view->phases[i].phase == phase)
			return &view->phases[i];
	}
	return NULL;
}

const struct zm_result *zm_run_view_result(const struct zm_run_view *view, const char *metric)
{
	for (size_t i = 0; i < view->nr_results; i++) {
		if (!strcmp(view->results[i].metric, metric))
			return &view->results[i];
	}
	return NULL;
}

int zm_query_primary(struct zm_store *store, uint64_t run, struct zm_pool *pool,
		     struct zm_result *ret_result, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(zm_store_db(store), why, &rows,
				RESULT_COLUMNS " ORDER BY is_primary DESC, result.seq LIMIT 1",
				ZM_BIND(zm_int((int64_t)run)));

	if (!error) {
		struct zm_run_view view = { .pool = *pool };
		struct loading loading = { .view = &view };

		if (zm_rows_next(&rows, why, &error))
			read_result(&loading, &rows, ret_result);
		else if (!error)
			error = -ENOENT;
		*pool = view.pool;
	}
	zm_rows_end(&rows);
	return error ? error : pool->error;
}
