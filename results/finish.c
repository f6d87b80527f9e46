/* finish: from chunks to whole series. */
#include "results/finish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/intern.h"
#include "results/store.h"
#include "workloads/base/owner.h"

static int read_chunk(void *context, size_t index, const void **ret_data, size_t *ret_size)
{
	struct zm_finish_chunks *chunks = context;
	int error;

	zm_rows_end(&chunks->rows);
	error = zm_db_query(chunks->db, chunks->why, &chunks->rows,
			    "SELECT data FROM chunk WHERE run = ?1 AND seq = ?2",
			    ZM_BIND(zm_int(chunks->run), zm_int((int64_t)index)));
	if (error)
		return error;
	if (!zm_rows_next(&chunks->rows, chunks->why, &error))
		return error ? error : -ENOENT;
	*ret_data = zm_rows_blob(&chunks->rows, 0, ret_size);
	return 0;
}

int zm_finish_source(struct zm_finish_chunks *chunks, struct zm_chunk_source *ret_source,
		     size_t *ret_nr_chunks)
{
	int64_t nr;
	int error = zm_db_int(chunks->db, chunks->why,
			      "SELECT coalesce(max(seq) + 1, 0) FROM chunk WHERE run = ?1",
			      ZM_BIND(zm_int(chunks->run)), &nr);

	if (error)
		return error;
	if (nr < 0 || nr > INT32_MAX)
		return zm_why_set(chunks->why, -EUCLEAN, "%s: damaged: run %lld has %lld pieces",
				  zm_db_path(chunks->db), (long long)chunks->run, (long long)nr);
	*ret_source = (struct zm_chunk_source){ .read = read_chunk, .context = chunks };
	*ret_nr_chunks = (size_t)nr;
	return 0;
}

void zm_finish_source_end(struct zm_finish_chunks *chunks)
{
	zm_rows_end(&chunks->rows);
}

/* What is kept while a run's series are written. */
struct writing {
	struct zm_db *db;
	int64_t run;
	struct zm_why *why;
	struct zm_packer *packer;
	struct written {
		uint32_t group;
		int64_t timebase;
	} * written;
	size_t nr_written, capacity;
	struct zm_buf raw, packed;
};

static int pack(struct writing *writing)
{
	int error = writing->raw.error;

	writing->packed.size = 0;
	if (!error)
		error = zm_pack(&writing->packer, &writing->packed, writing->raw.data,
				writing->raw.size);
	writing->raw.size = 0;
	return error ? zm_why_errno(writing->why, error, "run %lld", (long long)writing->run) : 0;
}

static int keep_written(struct writing *writing, uint32_t group, int64_t timebase)
{
	int error = zm_array_grow((void **)&writing->written, &writing->capacity,
				  writing->nr_written, sizeof(*writing->written));

	if (!error)
		writing->written[writing->nr_written++] = (struct written){ group, timebase };
	return error;
}

static int write_timebase(struct writing *writing, const struct zm_assembled *series,
			  int64_t *ret_id)
{
	int error;

	for (size_t i = writing->nr_written; i-- > 0;) {
		if (writing->written[i].group == series->group) {
			*ret_id = writing->written[i].timebase;
			return 0;
		}
	}
	zm_codec_put_times(&writing->raw, series->t_ns, series->readings->nr);
	error = pack(writing);
	if (!error)
		error = zm_db_int(writing->db, writing->why,
				  "INSERT INTO timebase (run, nr, data) VALUES (?1, ?2, ?3)"
				  " RETURNING id",
				  ZM_BIND(zm_int(writing->run),
					  zm_int((int64_t)series->readings->nr),
					  zm_blob(writing->packed.data, writing->packed.size)),
				  ret_id);
	return error ? error : keep_written(writing, series->group, *ret_id);
}

static int write_series(void *context, const struct zm_assembled *series)
{
	struct writing *writing = context;
	const struct zm_series_desc *desc = &series->desc;
	int64_t timebase, metric, source;
	int error = write_timebase(writing, series, &timebase);

	if (!error)
		error = zm_intern_metric(writing->db, desc->metric, desc->unit, (int)desc->kind,
					 (int)desc->better, &metric, writing->why);
	if (!error)
		error = zm_intern_source(writing->db, desc->source, &source, writing->why);
	if (error)
		return error;
	zm_codec_put_readings(&writing->raw, series->readings);
	error = pack(writing);
	if (error)
		return error;
	return zm_db_send(writing->db, writing->why,
			  "INSERT INTO series (run, metric, source, scope, scope_id, is_float,"
			  " timebase, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
			  ZM_BIND(zm_int(writing->run), zm_int(metric), zm_int(source),
				  zm_int(desc->scope), zm_int(desc->scope_id),
				  zm_int(desc->is_float), zm_int(timebase),
				  zm_blob(writing->packed.data, writing->packed.size)));
}

