/*
 * store: where it is, how it is opened, and what --resume asks of it.
 *
 * Opening to write: folders, file, log mode, schema (made or migrated), then the runs of dead owners
 * are closed. Opening to read changes nothing, not even those; a store of an older version is read as it is,
 * with empty tables in memory for what it has not.
 */
#include "results/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/db.h"
#include "results/dburl.h"
#include "results/finish.h"
#include "results/schema.h"
#include "workloads/base/cleanup.h"

struct zm_store {
	struct zm_db *db;
};

static const char *const status_names[] = {
	[ZM_STATUS_RUNNING] = "running", [ZM_STATUS_OK] = "ok",
	[ZM_STATUS_FAILED] = "failed",   [ZM_STATUS_INTERRUPTED] = "interrupted",
	[ZM_STATUS_SKIPPED] = "skipped",
};

const char *zm_status_name(enum zm_status status)
{
	return (unsigned int)status < sizeof(status_names) / sizeof(status_names[0])
		       ? status_names[status]
		       : "unknown";
}

static int take_path(char *buf, size_t size, const char *path)
{
	int length = snprintf(buf, size, "%s", path);

	return length < 0 || (size_t)length >= size ? -ENOBUFS : 0;
}

int zm_store_data_path(const char *name, char *buf, size_t size)
{
	const char *folder = getenv("XDG_DATA_HOME"), *home = getenv("HOME"), *below = "";
	int length;

	if (!folder || *folder != '/') {
		folder = home && *home ? home : "/var/lib";
		below = home && *home ? "/.local/share" : "";
	}
	length = snprintf(buf, size, "%s%s/zonemark/%s", folder, below, name);
	return length < 0 || (size_t)length >= size ? -ENOBUFS : 0;
}

int zm_store_default_path(char *buf, size_t size)
{
	const char *value = getenv("ZONEMARK_DB");

	if (value && *value)
		return take_path(buf, size, value);
	return zm_store_data_path("zonemark.db", buf, size);
}

/* Folders are made at the usual place only: a name that somebody typed may be mistyped. */
static int check_folder(const char *path, struct zm_why *why)
{
	zm_autofree char *folder = strdup(path);
	char usual[4096], *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return zm_why_errno(why, -ENOMEM, "%s", path);
	if (!slash || slash == folder || zm_dburl_is(path) ||
	    (zm_store_data_path("", usual, sizeof(usual)) == 0 &&
	     strncmp(path, usual, strlen(usual)) == 0))
		return 0;
	*slash = '\0';
	if (access(folder, F_OK) == 0 || errno != ENOENT)
		return 0; /* the database says what is wrong with it */
	return zm_why_set(why, -ENOENT,
			  "%s: there is no folder %s; make it, or give another place with --db "
			  "FILE",
			  path, folder);
}

static int explain_unread_server(const struct zm_db *db, int error, struct zm_why *why)
{
	if (error == -ENODATA)
		return zm_why_set(why, -ENOENT,
				  "%s: no store in this database yet, or not for this role; "
				  "`zonemark store init`, as its owner, makes one, and --role "
				  "lets a role add to it",
				  zm_db_path(db));
	if (error == -ESTALE)
		return zm_why_set(why, -ESTALE,
				  "%s: made by an older zonemark; `zonemark store init`, as its "
				  "owner, brings it up to date",
				  zm_db_path(db));
	return error;
}

/* Looks before it changes anything: a database of somebody else stays as it is. */
static int open_writing(const char *path, struct zm_db **ret_db, struct zm_why *why)
{
	struct zm_db *db;
	int error = check_folder(path, why), before;

	if (!error)
		error = zm_db_open(path, ZM_DB_WRITE, &db, why);
	if (error)
		return error;
	error = zm_schema_check(db, zm_nr_migrations, why);
	before = error;
	if (!error || error == -ENODATA || error == -ESTALE)
		error = zm_db_settle(db, why);
	if (!error)
		error = zm_schema_apply(db, zm_migrations, zm_nr_migrations, why);
	if (error == -EACCES && before && zm_db_is_shared(db))
		error = explain_unread_server(db, before, why);
	if (error) {
		zm_db_close(db);
		return error;
	}
	zm_finish_dead(db);
	*ret_db = db;
	return 0;
}

static int explain_unread(const char *path, int error, struct zm_why *why)
{
	if (error == -ENOENT || error == -ENODATA)
		return zm_why_set(why, -ENOENT,
				  "%s: there is no store yet; `zonemark run` makes one, --db FILE "
				  "names another",
				  path);
	return error;
}

static int open_reading(const char *path, struct zm_db **ret_db, struct zm_why *why)
{
	struct zm_db *db;
	int error = zm_db_open(path, ZM_DB_READ, &db, why);

	if (error)
		return explain_unread(path, error, why);
	error = zm_schema_check(db, zm_nr_migrations, why);
	if (error == -ESTALE && !zm_db_is_shared(db))
		error = zm_schema_stand_in(db, zm_migrations, zm_nr_migrations, why);
	if (error) {
		error = zm_db_is_shared(db) ? explain_unread_server(db, error, why)
					    : explain_unread(path, error, why);
		zm_db_close(db);
		return error;
	}
	*ret_db = db;
	return 0;
}

int zm_store_open(const char *path, bool for_writing, struct zm_store **ret_store,
		  struct zm_why *why)
{
	char usual[4096];
	struct zm_store *store;
	int error = path ? 0 : zm_store_default_path(usual, sizeof(usual));

	if (error)
		return zm_why_set(why, error, "the store's usual path is too long; give --db FILE");
	store = calloc(1, sizeof(*store));
	if (!store)
		return -ENOMEM;
	error = for_writing ? open_writing(path ? path : usual, &store->db, why)
			    : open_reading(path ? path : usual, &store->db, why);
	if (error) {
		free(store);
		return error;
	}
	*ret_store = store;
	return 0;
}

void zm_store_close(struct zm_store *store)
{
	if (!store)
		return;
	zm_db_close(store->db);
	free(store);
}

const char *zm_store_path(const struct zm_store *store)
{
	return zm_db_path(store->db);
}

struct zm_db *zm_store_db(struct zm_store *store)
{
	return store->db;
}

int zm_store_has_run(struct zm_store *store, const char *invocation, const char *cell,
		     unsigned int repeat)
{
	int64_t one;
	int error = zm_db_int(
		store->db, NULL,
		"SELECT 1 FROM run"
		" JOIN invocation ON invocation.id = run.invocation"
		" JOIN cell ON cell.id = run.cell"
		" WHERE invocation.uuid = ?1 AND cell.json = ?2 AND run.repeat = ?3"
		" AND run.status = ?4 LIMIT 1",
		ZM_BIND(zm_text(invocation), zm_text(cell), zm_int(repeat), zm_int(ZM_STATUS_OK)),
		&one);

	if (error == -ENOENT)
		return 0;
	return error ? error : 1;
}

int zm_store_last_invocation(struct zm_store *store, const char *command_line, char *buf,
			     size_t size)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(store->db, NULL, &rows,
				"SELECT uuid FROM invocation WHERE command_line = ?1"
				" ORDER BY wall_ns DESC, id DESC LIMIT 1",
				ZM_BIND(zm_text(command_line)));

	if (!error) {
		if (zm_rows_next(&rows, NULL, &error))
			error = take_path(buf, size, zm_rows_text(&rows, 0));
		else if (!error)
			error = -ENOENT;
	}
	zm_rows_end(&rows);
	return error;
}
