/* noise: rows are added in one transaction, older ones than the last few are dropped in it. */
#include "results/noise.h"

#include <errno.h>

#include "results/db.h"

static int find(struct zm_db *db, const struct zm_noise *noise, int64_t *ret_machine,
		int64_t *ret_cell, struct zm_why *why)
{
	int error = zm_db_int(db, why, "SELECT id FROM machine WHERE key = ?1",
			      ZM_BIND(zm_text(noise->machine)), ret_machine);

	if (!error)
		error = zm_db_int(db, why,
				  "SELECT cell.id FROM cell"
				  " JOIN workload ON workload.id = cell.workload"
				  " WHERE workload.name = ?1 AND cell.json = ?2",
				  ZM_BIND(zm_text(noise->workload), zm_text(noise->cell)),
				  ret_cell);
	if (error == -ENOENT)
		return zm_why_set(why, error, "%s: the store has no run of it on that machine",
				  noise->workload);
	return error;
}

static int add(struct zm_db *db, const struct zm_noise *noise, struct zm_why *why)
{
	int64_t machine, cell;
	int error = find(db, noise, &machine, &cell, why);

	if (!error)
		error = zm_db_run(
			db, why,
			"INSERT INTO noise (machine, cell, metric, change, nr_base, nr_again,"
			" kernel, wall_ns, is_points) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
			ZM_BIND(zm_int(machine), zm_int(cell), zm_text(noise->metric),
				zm_real(noise->change), zm_int((int64_t)noise->nr_base),
				zm_int((int64_t)noise->nr_again), zm_text(noise->kernel),
				zm_int((int64_t)noise->wall_ns), zm_int(noise->is_points)));
	if (!error)
		error = zm_db_run(db, why,
				  "DELETE FROM noise WHERE machine = ?1 AND cell = ?2"
				  " AND metric = ?3 AND id NOT IN (SELECT id FROM noise"
				  " WHERE machine = ?1 AND cell = ?2 AND metric = ?3"
				  " ORDER BY id DESC LIMIT ?4)",
				  ZM_BIND(zm_int(machine), zm_int(cell), zm_text(noise->metric),
					  zm_int(ZM_NOISE_KEPT)));
	return error;
}

int zm_noise_add(struct zm_store *store, const struct zm_noise *list, size_t nr, struct zm_why *why)
{
	struct zm_db *db = zm_store_db(store);
	int error = zm_db_begin(db, why);

	if (error)
		return error;
	for (size_t i = 0; i < nr && !error; i++)
		error = add(db, &list[i], why);
	if (error) {
		zm_db_rollback(db);
		return error;
	}
	return zm_db_commit(db, why);
}

int zm_noise_floors(struct zm_store *store,
		    int (*each)(void *context, const struct zm_noise_floor *floor), void *context,
		    struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(
		zm_store_db(store), why, &rows,
		"SELECT machine.key, workload.name, cell.json, a.metric, max(a.change), count(*),"
		" min(a.nr_base), min(a.nr_again), max(a.wall_ns),"
		" (SELECT b.kernel FROM noise AS b WHERE b.machine = a.machine AND b.cell = a.cell"
		"  AND b.metric = a.metric ORDER BY b.id DESC LIMIT 1), max(a.is_points)"
		" FROM noise AS a JOIN machine ON machine.id = a.machine"
		" JOIN cell ON cell.id = a.cell JOIN workload ON workload.id = cell.workload"
		" GROUP BY a.machine, a.cell, a.metric, machine.key, workload.name, cell.json"
		" ORDER BY workload.name, cell.json, a.metric, machine.key",
		ZM_BIND_NONE);

	while (!error && zm_rows_next(&rows, why, &error)) {
		const struct zm_noise_floor floor = {
			.largest = { .machine = zm_rows_text(&rows, 0),
				     .workload = zm_rows_text(&rows, 1),
				     .cell = zm_rows_text(&rows, 2),
				     .metric = zm_rows_text(&rows, 3),
				     .change = zm_rows_real(&rows, 4),
				     .nr_base = (size_t)zm_rows_int(&rows, 6),
				     .nr_again = (size_t)zm_rows_int(&rows, 7),
				     .wall_ns = (uint64_t)zm_rows_int(&rows, 8),
				     .kernel = zm_rows_text(&rows, 9),
				     .is_points = zm_rows_int(&rows, 10) != 0 },
			.nr = (size_t)zm_rows_int(&rows, 5),
		};

		error = each(context, &floor);
	}
	zm_rows_end(&rows);
	return error;
}
