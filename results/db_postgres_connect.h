/*
 * db_postgres_connect: a connection to a server, or the sentence that says why there is none.
 */
#ifndef ZM_RESULTS_DB_POSTGRES_CONNECT_H
#define ZM_RESULTS_DB_POSTGRES_CONNECT_H

#ifdef ZM_HAVE_PQ

#include <libpq-fe.h>

#include "workloads/base/why.h"

/* name is what messages call it. -ECONNREFUSED: it does not answer; -EACCES: it answers and refuses us;
 * -EINVAL: the URL is wrong, or the database of another encoding. */
int zm_postgres_connect(const char *url, const char *name, PGconn **ret_connection,
			struct zm_why *why);

/* The length of a message's first line: what follows is advice of libpq's own. */
int zm_postgres_line(const char *message);

#endif

#endif
