/*
 * db: one connection to a database, statements with typed values, errors as sentences.
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
 * The database is a file (SQLite) or a server (postgresql://…); which one, only db_*.c know. The SQL is a
 * constant (its address is the key under which the prepared statement is kept), and is kept to what
 * both understand: no order without ORDER BY, ON CONFLICT and not OR IGNORE, RETURNING and not a last
 * number, aggregates only over what GROUP BY names. Two queries of one text may not be open at once.
 *
 * On a server a statement that fails ends its transaction: what is asked for next fails until it has been
 * rolled back.
 */
#ifndef ZM_RESULTS_DB_H
#define ZM_RESULTS_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

struct zm_db;

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

/* A file's path, or a URL (results/dburl.h).
 * A file: -ENOENT, -EACCES, -EUCLEAN (not a database)… Folders above it are made to write.
 * A server: -ECONNREFUSED (it does not answer; it may later), -EACCES (it refuses us), -EINVAL. */
int zm_db_open(const char *path, enum zm_db_mode mode, struct zm_db **ret_db, struct zm_why *why);
void zm_db_close(struct zm_db *db);

/* As messages name it: a password is not in it. */
const char *zm_db_path(const struct zm_db *db);

/* Do machines other than this one write to it? Then nothing may be concluded here about whether the
 * processes live that write to it. */
bool zm_db_is_shared(const struct zm_db *db);

/* How it is to be written to, once it is known to be a store: the log's mode, what a commit waits for. */
int zm_db_settle(struct zm_db *db, struct zm_why *why);

/* Several statements in one text, without values; not kept. Columns are of the types INTEGER (64 bits),
 * REAL, TEXT and BLOB, a row's number is "id INTEGER PRIMARY KEY", a table may end in STRICT or
 * WITHOUT ROWID: a server gets its own words for these. */
int zm_db_script(struct zm_db *db, struct zm_why *why, const char *sql);

/* Runs a statement to its end; rows are passed over. */
int zm_db_run(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds);

/* The same, but within a transaction its failure may be told by a later call, at the latest by
 * zm_db_commit: a server is not waited for after each of many rows. */
int zm_db_send(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds);

/* The first column of the first row. -ENOENT (without a sentence) when there is no row. */
int zm_db_int(struct zm_db *db, struct zm_why *why, const char *sql, const struct zm_bind *binds,
	      int64_t *ret_value);

/* A write transaction. A file's is taken at once (waits for another writer up to ten seconds, then
 * -EBUSY). On a server several go on at once, and one may fail because of another's: -EEXIST, what is to be
 * unique has been written by the other; -EAGAIN, to be tried again. */
int zm_db_begin(struct zm_db *db, struct zm_why *why);
int zm_db_commit(struct zm_db *db, struct zm_why *why); /* rolled back when it fails */

/* The same for changes to the tables: one at a time on a server, too. */
int zm_db_begin_schema(struct zm_db *db, struct zm_why *why);
void zm_db_rollback(struct zm_db *db);

/* A read transaction: everything read until it ends is of one moment. */
int zm_db_begin_read(struct zm_db *db, struct zm_why *why);
void zm_db_end_read(struct zm_db *db);

/* Rows of a query. A column that is NULL is 0, or NULL. Texts and blobs live until the next row. */
struct zm_rows {
	struct zm_db *db;
	void *cursor; /* the engine's; so are the others */
	int at;
	unsigned int walk;
};

int zm_db_query(struct zm_db *db, struct zm_why *why, struct zm_rows *ret_rows, const char *sql,
		const struct zm_bind *binds);
/* The same for answers of any length, within a transaction: they come in pieces, as they are asked for. */
int zm_db_walk(struct zm_db *db, struct zm_why *why, struct zm_rows *ret_rows, const char *sql,
	       const struct zm_bind *binds);
bool zm_rows_next(struct zm_rows *rows, struct zm_why *why, int *ret_error);
void zm_rows_end(struct zm_rows *rows); /* also after a failed query */
bool zm_rows_is_null(const struct zm_rows *rows, int column);
int64_t zm_rows_int(const struct zm_rows *rows, int column);
double zm_rows_real(const struct zm_rows *rows, int column);
const char *zm_rows_text(const struct zm_rows *rows, int column);
const void *zm_rows_blob(const struct zm_rows *rows, int column, size_t *ret_size);

/* What a database says of itself: whose it is, of which version; and whether anything is in it. */
struct zm_db_mark {
	int64_t application, version; /* 0: it says nothing */
	int64_t nr_tables;
};
int zm_db_read_mark(struct zm_db *db, struct zm_db_mark *ret_mark, struct zm_why *why);
int zm_db_write_mark(struct zm_db *db, int64_t application, int64_t version, struct zm_why *why);

/* Numbers of what comes again and again (intern.h) by a text, so that a server is not asked for each
 * again. Only what is committed is remembered: within a transaction nothing is. */
bool zm_db_recall(const struct zm_db *db, const char *key, size_t size, int64_t *ret_number);
void zm_db_remember(struct zm_db *db, const char *key, size_t size, int64_t number);

#endif
