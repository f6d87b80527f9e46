/*
 * db_engine: what a kind of database has to know; db.c speaks to one of these.
 *
 *     zm_db_sqlite     a file                 (db_sqlite.c)
 *     zm_db_postgres   a server by its URL    (db_postgres.c; refuses to open in a build without libpq)
 *
 * An engine keeps what it needs behind a struct zm_db that comes first in a struct of its own, of
 * `size` bytes, zeroed before `open`. After a failed open, `close` is called all the same.
 */
#ifndef ZM_RESULTS_DB_ENGINE_H
#define ZM_RESULTS_DB_ENGINE_H

#include "results/db.h"

enum zm_transaction {
	ZM_TRANSACTION_READ,   /* everything is of one moment */
	ZM_TRANSACTION_WRITE,  /* taken at once */
	ZM_TRANSACTION_SCHEMA, /* the same, and only one at a time among all connections */
};

struct zm_db_engine {
	size_t size;
	bool is_shared; /* see zm_db_is_shared */
	int (*open)(struct zm_db *db, const char *where, enum zm_db_mode mode, struct zm_why *why);
	void (*close)(struct zm_db *db);
	int (*settle)(struct zm_db *db, struct zm_why *why);
	int (*script)(struct zm_db *db, struct zm_why *why, const char *sql);
	int (*run)(struct zm_db *db, struct zm_why *why, const char *sql,
		   const struct zm_bind *binds);
	int (*send)(struct zm_db *db, struct zm_why *why, const char *sql,
		    const struct zm_bind *binds);
	int (*begin)(struct zm_db *db, enum zm_transaction kind, struct zm_why *why);
	int (*commit)(struct zm_db *db, struct zm_why *why);
	void (*rollback)(struct zm_db *db); /* fine when there is no transaction */
	bool (*in_transaction)(const struct zm_db *db);
	/* Fills in rows->cursor; `end` is only called when it did. */
	int (*query)(struct zm_db *db, struct zm_why *why, struct zm_rows *rows, const char *sql,
		     const struct zm_bind *binds);
	int (*walk)(struct zm_db *db, struct zm_why *why, struct zm_rows *rows, const char *sql,
		    const struct zm_bind *binds);
	bool (*next)(struct zm_rows *rows, struct zm_why *why, int *ret_error);
	void (*end)(struct zm_rows *rows);
	bool (*is_null)(const struct zm_rows *rows, int column);
	int64_t (*integer)(const struct zm_rows *rows, int column);
	double (*real)(const struct zm_rows *rows, int column);
	const char *(*text)(const struct zm_rows *rows, int column);
	const void *(*blob)(const struct zm_rows *rows, int column, size_t *ret_size);
	int (*read_mark)(struct zm_db *db, struct zm_db_mark *ret_mark, struct zm_why *why);
	int (*write_mark)(struct zm_db *db, int64_t application, int64_t version,
			  struct zm_why *why);
};

struct zm_db {
	const struct zm_db_engine *engine;
	char *path;  /* as messages name it: never with a password */
	void *known; /* numbers by their texts: a tree of tsearch */
};

extern const struct zm_db_engine zm_db_sqlite;
extern const struct zm_db_engine zm_db_postgres;

#endif
