/* runrow: a run's own row, with all that it refers to. */
#include "results/runrow.h"

#include "results/intern.h"

struct refers {
	int64_t invocation, boot, inventory, cell, params;
};

static int intern_all(struct zm_db *db, const struct zm_run_record *record, struct refers *refers,
		      struct zm_why *why)
{
	int error =
		zm_intern_invocation(db, record->invocation, record->wall_ns, record->command_line,
				     record->label, &refers->invocation, why);

	if (!error)
		error = zm_intern_boot(db, record->machine_id, record->boot_id, record->kernel,
				       &refers->boot, why);
	if (!error)
		error = zm_intern_inventory(db, record->inventory, &refers->inventory, why);
	if (!error)
		error = zm_intern_cell(db, record->workload, record->cell, &refers->cell, why);
	if (!error)
		error = zm_intern_params(db, record->params, &refers->params, why);
	return error;
}

int zm_runrow_intern(struct zm_db *db, const struct zm_run_record *record, struct zm_why *why)
{
	struct refers refers = { 0 };

	return intern_all(db, record, &refers, why);
}

int zm_runrow_insert(struct zm_db *db, const struct zm_run_record *record,
		     const struct zm_owner *owner, int64_t *ret_run, struct zm_why *why)
{
	struct refers refers = { 0 };
	int error = intern_all(db, record, &refers, why);

	if (error)
		return error;
	return zm_db_int(
		db, why,
		"INSERT INTO run (uuid, invocation, boot, inventory, cell, params, repeat, status,"
		" reason, nr_tasks, kind, version, wall_ns, start_ns, owner_pid, owner_start,"
		" owner_space, owner_boot) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
		" ?12, ?13, ?14, ?15, ?16, ?17, ?18) RETURNING id",
		ZM_BIND(zm_text(record->uuid), zm_int(refers.invocation), zm_int(refers.boot),
			zm_int(refers.inventory), zm_int(refers.cell), zm_int(refers.params),
			zm_int(record->repeat), zm_int(record->status), zm_text(record->reason),
			zm_int(record->nr_tasks), zm_text(record->kind), zm_text(record->version),
			zm_int((int64_t)record->wall_ns), zm_int((int64_t)record->start_ns),
			owner ? zm_int((int64_t)owner->pid) : zm_null(),
			owner ? zm_int((int64_t)owner->start_ticks) : zm_null(),
			owner ? zm_int((int64_t)owner->pid_ns) : zm_null(),
			owner ? zm_text(owner->boot_id) : zm_null()),
		ret_run);
}
