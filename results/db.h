/*
 * db: one connection to the database, statements with typed values, errors as sentences.
 *
 *     error = zm_db_run(db, why, "UPDATE run SET status = ?1 WHERE id = ?2",
 *                       ZM_BIND(zm_int(status), zm_int(run)));
 *
 *     error = zm_db_query(db, why, &rows, "SELECT name FROM metric WHERE id = ?1",
 *                         ZM_BIND(zm_int(id)));
 *     while (!error && zm_rows_next(&rows, why, &error))
 *             … zm_rows_text(&rows, 0) …
 *     zm_rows_end(&rows);
 *
 * The SQL is a constant (its address is the key under which the prepared statement is kept), and is
 * kept to what SQLite and PostgreSQL both understand. Two queries of one text may not be open at
 * once.
 */
#ifndef ZM_RESULTS_DB_H
#define ZM_RESULTS_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

struct zm_db;
struct sqlite3_stmt;

struct zm_bind {
	enum {
		ZM_BIND_END,
		ZM_BIND_NULL,
		ZM_BIND_INT,
		ZM_BIND_REAL,
		ZM_BIND_TEXT,
		ZM_BIND_BLOB,
	} type;
	int64_t integer;
	double real;
	const void *data; /* must live until the statement is done */
	size_t size;
};

/* A NULL text is bound as NULL. */
static inline struct zm_bind zm_int(int64_t value)
{
	return (struct zm_bind){ .type = ZM_BIND_INT, .integer = value };
}

static inline struct zm_bind zm_real(double value)
{
	return (struct zm_bind){ .type = ZM_BIND_REAL, .real = value };
}

static inline struct zm_bind zm_text(const char *value)
{
	return (struct zm_bind){ .type = value ? ZM_BIND_TEXT : ZM_BIND_NULL, .data = value };
}

static inline struct zm_bind zm_blob(const void *data, size_t size)
{
	return (struct zm_bind){ .type = ZM_BIND_BLOB, .data = data, .size = size };
}

static inline struct zm_bind zm_null(void)
{
	return (struct zm_bind){ .type = ZM_BIND_NULL };
}

/* ?1 is the first. More values than the statement has places are allowed: the others are left out. */
#define ZM_BIND(...) ((const struct zm_bind[]){ __VA_ARGS__, { .type = ZM_BIND_END } })
#define ZM_BIND_NONE ((const struct zm_bind[]){ { .type = ZM_BIND_END } })

enum zm_db_mode {
	ZM_DB_READ,
	ZM_DB_WRITE, /* made when it is not there */
};

/* -ENOENT, -EACCES, -EUCLEAN (not a database)… */
int zm_db_open(const char *path, enum zm_db_mode mode, struct zm_db **ret_db, struct zm_why *why);
void zm_db_close(struct zm_db *db);
const char *zm_db_path(const struct zm_db *db);

/* Several statements in one text, without values; not kept. */
int zm_db_script(struct zm_db *db, struct zm_why *why, const char *sql);

/* Runs a statement to its end; rows are passed over. */
int zm_db_run(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds);

/* How many rows the last zm_db_run changed. */
int64_t zm_db_changes(const struct zm_db *db);

/* The first column of the first row. -ENOENT (without a sentence) when there is no row. */
int zm_db_int(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds,
	      int64_t *ret_value);

/* A write transaction: taken at once (waits for another writer up to ten seconds, then -EBUSY). */
int zm_db_begin(struct zm_db *db, struct zm_why *why);
int zm_db_commit(struct zm_db *db, struct zm_why *why); /* rolled back when it fails */
void zm_db_rollback(struct zm_db *db);

/* A read transaction: everything read until it ends is of one moment. */
int zm_db_begin_read(struct zm_db *db, struct zm_why *why);
void zm_db_end_read(struct zm_db *db);

/* Rows of a query. A column that is NULL is 0, or NULL. Texts and blobs live until the next row. */
struct zm_rows {
	struct zm_db *db;
	struct sqlite3_stmt *statement;
};

int zm_db_query(struct zm_db *db, struct zm_why *why, struct zm_rows *ret_rows, const char *sql,
		const struct zm_bind *binds);
bool zm_rows_next(struct zm_rows *rows, struct zm_why *why, int *ret_error);
void zm_rows_end(struct zm_rows *rows); /* also after a failed query */
bool zm_rows_is_null(const struct zm_rows *rows, int column);
int64_t zm_rows_int(const struct zm_rows *rows, int column);
double zm_rows_real(const struct zm_rows *rows, int column);
const char *zm_rows_text(const struct zm_rows *rows, int column);
const void *zm_rows_blob(const struct zm_rows *rows, int column, size_t *ret_size);

#endif
