/* intern: the numbers of what comes again and again. */
#include "results/intern.h"

#include <errno.h>

/* Both statements take the same values. */
static int intern(struct zm_db *db, const char *find, const char *make, const struct zm_bind *binds,
		  int64_t *ret_id, struct zm_why *why)
{
	int error = zm_db_int(db, why, find, binds, ret_id);

	if (error != -ENOENT)
		return error;
	error = zm_db_run(db, why, make, binds);
	if (!error)
		error = zm_db_int(db, why, find, binds, ret_id);
	return error == -ENOENT ? zm_why_set(why, -EUCLEAN,
					     "%s: damaged: a row that was just "
					     "written is not there",
					     zm_db_path(db))
				: error;
}

int zm_intern_boot(struct zm_db *db, const char *machine, const char *boot, const char *kernel,
		   int64_t *ret_id, struct zm_why *why)
{
	int64_t id;
	int error = intern(db, "SELECT id FROM machine WHERE key = ?1",
			   "INSERT INTO machine (key) VALUES (?1)", ZM_BIND(zm_text(machine)), &id,
			   why);

	if (error)
		return error;
	return intern(db, "SELECT id FROM boot WHERE machine = ?1 AND key = ?2 AND kernel = ?3",
		      "INSERT INTO boot (machine, key, kernel) VALUES (?1, ?2, ?3)",
		      ZM_BIND(zm_int(id), zm_text(boot), zm_text(kernel)), ret_id, why);
}

/* FNV-1a. An inventory is some kilobytes: its hash is looked up, then the text compared. */
static int64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (int64_t)hash;
}

int zm_intern_inventory(struct zm_db *db, const char *json, int64_t *ret_id, struct zm_why *why)
{
	return intern(db, "SELECT id FROM inventory WHERE hash = ?1 AND json = ?2",
		      "INSERT INTO inventory (hash, json) VALUES (?1, ?2)",
		      ZM_BIND(zm_int(hash_of(json)), zm_text(json)), ret_id, why);
}

int zm_intern_invocation(struct zm_db *db, const char *uuid, uint64_t wall_ns,
			 const char *command_line, const char *label, int64_t *ret_id,
			 struct zm_why *why)
{
	return intern(db, "SELECT id FROM invocation WHERE uuid = ?1",
		      "INSERT INTO invocation (uuid, wall_ns, command_line, label)"
		      " VALUES (?1, ?2, ?3, ?4)",
		      ZM_BIND(zm_text(uuid), zm_int((int64_t)wall_ns), zm_text(command_line),
			      zm_text(label)),
		      ret_id, why);
}

int zm_intern_cell(struct zm_db *db, const char *workload, const char *json, int64_t *ret_id,
		   struct zm_why *why)
{
	int64_t id;
	int error = intern(db, "SELECT id FROM workload WHERE name = ?1",
			   "INSERT INTO workload (name) VALUES (?1)", ZM_BIND(zm_text(workload)),
			   &id, why);

	if (error)
		return error;
	return intern(db, "SELECT id FROM cell WHERE workload = ?1 AND json = ?2",
		      "INSERT INTO cell (workload, json) VALUES (?1, ?2)",
		      ZM_BIND(zm_int(id), zm_text(json)), ret_id, why);
}

int zm_intern_params(struct zm_db *db, const char *json, int64_t *ret_id, struct zm_why *why)
{
	return intern(db, "SELECT id FROM params WHERE json = ?1",
		      "INSERT INTO params (json) VALUES (?1)", ZM_BIND(zm_text(json)), ret_id, why);
}

int zm_intern_source(struct zm_db *db, const char *name, int64_t *ret_id, struct zm_why *why)
{
	return intern(db, "SELECT id FROM source WHERE name = ?1",
		      "INSERT INTO source (name) VALUES (?1)", ZM_BIND(zm_text(name)), ret_id, why);
}

int zm_intern_metric(struct zm_db *db, const char *name, const char *unit, int kind, int better,
		     int64_t *ret_id, struct zm_why *why)
{
	return intern(db,
		      "SELECT id FROM metric"
		      " WHERE name = ?1 AND unit = ?2 AND kind = ?3 AND better = ?4",
		      "INSERT INTO metric (name, unit, kind, better) VALUES (?1, ?2, ?3, ?4)",
		      ZM_BIND(zm_text(name), zm_text(unit), zm_int(kind), zm_int(better)), ret_id,
		      why);
}
