/*
 * recorder: one run on its way into the store.
 *
 *     put_*             -> pending readings ---.
 *     series            -> declared ------------+-- flush: one chunk row --.
 *     phase, task, …    -> pending rows --------'   and these, in one       `-- end: series rows
 *                                                   transaction
 *
 * What could not be written stays pending, so that the next flush tries again.
 */
#include "results/recorder.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/chunk.h"
#include "results/db.h"
#include "results/finish.h"
#include "results/reserve.h"
#include "results/rows.h"
#include "results/runrow.h"
#include "results/store.h"
#include "results/uuid.h"
#include "workloads/base/clock.h"
#include "workloads/base/owner.h"

#define RESERVE_BYTES ((size_t)64 * 1024)

struct zm_recorder {
	struct zm_db *db; /* NULL: nothing is kept */
	int reserve;
	int64_t run;
	enum zm_status status; /* as it began: RUNNING or SKIPPED */

	struct zm_declared declared;
	size_t nr_flushed_metrics, nr_flushed_series;
	struct zm_pending pending;
	struct zm_row_list rows;
	int64_t nr_chunks;
	struct zm_packer *packer;

	int error; /* a flush that zm_recorder_put_* had to make failed */
	struct zm_why why;
};

static void recorder_free(struct zm_recorder *recorder)
{
	if (!recorder)
		return;
	zm_row_list_release(&recorder->rows);
	zm_declared_release(&recorder->declared);
	zm_pending_release(&recorder->pending);
	zm_packer_free(recorder->packer);
	zm_reserve_release(&recorder->reserve);
	free(recorder);
}

/* What the caller has left open is filled in. */
static int insert_run(struct zm_recorder *recorder, const struct zm_run_record *record,
		      struct zm_why *why)
{
	struct zm_run_record whole = *record;
	char uuid[ZM_UUID_SIZE] = "";
	struct zm_owner owner;
	int error = record->uuid ? 0 : zm_uuid_make(uuid);

	if (error)
		return zm_why_errno(why, error, "a name for the run");
	error = zm_owner_self(&owner, why);
	if (error)
		return error;
	whole.uuid = record->uuid ? record->uuid : uuid;
	whole.wall_ns = record->wall_ns ? record->wall_ns : zm_clock_wall_ns();
	whole.start_ns = record->start_ns ? record->start_ns : zm_clock_now_ns();
	whole.inventory = record->inventory ? record->inventory : "{}";
	return zm_runrow_insert(recorder->db, &whole, &owner, &recorder->run, why);
}

static int begin(struct zm_recorder *recorder, const struct zm_run_record *record,
		 struct zm_why *why)
{
	int error = zm_db_begin(recorder->db, why);

	if (error)
		return error;
	error = insert_run(recorder, record, why);
	/* Behind the first write, which makes the log's files. */
	if (!error && !zm_db_is_shared(recorder->db))
		error = zm_reserve_take(zm_db_path(recorder->db), RESERVE_BYTES, &recorder->reserve,
					why);
	if (error) {
		zm_db_rollback(recorder->db);
		return error;
	}
	return zm_db_commit(recorder->db, why);
}

int zm_recorder_begin(struct zm_store *store, const struct zm_run_record *record,
		      struct zm_recorder **ret_recorder, struct zm_why *why)
{
	struct zm_recorder *recorder = calloc(1, sizeof(*recorder));
	int error;

	if (!recorder)
		return -ENOMEM;
	recorder->db = zm_store_db(store);
	recorder->status = record->status;
	recorder->reserve = -1;
	error = begin(recorder, record, why);
	if (error) {
		recorder_free(recorder);
		return error;
	}
	*ret_recorder = recorder;
	return 0;
}

int zm_recorder_begin_nowhere(struct zm_recorder **ret_recorder)
{
	struct zm_recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return -ENOMEM;
	recorder->reserve = -1;
	*ret_recorder = recorder;
	return 0;
}

uint64_t zm_recorder_run_id(const struct zm_recorder *recorder)
{
	return (uint64_t)recorder->run;
}