static void writing_release(struct writing *writing)
{
	free(writing->written);
	zm_packer_free(writing->packer);
	zm_buf_release(&writing->raw);
	zm_buf_release(&writing->packed);
}

static int note_lost(struct zm_db *db, int64_t run, const struct zm_assembly *assembly,
		     struct zm_why *why)
{
	size_t nr_lost = zm_assembly_nr_lost(assembly);
	size_t nr_damaged = zm_assembly_nr_damaged(assembly);
	char text[128];

	if (nr_lost == 0 && nr_damaged == 0)
		return 0;
	(void)snprintf(text, sizeof(text),
		       "damaged in the store: %zu flushes and %zu series could not be read back",
		       nr_lost, nr_damaged);
	return zm_db_run(db, why,
			 "INSERT INTO note (run, seq, kind, text) SELECT ?1,"
			 " coalesce(max(seq) + 1, 0), 'damaged', ?2 FROM note WHERE run = ?1",
			 ZM_BIND(zm_int(run), zm_text(text)));
}

int zm_finish_run(struct zm_db *db, int64_t run, struct zm_why *why)
{
	struct writing writing = { .db = db, .run = run, .why = why };
	struct zm_finish_chunks chunks = { .db = db, .run = run, .why = why };
	struct zm_chunk_source source;
	struct zm_assembly *assembly = NULL;
	size_t nr_chunks = 0;
	int error = zm_finish_source(&chunks, &source, &nr_chunks);

	if (error || nr_chunks == 0)
		return error;
	error = zm_assembly_open(&source, nr_chunks, &assembly);
	if (!error)
		error = zm_assembly_each(assembly, NULL, write_series, &writing);
	zm_finish_source_end(&chunks);
	if (!error)
		error = note_lost(db, run, assembly, why);
	if (!error)
		error = zm_db_run(db, why, "DELETE FROM chunk WHERE run = ?1",
				  ZM_BIND(zm_int(run)));
	zm_assembly_close(assembly);
	writing_release(&writing);
	return error;
}

static int interrupt_run(struct zm_db *db, int64_t run, int64_t pid, struct zm_why *why)
{
	char reason[64];

	(void)snprintf(reason, sizeof(reason), "its runner (pid %lld) died", (long long)pid);
	return zm_db_run(db, why,
			 "UPDATE run SET status = ?2, reason = ?3, owner_pid = NULL,"
			 " owner_start = NULL, owner_space = NULL, owner_boot = NULL"
			 " WHERE id = ?1 AND status = 0",
			 ZM_BIND(zm_int(run), zm_int(ZM_STATUS_INTERRUPTED), zm_text(reason)));
}

struct unfinished {
	int64_t run;
	int64_t status;
	struct zm_owner owner;
};

static void finish_one(struct zm_db *db, const struct unfinished *unfinished)
{
	int error = zm_db_begin(db, NULL);

	if (error)
		return;
	if (unfinished->status == ZM_STATUS_RUNNING)
		error = interrupt_run(db, unfinished->run, (int64_t)unfinished->owner.pid, NULL);
	if (!error)
		error = zm_finish_run(db, unfinished->run, NULL);
	if (error)
		zm_db_rollback(db);
	else
		(void)zm_db_commit(db, NULL);
}

static void read_unfinished(const struct zm_rows *rows, struct unfinished *ret_unfinished)
{
	const char *boot = zm_rows_text(rows, 5);

	*ret_unfinished = (struct unfinished){
		.run = zm_rows_int(rows, 0),
		.status = zm_rows_int(rows, 1),
		.owner = { .pid = (uint64_t)zm_rows_int(rows, 2),
			   .start_ticks = (uint64_t)zm_rows_int(rows, 3),
			   .pid_ns = (uint64_t)zm_rows_int(rows, 4) },
	};
	(void)snprintf(ret_unfinished->owner.boot_id, sizeof(ret_unfinished->owner.boot_id), "%s",
		       boot ? boot : "");
}

void zm_finish_dead(struct zm_db *db)
{
	struct unfinished found[64];
	size_t nr = 0;
	struct zm_rows rows = { 0 };
	int error;

	if (zm_db_is_shared(db))
		return;
	error = zm_db_query(
		db, NULL, &rows,
		"SELECT id, status, owner_pid, owner_start, owner_space, owner_boot FROM run"
		" WHERE status = 0 OR id IN (SELECT run FROM chunk) ORDER BY id",
		ZM_BIND_NONE);

	while (!error && nr < sizeof(found) / sizeof(found[0]) &&
	       zm_rows_next(&rows, NULL, &error)) {
		read_unfinished(&rows, &found[nr]);
		if (found[nr].status != ZM_STATUS_RUNNING || zm_owner_is_dead(&found[nr].owner))
			nr++;
	}
	zm_rows_end(&rows);
	for (size_t i = 0; i < nr; i++)
		finish_one(db, &found[i]);
}
