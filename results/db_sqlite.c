/*
 * db_sqlite: a store that is one file.
 *
 * Prepared statements are kept by the address of their text. SQLite's result codes become -errno in
 * one place (error_of), and sentences in one other (fail).
 */
#include "results/db_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#define BUSY_MS       10000
#define NR_STATEMENTS 96

struct sqlite_db {
	struct zm_db base;
	sqlite3 *handle;
	struct kept {
		const char *sql;
		sqlite3_stmt *statement;
	} kept[NR_STATEMENTS];
	size_t nr_kept;
};

static struct sqlite_db *sqlite_of(const struct zm_db *db)
{
	return (struct sqlite_db *)db;
}

/* What a failed system call below SQLite said, as far as it says more than the result code. */
static int error_of_system(sqlite3 *handle, int otherwise)
{
	switch (handle ? sqlite3_system_errno(handle) : 0) {
	case ENOSPC:
	case EDQUOT:
		return -ENOSPC;
	case EACCES:
	case EPERM:
		return -EACCES;
	case EROFS:
		return -EROFS;
	case ENOENT:
	case ENOTDIR:
		return -ENOENT;
	case EISDIR:
		return -EISDIR;
	case EMFILE:
	case ENFILE:
		return -EMFILE;
	default:
		return otherwise;
	}
}

static int error_of(sqlite3 *handle, int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return error_of_system(handle, -EACCES);
	case SQLITE_CANTOPEN:
		return error_of_system(handle, -EACCES);
	case SQLITE_IOERR:
		return error_of_system(handle, -EIO);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* no such table, no such column */
	case SQLITE_MISMATCH:
		return -EUCLEAN;
	case SQLITE_TOOBIG:
		return -EFBIG;
	default:
		return -EIO;
	}
}

static int fail(const struct sqlite_db *db, struct zm_why *why, int code)
{
	int error = error_of(db->handle, code);

	switch (error) {
	case -ENOSPC:
		return zm_why_set(
			why, error,
			"%s: the disk is full; what was written before is kept: make room, "
			"or give another place with --db FILE",
			db->base.path);
	case -EBUSY:
		return zm_why_set(why, error,
				  "%s: another command has been writing to it for %d s; try again "
				  "when it is done",
				  db->base.path, BUSY_MS / 1000);
	case -EACCES:
		return zm_why_set(why, error,
				  "%s: no permission to write there; give another place with --db "
				  "FILE",
				  db->base.path);
	case -EROFS:
		return zm_why_set(why, error,
				  "%s: the file system is read-only; give another place with --db "
				  "FILE",
				  db->base.path);
	case -EMFILE:
		return zm_why_set(why, error, "%s: too many open files; raise ulimit -n",
				  db->base.path);
	case -EUCLEAN:
		return zm_why_set(why, error,
				  "%s: not a zonemark store, or damaged (%s); sqlite3's .recover "
				  "saves what can be read",
				  db->base.path, sqlite3_errmsg(db->handle));
	default:
		return zm_why_set(why, error, "%s: %s", db->base.path,
				  db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code));
	}
}

static void sqlite_close(struct zm_db *base)
{
	struct sqlite_db *db = sqlite_of(base);

	for (size_t i = 0; i < db->nr_kept; i++)
		(void)sqlite3_finalize(db->kept[i].statement);
	(void)sqlite3_close(db->handle);
}

/* Nothing that a hostile file holds (views, triggers, functions in its schema) may act. */
static void distrust(sqlite3 *handle)
{
	(void)sqlite3_extended_result_codes(handle, 1);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
	(void)sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 30);
	(void)sqlite3_busy_timeout(handle, BUSY_MS);
}

static int connect_to(struct sqlite_db *db, const char *name, int flags)
{
	int code = sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (code == SQLITE_OK)
		distrust(db->handle);
	return code;
}

