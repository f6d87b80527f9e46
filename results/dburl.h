/*
 * dburl: a database's URL as it may be shown and kept.
 *
 *     postgresql://USER:PASSWORD@HOST:PORT/NAME?sslmode=verify-full&password=…
 */
#ifndef ZM_RESULTS_DBURL_H
#define ZM_RESULTS_DBURL_H

#include <stdbool.h>

/* Does this name a server, and not a file? */
bool zm_dburl_is(const char *path);

/* A new text: the URL without the passwords in it. What stands between "//" and the last '@' is taken for
 * its credentials, also where libpq would not: rather too little is shown. A text that is no URL comes
 * back as it is. NULL: no memory. */
char *zm_dburl_public(const char *path);

/* The same without credentials, and of the settings only those that say where: what is the same for all
 * that write to one store. */
char *zm_dburl_place(const char *path);

#endif
