/*
 * schema: what the tables are, and how an older store becomes a newer one.
 *
 * Kept to what SQLite and PostgreSQL share. What comes again and again (machines, boots, metric
 * names, parameters) is a row of its own and referred to by number, so that the many rows (results,
 * series) are small. docs/store.md describes every table.
 */
#include "results/schema.h"

#include <errno.h>

static const char version_1[] =
	"CREATE TABLE machine ("
	"  id INTEGER PRIMARY KEY,"
	"  key TEXT NOT NULL UNIQUE) STRICT;"

	"CREATE TABLE boot ("
	"  id INTEGER PRIMARY KEY,"
	"  machine INTEGER NOT NULL REFERENCES machine (id),"
	"  key TEXT NOT NULL,"
	"  kernel TEXT NOT NULL,"
	"  UNIQUE (machine, key, kernel)) STRICT;"

	"CREATE TABLE inventory ("
	"  id INTEGER PRIMARY KEY,"
	"  hash INTEGER NOT NULL,"
	"  json TEXT NOT NULL) STRICT;"
	"CREATE INDEX inventory_by_hash ON inventory (hash);"

	"CREATE TABLE invocation ("
	"  id INTEGER PRIMARY KEY,"
	"  uuid TEXT NOT NULL UNIQUE,"
	"  wall_ns INTEGER NOT NULL,"
	"  command_line TEXT NOT NULL,"
	"  label TEXT) STRICT;"
	"CREATE INDEX invocation_by_label ON invocation (label);"

	"CREATE TABLE workload ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE) STRICT;"

	"CREATE TABLE cell ("
	"  id INTEGER PRIMARY KEY,"
	"  workload INTEGER NOT NULL REFERENCES workload (id),"
	"  json TEXT NOT NULL,"
	"  UNIQUE (workload, json)) STRICT;"

	"CREATE TABLE params ("
	"  id INTEGER PRIMARY KEY,"
	"  json TEXT NOT NULL UNIQUE) STRICT;"

	"CREATE TABLE run ("
	"  id INTEGER PRIMARY KEY,"
	"  uuid TEXT NOT NULL UNIQUE,"
	"  invocation INTEGER NOT NULL REFERENCES invocation (id),"
	"  boot INTEGER NOT NULL REFERENCES boot (id),"
	"  inventory INTEGER NOT NULL REFERENCES inventory (id),"
	"  cell INTEGER NOT NULL REFERENCES cell (id),"
	"  params INTEGER NOT NULL REFERENCES params (id),"
	"  repeat INTEGER NOT NULL,"
	"  status INTEGER NOT NULL,"
	"  reason TEXT,"
	"  nr_tasks INTEGER NOT NULL,"
	"  kind TEXT NOT NULL,"
	"  version TEXT NOT NULL,"
	"  wall_ns INTEGER NOT NULL,"
	"  start_ns INTEGER NOT NULL,"
	"  owner_pid INTEGER,"
	"  owner_start INTEGER,"
	"  owner_space INTEGER,"
	"  owner_boot TEXT) STRICT;"
	"CREATE INDEX run_by_wall ON run (wall_ns);"
	"CREATE INDEX run_by_invocation ON run (invocation);"
	"CREATE INDEX run_by_cell ON run (cell);"
	"CREATE INDEX run_by_boot ON run (boot);"
	"CREATE INDEX run_running ON run (id) WHERE status = 0;"

	"CREATE TABLE phase ("
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  seq INTEGER NOT NULL,"
	"  phase INTEGER NOT NULL,"
	"  t0_ns INTEGER NOT NULL,"
	"  t1_ns INTEGER NOT NULL,"
	"  PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE task ("
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  idx INTEGER NOT NULL,"
	"  pid INTEGER NOT NULL,"
	"  cpu INTEGER NOT NULL,"
	"  node INTEGER NOT NULL,"
	"  PRIMARY KEY (run, idx)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE source ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE) STRICT;"

	"CREATE TABLE metric ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL,"
	"  unit TEXT NOT NULL,"
	"  kind INTEGER NOT NULL,"
	"  better INTEGER NOT NULL,"
	"  UNIQUE (name, unit, kind, better)) STRICT;"

	"CREATE TABLE result ("
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  metric INTEGER NOT NULL REFERENCES metric (id),"
	"  seq INTEGER NOT NULL,"
	"  source INTEGER NOT NULL REFERENCES source (id),"
	"  is_primary INTEGER NOT NULL,"
	"  value REAL NOT NULL,"
	"  count REAL NOT NULL,"
	"  interval_ns INTEGER NOT NULL,"
	"  PRIMARY KEY (run, metric)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE note ("
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  seq INTEGER NOT NULL,"
	"  kind TEXT NOT NULL,"
	"  text TEXT NOT NULL,"
	"  PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE absent ("
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  seq INTEGER NOT NULL,"
	"  source TEXT NOT NULL,"
	"  reason TEXT NOT NULL,"
	"  PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE timebase ("
	"  id INTEGER PRIMARY KEY,"
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  nr INTEGER NOT NULL,"
	"  data BLOB NOT NULL) STRICT;"
	"CREATE INDEX timebase_by_run ON timebase (run);"

	"CREATE TABLE series ("
	"  id INTEGER PRIMARY KEY,"
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  metric INTEGER NOT NULL REFERENCES metric (id),"
	"  source INTEGER NOT NULL REFERENCES source (id),"
	"  scope INTEGER NOT NULL,"
	"  scope_id INTEGER NOT NULL,"
	"  is_float INTEGER NOT NULL,"
	"  timebase INTEGER NOT NULL REFERENCES timebase (id) ON DELETE CASCADE,"
	"  data BLOB NOT NULL) STRICT;"
	"CREATE INDEX series_by_run ON series (run, metric);"

	"CREATE TABLE chunk ("
	"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	"  seq INTEGER NOT NULL,"
	"  data BLOB NOT NULL,"
	"  PRIMARY KEY (run, seq)) STRICT;";