/* "file:PATH?immutable=1", with what a URI cannot hold escaped. */
static char *immutable_uri(const char *path)
{
	size_t size = strlen(path) * 3 + sizeof("file:?immutable=1");
	char *uri = malloc(size);
	char *at = uri;

	if (!uri)
		return NULL;
	at += snprintf(at, size, "file:");
	for (; *path; path++) {
		if (strchr("%?#", *path))
			at += snprintf(at, 4, "%%%02X", (unsigned int)*path);
		else
			*at++ = *path;
	}
	(void)snprintf(at, sizeof("?immutable=1"), "?immutable=1");
	return uri;
}

static bool has_log(const char *path)
{
	struct stat info;
	char *name = NULL;
	bool has = false;

	if (asprintf(&name, "%s-wal", path) < 0)
		return false;
	has = stat(name, &info) == 0 && info.st_size > 0;
	free(name);
	return has;
}

/* A store in a folder that we may not write: the log's index cannot be made there. Without a log the
 * file is all there is, and is read as it is. */
static int reopen_immutable(struct sqlite_db *db, struct zm_why *why)
{
	char *uri;
	int code;

	if (has_log(db->base.path))
		return zm_why_set(why, -EACCES,
				  "%s: its last writes are still in %s-wal, and reading them needs "
				  "write permission for the folder: copy both files to another one",
				  db->base.path, db->base.path);
	(void)sqlite3_close(db->handle);
	db->handle = NULL;
	uri = immutable_uri(db->base.path);
	if (!uri)
		return -ENOMEM;
	code = connect_to(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	free(uri);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db->handle, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : fail(db, why, code);
}

/* The first look at the file, by which SQLite finds out what it is and whether it may read it. */
static int first_look(struct sqlite_db *db, enum zm_db_mode mode, struct zm_why *why)
{
	int code = sqlite3_exec(db->handle, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
	int kind = code & 0xff;

	if (code == SQLITE_OK)
		return 0;
	if (mode == ZM_DB_READ && (kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY))
		return reopen_immutable(db, why);
	return fail(db, why, code);
}

/* Can a file be made there? */
static int check_folder(const char *path, struct zm_why *why)
{
	char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;
	const char *folder = slash ? copy : ".";
	int error = 0;

	if (slash)
		slash[slash == copy] = '\0'; /* "/x" is in "/" */
	if (!copy)
		error = -ENOMEM;
	else if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0)
		error = zm_why_errno(why, -errno, "%s: cannot be made there", path);
	free(copy);
	return error;
}

/* SQLite says "unable to open" for all of these; the system says which. (The file is not opened to
 * find out: closing it would drop the locks of another connection of this process.) */
static int check_file(const char *path, enum zm_db_mode mode, struct zm_why *why)
{
	struct stat info;

	if (stat(path, &info) < 0) {
		if (errno == ENOENT && mode == ZM_DB_WRITE)
			return check_folder(path, why);
		return zm_why_errno(why, -errno, "%s", path);
	}
	if (!S_ISREG(info.st_mode))
		return zm_why_set(why, -EINVAL, "%s: not a file", path);
	if (faccessat(AT_FDCWD, path, mode == ZM_DB_WRITE ? R_OK | W_OK : R_OK, AT_EACCESS) < 0)
		return zm_why_errno(why, -errno, "%s", path);
	return 0;
}

/* Makes every missing folder above the file. */
static int make_folders(const char *path, struct zm_why *why)
{
	char folder[4096];
	int length = snprintf(folder, sizeof(folder), "%s", path);

	if (length < 0 || (size_t)length >= sizeof(folder))
		return zm_why_set(why, -ENAMETOOLONG, "%.64s…: the path is too long", path);
	for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(folder, 0777) < 0 && errno != EEXIST && errno != EISDIR)
			return zm_why_errno(why, -errno, "%s: cannot make this folder", folder);
		*at = '/';
	}
	return 0;
}

static int sqlite_open(struct zm_db *base, const char *path, enum zm_db_mode mode,
		       struct zm_why *why)
{
	int flags = mode == ZM_DB_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
					: SQLITE_OPEN_READONLY;
	struct sqlite_db *db = sqlite_of(base);
	int error = mode == ZM_DB_WRITE ? make_folders(path, why) : 0;
	int code;

