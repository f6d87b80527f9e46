/* noise: rows are added in one transaction, older ones than the newest few are dropped in it. */
#include "results/noise.h"

#include <errno.h>

#include "results/db.h"

/* -ENOENT without a sentence. */
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
	return error;
}

/* The same comparison may come again, with a store that is imported twice. */
static int insert(struct zm_db *db, const struct zm_noise *noise, int64_t machine, int64_t cell,
		  struct zm_why *why)
{
	return zm_db_run(
		db, why,
		"INSERT INTO noise (machine, cell, metric, change, is_points, is_one_boot, nr_base,"
		" nr_again, kernel, wall_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
		" ON CONFLICT DO NOTHING",
		ZM_BIND(zm_int(machine), zm_int(cell), zm_text(noise->metric),
			zm_real(noise->change), zm_int(noise->is_points),
			zm_int(noise->is_one_boot), zm_int((int64_t)noise->nr_base),
			zm_int((int64_t)noise->nr_again), zm_text(noise->kernel),
			zm_int((int64_t)noise->wall_ns)));
}

static int drop_old(struct zm_db *db, const struct zm_noise *noise, int64_t machine, int64_t cell,
		    struct zm_why *why)
{
	return zm_db_run(db, why,
			 "DELETE FROM noise WHERE machine = ?1 AND cell = ?2 AND metric = ?3"
			 " AND is_one_boot = ?4 AND id NOT IN (SELECT id FROM noise"
			 " WHERE machine = ?1 AND cell = ?2 AND metric = ?3 AND is_one_boot = ?4"
			 " ORDER BY wall_ns DESC, id DESC LIMIT ?5)",
			 ZM_BIND(zm_int(machine), zm_int(cell), zm_text(noise->metric),
				 zm_int(noise->is_one_boot), zm_int(ZM_NOISE_KEPT)));
}

static int add(struct zm_db *db, const struct zm_noise *noise, struct zm_why *why)
{
	int64_t machine, cell;
	int error = find(db, noise, &machine, &cell, why);

	if (error == -ENOENT)
		return zm_why_set(why, error, "%s: the store has no run of it on that machine",
				  noise->workload);
	if (!error)
		error = insert(db, noise, machine, cell, why);
	return error ? error : drop_old(db, noise, machine, cell, why);
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

/* A row of either query: they begin with the same columns. */
static struct zm_noise noise_of(const struct zm_rows *rows)
{
	return (struct zm_noise){ .machine = zm_rows_text(rows, 0),
				  .workload = zm_rows_text(rows, 1),
				  .cell = zm_rows_text(rows, 2),
				  .metric = zm_rows_text(rows, 3),
				  .change = zm_rows_real(rows, 4),
				  .is_points = zm_rows_int(rows, 5) != 0,
				  .is_one_boot = zm_rows_int(rows, 6) != 0,
				  .nr_base = (size_t)zm_rows_int(rows, 7),
				  .nr_again = (size_t)zm_rows_int(rows, 8),
				  .kernel = zm_rows_text(rows, 9),
				  .wall_ns = (uint64_t)zm_rows_int(rows, 10) };
}

static int count(struct zm_db *db, const struct zm_noise *noise, int64_t machine, int64_t cell,
		 int64_t *ret_nr, struct zm_why *why)
{
	return zm_db_int(db, why,
			 "SELECT count(*) FROM noise WHERE machine = ?1 AND cell = ?2"
			 " AND metric = ?3 AND is_one_boot = ?4 AND wall_ns = ?5 AND kernel = ?6",
			 ZM_BIND(zm_int(machine), zm_int(cell), zm_text(noise->metric),
				 zm_int(noise->is_one_boot), zm_int((int64_t)noise->wall_ns),
				 zm_text(noise->kernel)),
			 ret_nr);
}

/* A comparison whose runs did not come along is of no use here. *nr counts those that are new, and are of the
 * newest few, which are kept. */
static int take(struct zm_db *into, const struct zm_noise *noise, uint64_t *nr, struct zm_why *why)
{
	int64_t machine, cell, is_there = 0;
	int error = find(into, noise, &machine, &cell, why);

	if (error == -ENOENT)
		return 0;
	if (!error)
		error = count(into, noise, machine, cell, &is_there, why);
	if (error || is_there)
		return error;
	error = insert(into, noise, machine, cell, why);
	if (!error)
		error = drop_old(into, noise, machine, cell, why);
	if (!error)
		error = count(into, noise, machine, cell, &is_there, why);
	*nr += is_there != 0;
	return error;
}

static int take_all(struct zm_db *into, struct zm_db *from, uint64_t *nr, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(
		from, why, &rows,
		"SELECT machine.key, workload.name, cell.json, noise.metric, noise.change,"
		" noise.is_points, noise.is_one_boot, noise.nr_base, noise.nr_again, noise.kernel,"
		" noise.wall_ns FROM noise JOIN machine ON machine.id = noise.machine"
		" JOIN cell ON cell.id = noise.cell JOIN workload ON workload.id = cell.workload"
		" ORDER BY noise.wall_ns, noise.id",
		ZM_BIND_NONE);

	while (!error && zm_rows_next(&rows, why, &error)) {
		const struct zm_noise noise = noise_of(&rows);

		error = take(into, &noise, nr, why);
	}
	zm_rows_end(&rows);
	return error;
}

int zm_noise_import(struct zm_store *into, struct zm_store *from, uint64_t *ret_nr,
		    struct zm_why *why)
{
	struct zm_db *db = zm_store_db(into);
	uint64_t nr = 0;
	int error = zm_db_begin(db, why);

	if (error)
		return error;
	error = take_all(db, zm_store_db(from), &nr, why);
	if (error)
		zm_db_rollback(db);
	else
		error = zm_db_commit(db, why);
	if (!error)
		*ret_nr = nr;
	return error;
}

int zm_noise_floors(struct zm_store *store,
		    int (*each)(void *context, const struct zm_noise_floor *floor), void *context,
		    struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(
		zm_store_db(store), why, &rows,
		"SELECT machine.key, workload.name, cell.json, a.metric, max(a.change),"
		" max(a.is_points), a.is_one_boot, min(a.nr_base), min(a.nr_again),"
		" (SELECT b.kernel FROM noise AS b WHERE b.machine = a.machine AND b.cell = a.cell"
		"  AND b.metric = a.metric AND b.is_one_boot = a.is_one_boot"
		"  ORDER BY b.wall_ns DESC, b.id DESC LIMIT 1), max(a.wall_ns), count(*)"
		" FROM noise AS a JOIN machine ON machine.id = a.machine"
		" JOIN cell ON cell.id = a.cell JOIN workload ON workload.id = cell.workload"
		" GROUP BY a.machine, a.cell, a.metric, a.is_one_boot, machine.key, workload.name,"
		" cell.json"
		" ORDER BY workload.name, cell.json, a.metric, machine.key, a.is_one_boot",
		ZM_BIND_NONE);

	while (!error && zm_rows_next(&rows, why, &error)) {
		const struct zm_noise_floor floor = { .largest = noise_of(&rows),
						      .nr = (size_t)zm_rows_int(&rows, 11) };

		error = each(context, &floor);
	}
	zm_rows_end(&rows);
	return error;
}