/* Room for the pending readings of all series, so that putting one needs no memory. */
static int reserve_pending(struct zm_recorder *recorder)
{
	struct zm_pending *pending = &recorder->pending;
	size_t wanted = recorder->declared.nr_series * ZM_RECORDER_PENDING;
	struct zm_pending_reading *grown;

	if (wanted <= pending->capacity)
		return 0;
	if (wanted < pending->capacity * 2)
		wanted = pending->capacity * 2;
	grown = realloc(pending->readings, wanted * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pending->readings = grown;
	pending->capacity = wanted;
	return 0;
}

int zm_recorder_series(struct zm_recorder *recorder, const struct zm_series_desc *desc,
		       uint32_t *ret_series)
{
	uint32_t series;
	int error = zm_declared_add(&recorder->declared, desc, &series);

	if (!error)
		error = reserve_pending(recorder);
	if (!error)
		*ret_series = series;
	return error;
}

/* A place for one reading. While a flush keeps failing, what is too much is lost; the error is not. */
static struct zm_pending_reading *take_place(struct zm_recorder *recorder, uint32_t series,
					     enum zm_form form)
{
	struct zm_pending *pending = &recorder->pending;

	assert(series < recorder->declared.nr_series);
	assert(zm_declared_form(&recorder->declared, series) == form);
	(void)series;
	(void)form;
	if (pending->nr == pending->capacity && !recorder->error) {
		struct zm_why why = { "" };
		int error = zm_recorder_flush(recorder, &why);

		recorder->error = error;
		recorder->why = why;
	}
	return pending->nr < pending->capacity ? &pending->readings[pending->nr++] : NULL;
}

static void put(struct zm_recorder *recorder, uint32_t series, enum zm_form form, uint64_t t_ns,
		uint64_t value, uint32_t flags)
{
	struct zm_pending_reading *place = take_place(recorder, series, form);

	if (place)
		*place = (struct zm_pending_reading){
			.series = series, .flags = flags, .t_ns = t_ns, .value = value
		};
}

void zm_recorder_put_u64(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns,
			 uint64_t value, uint32_t flags)
{
	put(recorder, series, ZM_FORM_U64, t_ns, value, flags);
}

void zm_recorder_put_f64(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns, double value,
			 uint32_t flags)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put(recorder, series, ZM_FORM_F64, t_ns, bits, flags);
}

/* The place is taken first: that may flush, which empties pending.hists. */
void zm_recorder_put_hist(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns,
			  const struct zm_hist *hist, uint32_t flags)
{
	struct zm_pending *pending = &recorder->pending;
	struct zm_pending_reading *place = take_place(recorder, series, ZM_FORM_HIST);

	if (!place)
		return;
	*place = (struct zm_pending_reading){
		.series = series, .flags = flags, .t_ns = t_ns, .value = pending->hists.size
	};
	zm_codec_put_hist(&pending->hists, hist);
	if (!pending->hists.error)
		return;
	pending->hists.error = 0;
	pending->hists.size = (size_t)place->value;
	pending->nr--;
	if (!recorder->error)
		recorder->error = zm_why_errno(&recorder->why, -ENOMEM, "a histogram");
}

int zm_recorder_phase(struct zm_recorder *recorder, enum zm_phase phase, uint64_t t0_ns,
		      uint64_t t1_ns)
{
	return zm_row_list_add(
		&recorder->rows,
		&(struct zm_row){ .kind = ZM_ROW_PHASE,
				  .integers = { phase, (int64_t)t0_ns, (int64_t)t1_ns } });
}

int zm_recorder_task(struct zm_recorder *recorder, unsigned int index, int pid, int cpu, int node)
{
	return zm_row_list_add(
		&recorder->rows,
		&(struct zm_row){ .kind = ZM_ROW_TASK, .integers = { index, pid, cpu, node } });
}

int zm_recorder_result(struct zm_recorder *recorder, const struct zm_result *result)
{
	int error;

	if (!isfinite(result->value) || !isfinite(result->count))
		return -EINVAL;
	error = zm_row_list_name(&recorder->rows, result->metric);
	if (error)
		return error;
	return zm_row_list_add(
		&recorder->rows,
		&(struct zm_row){ .kind = ZM_ROW_RESULT,
				  .integers = { result->is_primary, (int64_t)result->interval_ns,
						result->better },
				  .reals = { result->value, result->count },
				  .texts = { result->metric, result->unit, result->source } });
}

int zm_recorder_note(struct zm_recorder *recorder, const char *kind, const char *text)
{
	return zm_row_list_add(&recorder->rows,
			       &(struct zm_row){ .kind = ZM_ROW_NOTE, .texts = { kind, text } });
}

int zm_recorder_absent(struct zm_recorder *recorder, const char *source, const char *reason)
{
	return zm_row_list_add(&recorder->rows, &(struct zm_row){ .kind = ZM_ROW_ABSENT,
								  .texts = { source, reason } });
}

int zm_recorder_stacks(struct zm_recorder *recorder, const struct zm_stacks *stacks)
{
	return zm_row_list_add(&recorder->rows,
			       &(struct zm_row){ .kind = ZM_ROW_STACKS,
						 .texts = { stacks->source, stacks->event,
							    stacks->unit, stacks->folded } });
}