	if (!error)
		error = check_file(path, mode, why);
	if (error)
		return error;
	code = connect_to(db, path, flags);
	return code == SQLITE_OK ? first_look(db, mode, why) : fail(db, why, code);
}

static int sqlite_script(struct zm_db *base, struct zm_why *why, const char *sql)
{
	struct sqlite_db *db = sqlite_of(base);
	int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : fail(db, why, code);
}

/* Several commands may do this at once; SQLite does not wait by itself while the mode changes. */
static int sqlite_settle(struct zm_db *db, struct zm_why *why)
{
	int error = -EBUSY;

	for (int i = 0; i < 50 && error == -EBUSY; i++) {
		if (i)
			(void)usleep(20000);
		error = sqlite_script(db, why, "PRAGMA journal_mode = WAL");
	}
	if (!error)
		error = sqlite_script(db, why,
				      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
				      "PRAGMA wal_autocheckpoint = 4096");
	return error;
}

/* Gives up a statement that is not being stepped when all places are taken. */
static void make_place(struct sqlite_db *db)
{
	for (size_t i = NR_STATEMENTS; db->nr_kept == NR_STATEMENTS && i-- > 0;) {
		if (sqlite3_stmt_busy(db->kept[i].statement))
			continue;
		(void)sqlite3_finalize(db->kept[i].statement);
		db->kept[i] = db->kept[--db->nr_kept];
	}
}

static int find_statement(struct sqlite_db *db, struct zm_why *why, const char *sql,
			  sqlite3_stmt **ret_statement)
{
	int code;

	for (size_t i = 0; i < db->nr_kept; i++) {
		if (db->kept[i].sql == sql) {
			*ret_statement = db->kept[i].statement;
			return 0;
		}
	}
	make_place(db);
	code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement,
				  NULL);
	if (code != SQLITE_OK)
		return fail(db, why, code);
	db->kept[db->nr_kept++] = (struct kept){ .sql = sql, .statement = *ret_statement };
	return 0;
}

static int bind_one(sqlite3_stmt *statement, int place, const struct zm_bind *bind)
{
	switch (bind->type) {
	case ZM_BIND_INT:
		return sqlite3_bind_int64(statement, place, bind->integer);
	case ZM_BIND_REAL:
		return sqlite3_bind_double(statement, place, bind->real);
	case ZM_BIND_TEXT:
		return sqlite3_bind_text(statement, place, bind->data, -1, SQLITE_STATIC);
	case ZM_BIND_BLOB:
		return sqlite3_bind_blob64(statement, place, bind->data ? bind->data : "",
					   bind->size, SQLITE_STATIC);
	case ZM_BIND_NULL:
	case ZM_BIND_END:
		break;
	}
	return sqlite3_bind_null(statement, place);
}

static int start(struct sqlite_db *db, struct zm_why *why, const char *sql,
		 const struct zm_bind *binds, sqlite3_stmt **ret_statement)
{
	sqlite3_stmt *statement;
	int error = find_statement(db, why, sql, &statement);
	int nr_places, code = SQLITE_OK;

	if (error)
		return error;
	nr_places = sqlite3_bind_parameter_count(statement);
	for (int i = 0; i < nr_places && binds[i].type != ZM_BIND_END && code == SQLITE_OK; i++)
		code = bind_one(statement, i + 1, &binds[i]);
	if (code != SQLITE_OK)
		return fail(db, why, code);
	*ret_statement = statement;
	return 0;
}

static void finish(sqlite3_stmt *statement)
{
	(void)sqlite3_reset(statement);
	(void)sqlite3_clear_bindings(statement);
}

static int sqlite_run(struct zm_db *base, struct zm_why *why, const char *sql,
		      const struct zm_bind *binds)
{
	struct sqlite_db *db = sqlite_of(base);
	sqlite3_stmt *statement;
	int error = start(db, why, sql, binds, &statement);
	int code;

	if (error)
		return error;
	do
		code = sqlite3_step(statement);
	while (code == SQLITE_ROW);
	if (code != SQLITE_DONE)
		error = fail(db, why, code);
	finish(statement);
	return error;
}

