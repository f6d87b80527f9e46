/* intern: the numbers of what comes again and again. */
#include "results/intern.h"

#include <errno.h>

#include "results/bytes.h"

/* What is asked for as one text: the statement, then the values. */
static void make_key(const char *find, const struct zm_bind *binds, struct zm_buf *key)
{
	zm_buf_bytes(key, &find, sizeof(find));
	for (; binds->type != ZM_BIND_END; binds++) {
		if (binds->type == ZM_BIND_TEXT)
			zm_buf_text(key, binds->data);
		else
			zm_buf_zigzag(key, binds->integer);
	}
}

/* Both statements take the same values. Another writer may be quicker: then its row is found. */
static int find_or_make(struct zm_db *db, const char *find, const char *make,
			const struct zm_bind *binds, int64_t *ret_id, struct zm_why *why)
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

static int intern(struct zm_db *db, const char *find, const char *make, const struct zm_bind *binds,
		  int64_t *ret_id, struct zm_why *why)
{
	zm_autobuf struct zm_buf key = { 0 };
	int error;

	if (!zm_db_is_shared(db))
		return find_or_make(db, find, make, binds, ret_id, why);
	make_key(find, binds, &key);
	if (key.error)
		return zm_why_errno(why, key.error, "%s", zm_db_path(db));
	if (zm_db_recall(db, (const char *)key.data, key.size, ret_id))
		return 0;
	error = find_or_make(db, find, make, binds, ret_id, why);
	if (!error)
		zm_db_remember(db, (const char *)key.data, key.size, *ret_id);
	return error;
}

int zm_intern_boot(struct zm_db *db, const char *machine, const char *boot, const char *kernel,
		   int64_t *ret_id, struct zm_why *why)
{
	int64_t id;
	int error = intern(db, "SELECT id FROM machine WHERE key = ?1",
			   "INSERT INTO machine (key) VALUES (?1) ON CONFLICT DO NOTHING",
			   ZM_BIND(zm_text(machine)), &id, why);

	if (error)
		return error;
	return intern(db, "SELECT id FROM boot WHERE machine = ?1 AND key = ?2 AND kernel = ?3",
		      "INSERT INTO boot (machine, key, kernel) VALUES (?1, ?2, ?3) ON CONFLICT DO "
		      "NOTHING",
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
		      "INSERT INTO inventory (hash, json) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
		      ZM_BIND(zm_int(hash_of(json)), zm_text(json)), ret_id, why);
}

int zm_intern_invocation(struct zm_db *db, const char *uuid, uint64_t wall_ns,
			 const char *command_line, const char *label, int64_t *ret_id,
			 struct zm_why *why)
{
	return intern(db, "SELECT id FROM invocation WHERE uuid = ?1",
		      "INSERT INTO invocation (uuid, wall_ns, command_line, label)"
		      " VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
		      ZM_BIND(zm_text(uuid), zm_int((int64_t)wall_ns), zm_text(command_line),
			      zm_text(label)),
		      ret_id, why);
}

int zm_intern_cell(struct zm_db *db, const char *workload, const char *json, int64_t *ret_id,
		   struct zm_why *why)
{
	int64_t id;
	int error = intern(db, "SELECT id FROM workload WHERE name = ?1",
			   "INSERT INTO workload (name) VALUES (?1) ON CONFLICT DO NOTHING",
			   ZM_BIND(zm_text(workload)), &id, why);

	if (error)
		return error;
	return intern(db, "SELECT id FROM cell WHERE workload = ?1 AND json = ?2",
		      "INSERT INTO cell (workload, json) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
		      ZM_BIND(zm_int(id), zm_text(json)), ret_id, why);
}

int zm_intern_params(struct zm_db *db, const char *json, int64_t *ret_id, struct zm_why *why)
{
	return intern(db, "SELECT id FROM params WHERE json = ?1",
		      "INSERT INTO params (json) VALUES (?1) ON CONFLICT DO NOTHING",
		      ZM_BIND(zm_text(json)), ret_id, why);
}

int zm_intern_source(struct zm_db *db, const char *name, int64_t *ret_id, struct zm_why *why)
{
	return intern(db, "SELECT id FROM source WHERE name = ?1",
		      "INSERT INTO source (name) VALUES (?1) ON CONFLICT DO NOTHING",
		      ZM_BIND(zm_text(name)), ret_id, why);
}

int zm_intern_metric(struct zm_db *db, const char *name, const char *unit, int kind, int better,
		     int64_t *ret_id, struct zm_why *why)
{
	return intern(db,
		      "SELECT id FROM metric"
		      " WHERE name = ?1 AND unit = ?2 AND kind = ?3 AND better = ?4",
		      "INSERT INTO metric (name, unit, kind, better) VALUES (?1, ?2, ?3, ?4) ON "
		      "CONFLICT DO NOTHING",
		      ZM_BIND(zm_text(name), zm_text(unit), zm_int(kind), zm_int(better)), ret_id,
		      why);
}