/* Another command can only have closed it when it took this process for dead. */
static int check_is_ours(struct zm_recorder *recorder, struct zm_why *why)
{
	int64_t status;
	int error = zm_db_int(recorder->db, why, "SELECT status FROM run WHERE id = ?1",
			      ZM_BIND(zm_int(recorder->run)), &status);

	if (error == -ENOENT || (!error && status != (int64_t)recorder->status))
		return zm_why_set(why, -ESTALE,
				  "%s: run %lld was closed or removed by another "
				  "command while it was under way",
				  zm_db_path(recorder->db), (long long)recorder->run);
	return error;
}

static bool has_chunk(const struct zm_recorder *recorder)
{
	return recorder->pending.nr > 0 ||
	       recorder->nr_flushed_series < recorder->declared.nr_series;
}

static int write_chunk(struct zm_recorder *recorder, struct zm_why *why)
{
	zm_autobuf struct zm_buf packed = { 0 };
	int error;

	if (!has_chunk(recorder))
		return 0;
	error = zm_chunk_put(&recorder->packer, &packed, &recorder->declared,
			     recorder->nr_flushed_metrics, recorder->nr_flushed_series,
			     &recorder->pending);
	if (error)
		return zm_why_errno(why, error, "packing a flush");
	return zm_db_run(recorder->db, why,
			 "INSERT INTO chunk (run, seq, data) VALUES (?1, ?2, ?3)",
			 ZM_BIND(zm_int(recorder->run), zm_int(recorder->nr_chunks),
				 zm_blob(packed.data, packed.size)));
}

static int write_pending(struct zm_recorder *recorder, struct zm_why *why)
{
	int error = zm_db_begin(recorder->db, why);

	if (error)
		return error;
	error = check_is_ours(recorder, why);
	if (!error)
		error = zm_row_list_write(&recorder->rows, recorder->db, recorder->run, why);
	if (!error)
		error = write_chunk(recorder, why);
	if (error) {
		zm_db_rollback(recorder->db);
		return error;
	}
	return zm_db_commit(recorder->db, why);
}

static void forget_pending(struct zm_recorder *recorder)
{
	if (has_chunk(recorder))
		recorder->nr_chunks++;
	recorder->nr_flushed_metrics = recorder->declared.nr_metrics;
	recorder->nr_flushed_series = recorder->declared.nr_series;
	recorder->pending.nr = 0;
	recorder->pending.hists.size = 0;
	zm_row_list_clear(&recorder->rows);
}

int zm_recorder_flush(struct zm_recorder *recorder, struct zm_why *why)
{
	int error = recorder->error;

	if (error) {
		if (why)
			*why = recorder->why;
		return error;
	}
	if (!has_chunk(recorder) && recorder->rows.nr == 0)
		return 0;
	error = recorder->db ? write_pending(recorder, why) : 0;
	if (!error)
		forget_pending(recorder);
	return error;
}

static int set_status(struct zm_recorder *recorder, enum zm_status status, const char *reason,
		      bool whole, struct zm_why *why)
{
	int error = zm_db_begin(recorder->db, why);

	if (error)
		return error;
	error = check_is_ours(recorder, why);
	if (!error && whole)
		error = zm_finish_run(recorder->db, recorder->run, why);
	if (!error)
		error = zm_db_run(recorder->db, why,
				  "UPDATE run SET status = ?2, reason = ?3, owner_pid = NULL,"
				  " owner_start = NULL, owner_space = NULL, owner_boot = NULL"
				  " WHERE id = ?1",
				  ZM_BIND(zm_int(recorder->run), zm_int(status), zm_text(reason)));
	if (error) {
		zm_db_rollback(recorder->db);
		return error;
	}
	return zm_db_commit(recorder->db, why);
}

/* A run of which something could not be written is not a good one. When there is no room to put its
 * series together, they stay in pieces (readers do not mind), and only the status is set. */
static int end_run(struct zm_recorder *recorder, enum zm_status status, const char *reason,
		   struct zm_why *why)
{
	struct zm_why first = { "" };
	int error, whole;

	zm_reserve_release(&recorder->reserve);
	error = zm_recorder_flush(recorder, &first);
	if (error && error != -ESTALE) {
		status = status == ZM_STATUS_OK ? ZM_STATUS_FAILED : status;
		reason = reason ? reason : first.text;
	}
	whole = error == -ESTALE
			? 0
			: set_status(recorder, status, reason, true, error ? NULL : &first);
	if (whole)
		(void)set_status(recorder, status, reason, false, NULL);
	error = error ? error : whole;
	if (error && why)
		*why = first;
	return error;
}

int zm_recorder_end(struct zm_recorder *recorder, enum zm_status status, const char *reason,
		    struct zm_why *why)
{
	int error;

	if (!recorder)
		return 0;
	error = recorder->db ? end_run(recorder, status, reason, why) : 0;
	recorder_free(recorder);
	return error;
}