static const char version_2[] = "CREATE TABLE stacks ("
				"  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
				"  seq INTEGER NOT NULL,"
				"  source INTEGER NOT NULL REFERENCES source (id),"
				"  event TEXT NOT NULL,"
				"  unit TEXT NOT NULL,"
				"  data BLOB NOT NULL,"
				"  PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;";

/* A text of any length is no key of a server's index, so its digest is. Several write at once there: what
 * must not be there twice is made unique. That a metric or a source is there is not checked again with each
 * of the many rows: the check locks the row that all writers refer to, and costs a quarter of the speed. */
static const char version_1_server[] =
	"ALTER TABLE cell DROP CONSTRAINT cell_workload_json_key;"
	"CREATE UNIQUE INDEX cell_once ON cell (workload, md5(json));"
	"CREATE INDEX cell_by_json ON cell USING hash (json);"
	"ALTER TABLE params DROP CONSTRAINT params_json_key;"
	"CREATE UNIQUE INDEX params_once ON params (md5(json));"
	"CREATE INDEX params_by_json ON params USING hash (json);"
	"DROP INDEX inventory_by_hash;"
	"CREATE UNIQUE INDEX inventory_once ON inventory (hash, md5(json));"
	"ALTER TABLE result DROP CONSTRAINT result_metric_fkey;"
	"ALTER TABLE result DROP CONSTRAINT result_source_fkey;"
	"ALTER TABLE series DROP CONSTRAINT series_metric_fkey;"
	"ALTER TABLE series DROP CONSTRAINT series_source_fkey;";

