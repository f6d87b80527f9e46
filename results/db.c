/*
 * db: one connection to a database: to the engine that its place names, and what all engines share.
 */
#include "results/db.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "results/db_engine.h"
#include "results/dburl.h"

bool zm_db_is_shared(const struct zm_db *db)
{
	return db->engine->is_shared;
}

const char *zm_db_path(const struct zm_db *db)
{
	return db->path;
}

void zm_db_close(struct zm_db *db)
{
	if (!db)
		return;
	db->engine->close(db);
	tdestroy(db->known, free);
	free(db->path);
	free(db);
}

int zm_db_open(const char *path, enum zm_db_mode mode, struct zm_db **ret_db, struct zm_why *why)
{
	const struct zm_db_engine *engine = zm_dburl_is(path) ? &zm_db_postgres : &zm_db_sqlite;
	struct zm_db *db = calloc(1, engine->size);
	int error;

	if (!db)
		return -ENOMEM;
	db->engine = engine;
	db->path = strdup(zm_dburl_is(path) ? "postgresql://" : path);
	error = db->path ? engine->open(db, path, mode, why) : -ENOMEM;
	if (error) {
		zm_db_close(db);
		return error;
	}
	*ret_db = db;
	return 0;
}

int zm_db_settle(struct zm_db *db, struct zm_why *why)
{
	return db->engine->settle(db, why);
}

int zm_db_script(struct zm_db *db, struct zm_why *why, const char *sql)
{
	return db->engine->script(db, why, sql);
}

int zm_db_run(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds)
{
	return db->engine->run(db, why, sql, binds);
}

int zm_db_send(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds)
{
	return db->engine->send(db, why, sql, binds);
}

int zm_db_int(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds,
	      int64_t *ret_value)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(db, why, &rows, sql, binds);

	if (!error && zm_rows_next(&rows, why, &error))
		*ret_value = zm_rows_int(&rows, 0);
	else if (!error)
		error = -ENOENT;
	zm_rows_end(&rows);
	return error;
}

/* --- transactions --- */

int zm_db_begin(struct zm_db *db, struct zm_why *why)
{
	return db->engine->begin(db, ZM_TRANSACTION_WRITE, why);
}

int zm_db_begin_schema(struct zm_db *db, struct zm_why *why)
{
	return db->engine->begin(db, ZM_TRANSACTION_SCHEMA, why);
}

int zm_db_commit(struct zm_db *db, struct zm_why *why)
{
	int error = db->engine->commit(db, why);

	if (error)
		zm_db_rollback(db);
	return error;
}

void zm_db_rollback(struct zm_db *db)
{
	db->engine->rollback(db);
}

int zm_db_begin_read(struct zm_db *db, struct zm_why *why)
{
	return db->engine->begin(db, ZM_TRANSACTION_READ, why);
}

void zm_db_end_read(struct zm_db *db)
{
	zm_db_rollback(db);
}

/* --- rows --- */

int zm_db_query(struct zm_db *db, struct zm_why *why, struct zm_rows *ret_rows, const char *sql,
		const struct zm_bind *binds)
{
	*ret_rows = (struct zm_rows){ .db = db };
	return db->engine->query(db, why, ret_rows, sql, binds);
}

int zm_db_walk(struct zm_db *db, struct zm_why *why, struct zm_rows *ret_rows, const char *sql,
	       const struct zm_bind *binds)
{
	*ret_rows = (struct zm_rows){ .db = db };
	return db->engine->walk(db, why, ret_rows, sql, binds);
}

bool zm_rows_next(struct zm_rows *rows, struct zm_why *why, int *ret_error)
{
	return rows->db->engine->next(rows, why, ret_error);
}

void zm_rows_end(struct zm_rows *rows)
{
	if (rows->cursor)
		rows->db->engine->end(rows);
	*rows = (struct zm_rows){ 0 };
}

bool zm_rows_is_null(const struct zm_rows *rows, int column)
{
	return rows->db->engine->is_null(rows, column);
}

int64_t zm_rows_int(const struct zm_rows *rows, int column)
{
	return rows->db->engine->integer(rows, column);
}

double zm_rows_real(const struct zm_rows *rows, int column)
{
	return rows->db->engine->real(rows, column);
}

const char *zm_rows_text(const struct zm_rows *rows, int column)
{
	return rows->db->engine->text(rows, column);
}

const void *zm_rows_blob(const struct zm_rows *rows, int column, size_t *ret_size)
{
	return rows->db->engine->blob(rows, column, ret_size);
}

/* --- what the store is marked with --- */

int zm_db_read_mark(struct zm_db *db, struct zm_db_mark *ret_mark, struct zm_why *why)
{
	return db->engine->read_mark(db, ret_mark, why);
}

int zm_db_write_mark(struct zm_db *db, int64_t application, int64_t version, struct zm_why *why)
{
	return db->engine->write_mark(db, application, version, why);
}

/* --- numbers that are known --- */

struct known {
	int64_t number;
	size_t size;
	char key[];
};

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return memcmp(x->key, y->key, x->size);
}

static struct known *make_known(const char *key, size_t size, int64_t number)
{
	struct known *known = malloc(sizeof(*known) + size);

	if (!known)
		return NULL;
	known->number = number;
	known->size = size;
	memcpy(known->key, key, size);
	return known;
}

bool zm_db_recall(const struct zm_db *db, const char *key, size_t size, int64_t *ret_number)
{
	struct known *wanted = db->known ? make_known(key, size, 0) : NULL;
	struct known **found = wanted ? tfind(wanted, &db->known, compare_known) : NULL;

	if (found)
		*ret_number = (*found)->number;
	free(wanted);
	return found != NULL;
}

/* What could not be kept is asked for again. */
void zm_db_remember(struct zm_db *db, const char *key, size_t size, int64_t number)
{
	struct known *known, **kept;

	if (db->engine->in_transaction(db))
		return;
	known = make_known(key, size, number);
	kept = known ? tsearch(known, &db->known, compare_known) : NULL;
	if (!kept || *kept != known)
		free(known);
}
