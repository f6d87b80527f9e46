/* rows: what a run has to say beside its series, waiting for the next flush. */
#include "results/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/bytes.h"
#include "results/intern.h"

static void row_release(struct zm_row *row)
{
	for (size_t i = 0; i < ZM_ROW_TEXTS; i++)
		free((char *)row->texts[i]);
}

void zm_row_list_clear(struct zm_row_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		row_release(&list->rows[i]);
	list->nr = 0;
}

void zm_row_list_release(struct zm_row_list *list)
{
	zm_row_list_clear(list);
	free(list->rows);
	for (size_t i = 0; i < list->nr_names; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct zm_row_list){ 0 };
}

int zm_row_list_add(struct zm_row_list *list, const struct zm_row *row)
{
	struct zm_row copy = *row;
	int error =
		zm_array_grow((void **)&list->rows, &list->capacity, list->nr, sizeof(*list->rows));

	if (error)
		return error;
	for (size_t i = 0; i < ZM_ROW_TEXTS; i++)
		copy.texts[i] = row->texts[i] ? strdup(row->texts[i]) : NULL;
	for (size_t i = 0; i < ZM_ROW_TEXTS; i++) {
		if (row->texts[i] && !copy.texts[i]) {
			row_release(&copy);
			return -ENOMEM;
		}
	}
	copy.seq = list->nr_of_kind[row->kind]++;
	list->rows[list->nr++] = copy;
	return 0;
}

int zm_row_list_name(struct zm_row_list *list, const char *metric)
{
	int error = zm_array_grow((void **)&list->names, &list->names_capacity, list->nr_names,
				  sizeof(*list->names));

	if (error)
		return error;
	for (size_t i = 0; i < list->nr_names; i++) {
		if (strcmp(list->names[i], metric) == 0)
			return -EEXIST;
	}
	list->names[list->nr_names] = strdup(metric);
	if (!list->names[list->nr_names])
		return -ENOMEM;
	list->nr_names++;
	return 0;
}

static int write_result(const struct zm_row *row, struct zm_db *db, int64_t run, struct zm_why *why)
{
	int64_t metric, source;
	int error = zm_intern_metric(db, row->texts[0], row->texts[1], ZM_INTERN_FIGURE,
				     (int)row->integers[2], &metric, why);

	if (!error)
		error = zm_intern_source(db, row->texts[2], &source, why);
	if (error)
		return error;
	return zm_db_send(db, why,
			  "INSERT INTO result (run, metric, seq, source, is_primary, value, count,"
			  " interval_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
			  ZM_BIND(zm_int(run), zm_int(metric), zm_int(row->seq), zm_int(source),
				  zm_int(row->integers[0]), zm_real(row->reals[0]),
				  zm_real(row->reals[1]), zm_int(row->integers[1])));
}

static int write_stacks(const struct zm_row *row, struct zm_db *db, int64_t run, struct zm_why *why)
{
	zm_autobuf struct zm_buf packed = { 0 };
	struct zm_packer *packer = NULL;
	int64_t source;
	int error = zm_intern_source(db, row->texts[0], &source, why);

	if (error)
		return error;
	error = zm_pack(&packer, &packed, row->texts[3], strlen(row->texts[3]));
	zm_packer_free(packer);
	if (error)
		return zm_why_errno(why, error, "packing call chains");
	return zm_db_send(db, why,
			  "INSERT INTO stacks (run, seq, source, event, unit, data)"
			  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
			  ZM_BIND(zm_int(run), zm_int(row->seq), zm_int(source),
				  zm_text(row->texts[1]), zm_text(row->texts[2]),
				  zm_blob(packed.data, packed.size)));
}

/* Who may only add may add this. */
static const char add_task[] = "INSERT INTO task (run, idx, pid, cpu, node)"
			       " VALUES (?1, ?3, ?4, ?5, ?6)";

static int write_row(const struct zm_row *row, bool is_copy, struct zm_db *db, int64_t run,
		     struct zm_why *why)
{
	static const char *const statements[ZM_NR_ROW_KINDS] = {
		[ZM_ROW_PHASE] = "INSERT INTO phase (run, seq, phase, t0_ns, t1_ns)"
				 " VALUES (?1, ?2, ?3, ?4, ?5)",
		[ZM_ROW_TASK] = "INSERT INTO task (run, idx, pid, cpu, node)"
				" VALUES (?1, ?3, ?4, ?5, ?6)"
				" ON CONFLICT (run, idx) DO UPDATE SET pid = excluded.pid,"
				" cpu = excluded.cpu, node = excluded.node",
		[ZM_ROW_NOTE] = "INSERT INTO note (run, seq, kind, text) VALUES (?1, ?2, ?3, ?4)",
		[ZM_ROW_ABSENT] = "INSERT INTO absent (run, seq, source, reason)"
				  " VALUES (?1, ?2, ?3, ?4)",
	};
	const char *sql = is_copy && row->kind == ZM_ROW_TASK ? add_task : statements[row->kind];

	if (row->kind == ZM_ROW_RESULT)
		return write_result(row, db, run, why);
	if (row->kind == ZM_ROW_STACKS)
		return write_stacks(row, db, run, why);
	if (row->kind == ZM_ROW_NOTE || row->kind == ZM_ROW_ABSENT)
		return zm_db_send(db, why, sql,
				  ZM_BIND(zm_int(run), zm_int(row->seq), zm_text(row->texts[0]),
					  zm_text(row->texts[1])));
	return zm_db_send(db, why, sql,
			  ZM_BIND(zm_int(run), zm_int(row->seq), zm_int(row->integers[0]),
				  zm_int(row->integers[1]), zm_int(row->integers[2]),
				  zm_int(row->integers[3])));
}

int zm_row_list_write(const struct zm_row_list *list, struct zm_db *db, int64_t run,
		      struct zm_why *why)
{
	int error = 0;

	for (size_t i = 0; i < list->nr && !error; i++)
		error = write_row(&list->rows[i], list->is_copy, db, run, why);
	return error;
}
