/*
 * db_postgres_sql: our SQL in PostgreSQL's words.
 *
 * A statement's values are ?1, ?2… with us, in any order and with gaps; there they are $1, $2… in the order
 * in which they are met. A script's types and tables are ours (results/db.h).
 */
#ifndef ZM_RESULTS_DB_POSTGRES_SQL_H
#define ZM_RESULTS_DB_POSTGRES_SQL_H

#include <stddef.h>

#define ZM_POSTGRES_PLACES 32

struct zm_postgres_places {
	size_t nr;
	unsigned char from[ZM_POSTGRES_PLACES]; /* $(i + 1) is ?(from[i] + 1) */
};

/* A new text. NULL: no memory, or more than ZM_POSTGRES_PLACES values. */
char *zm_postgres_statement(const char *sql, struct zm_postgres_places *ret_places);
char *zm_postgres_script(const char *sql);

#endif