static const char version_3[] =
	"CREATE TABLE noise ("
	"  id INTEGER PRIMARY KEY,"
	"  machine INTEGER NOT NULL REFERENCES machine (id),"
	"  cell INTEGER NOT NULL REFERENCES cell (id),"
	"  metric TEXT NOT NULL,"
	"  change REAL NOT NULL,"
	"  is_points INTEGER NOT NULL,"
	"  is_one_boot INTEGER NOT NULL,"
	"  nr_base INTEGER NOT NULL,"
	"  nr_again INTEGER NOT NULL,"
	"  kernel TEXT NOT NULL,"
	"  wall_ns INTEGER NOT NULL,"
	"  UNIQUE (machine, cell, metric, is_one_boot, wall_ns, kernel)) STRICT;";

const struct zm_migration zm_migrations[] = {
	{ .sql = version_1, .server = version_1_server },
	{ .sql = version_2,
	  .stand_in = "CREATE TEMP TABLE stacks (run, seq, source, event, unit, data)" },
	{ .sql = version_3,
	  .stand_in = "CREATE TEMP TABLE noise (id INTEGER PRIMARY KEY, machine, cell, metric,"
		      " change, is_points, is_one_boot, nr_base, nr_again, kernel, wall_ns)" },
};
const size_t zm_nr_migrations = sizeof(zm_migrations) / sizeof(zm_migrations[0]);

int zm_schema_check(struct zm_db *db, size_t nr_migrations, struct zm_why *why)
{
	struct zm_db_mark mark;
	int error = zm_db_read_mark(db, &mark, why);

	if (error)
		return error;
	if (mark.application == 0 && mark.version == 0 && mark.nr_tables == 0)
		return -ENODATA;
	if (mark.application != ZM_SCHEMA_APPLICATION || mark.version < 1)
		return zm_why_set(why, -EUCLEAN,
				  "%s: a database, but not a zonemark store; give another place "
				  "with --db FILE",
				  zm_db_path(db));
	if (mark.version > (int64_t)nr_migrations)
		return zm_why_set(
			why, -EPROTO,
			"%s: made by a newer zonemark (store version %lld, this one knows "
			"%zu); use that one, or another store with --db FILE",
			zm_db_path(db), (long long)mark.version, nr_migrations);
	return mark.version < (int64_t)nr_migrations ? -ESTALE : 0;
}

int zm_schema_stand_in(struct zm_db *db, const struct zm_migration *migrations,
		       size_t nr_migrations, struct zm_why *why)
{
	struct zm_db_mark mark;
	int error = zm_db_read_mark(db, &mark, why);

	for (size_t i = error ? nr_migrations : (size_t)mark.version; i < nr_migrations && !error;
	     i++) {
		if (migrations[i].stand_in)
			error = zm_db_script(db, why, migrations[i].stand_in);
	}
	return error;
}

static int migrate(struct zm_db *db, const struct zm_migration *migrations, size_t nr_migrations,
		   struct zm_why *why)
{
	struct zm_db_mark mark;
	int error = zm_schema_check(db, nr_migrations, why); /* another may have been quicker */

	if (error != -ENODATA && error != -ESTALE)
		return error;
	error = zm_db_read_mark(db, &mark, why);
	for (size_t i = (size_t)mark.version; !error && i < nr_migrations; i++) {
		error = zm_db_script(db, why, migrations[i].sql);
		if (!error && zm_db_is_shared(db) && migrations[i].server)
			error = zm_db_script(db, why, migrations[i].server);
	}
	return error ? error
		     : zm_db_write_mark(db, ZM_SCHEMA_APPLICATION, (int64_t)nr_migrations, why);
}

int zm_schema_apply(struct zm_db *db, const struct zm_migration *migrations, size_t nr_migrations,
		    struct zm_why *why)
{
	int error = zm_schema_check(db, nr_migrations, why);

	if (error != -ENODATA && error != -ESTALE)
		return error;
	error = zm_db_begin_schema(db, why);
	if (error)
		return error;
	error = migrate(db, migrations, nr_migrations, why);
	if (error) {
		zm_db_rollback(db);
		return error;
	}
	return zm_db_commit(db, why);
}