static int sqlite_begin(struct zm_db *db, enum zm_transaction kind, struct zm_why *why)
{
	return sqlite_script(db, why, kind == ZM_TRANSACTION_READ ? "BEGIN" : "BEGIN IMMEDIATE");
}

static int sqlite_commit(struct zm_db *db, struct zm_why *why)
{
	return sqlite_script(db, why, "COMMIT");
}

static void sqlite_rollback(struct zm_db *base)
{
	struct sqlite_db *db = sqlite_of(base);

	if (!sqlite3_get_autocommit(db->handle))
		(void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

static bool sqlite_in_transaction(const struct zm_db *db)
{
	return !sqlite3_get_autocommit(sqlite_of(db)->handle);
}

static int sqlite_query(struct zm_db *db, struct zm_why *why, struct zm_rows *rows, const char *sql,
			const struct zm_bind *binds)
{
	sqlite3_stmt *statement;
	int error = start(sqlite_of(db), why, sql, binds, &statement);

	if (!error)
		rows->cursor = statement;
	return error;
}

static bool sqlite_next(struct zm_rows *rows, struct zm_why *why, int *ret_error)
{
	int code = sqlite3_step(rows->cursor);

	if (code == SQLITE_ROW)
		return true;
	if (code != SQLITE_DONE)
		*ret_error = fail(sqlite_of(rows->db), why, code);
	return false;
}

static void sqlite_end(struct zm_rows *rows)
{
	finish(rows->cursor);
}

static bool sqlite_is_null(const struct zm_rows *rows, int column)
{
	return sqlite3_column_type(rows->cursor, column) == SQLITE_NULL;
}

static int64_t sqlite_int(const struct zm_rows *rows, int column)
{
	return sqlite3_column_int64(rows->cursor, column);
}

static double sqlite_real(const struct zm_rows *rows, int column)
{
	return sqlite3_column_double(rows->cursor, column);
}

static const char *sqlite_text(const struct zm_rows *rows, int column)
{
	return (const char *)sqlite3_column_text(rows->cursor, column);
}

static const void *sqlite_blob(const struct zm_rows *rows, int column, size_t *ret_size)
{
	const void *data = sqlite3_column_blob(rows->cursor, column);

	*ret_size = (size_t)sqlite3_column_bytes(rows->cursor, column);
	return data;
}

static int read_number(struct zm_db *db, struct zm_why *why, const char *sql, int64_t *ret_number)
{
	return zm_db_int(db, why, sql, ZM_BIND_NONE, ret_number);
}

static int sqlite_read_mark(struct zm_db *db, struct zm_db_mark *ret_mark, struct zm_why *why)
{
	int error = read_number(db, why, "PRAGMA application_id", &ret_mark->application);

	if (!error)
		error = read_number(db, why, "PRAGMA user_version", &ret_mark->version);
	if (!error)
		error = read_number(db, why, "SELECT count(*) FROM sqlite_schema",
				    &ret_mark->nr_tables);
	return error;
}

static int sqlite_write_mark(struct zm_db *db, int64_t application, int64_t version,
			     struct zm_why *why)
{
	char sql[128];

	(void)snprintf(sql, sizeof(sql),
		       "PRAGMA application_id = %" PRId64 "; PRAGMA user_version = %" PRId64,
		       application, version);
	return sqlite_script(db, why, sql);
}

const struct zm_db_engine zm_db_sqlite = {
	.size = sizeof(struct sqlite_db),
	.open = sqlite_open,
	.close = sqlite_close,
	.settle = sqlite_settle,
	.script = sqlite_script,
	.run = sqlite_run,
	.send = sqlite_run,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.in_transaction = sqlite_in_transaction,
	.query = sqlite_query,
	.walk = sqlite_query,
	.next = sqlite_next,
	.end = sqlite_end,
	.is_null = sqlite_is_null,
	.integer = sqlite_int,
	.real = sqlite_real,
	.text = sqlite_text,
	.blob = sqlite_blob,
	.read_mark = sqlite_read_mark,
	.write_mark = sqlite_write_mark,
};
