/*
 * schema: what the tables are, and how an older store becomes a newer one.
 *
 * The migrations are an ordered list; number n makes a store of version n from one of version n - 1,
 * the first one from an empty file. All that are needed are applied in one transaction: a store is
 * of the old version or of the new one, never between. A store of a version that this list does not
 * reach is refused.
 */
#ifndef ZM_RESULTS_SCHEMA_H
#define ZM_RESULTS_SCHEMA_H

#include <stddef.h>

#include "results/db.h"

#define ZM_SCHEMA_APPLICATION 0x5a4d524b /* "ZMRK" */

struct zm_migration {
	const char *sql;
	const char *server; /* what a server gets besides; NULL: nothing */
	/* For who reads an older store: the tables that it brings, empty and temporary; or NULL. */
	const char *stand_in;
};

extern const struct zm_migration zm_migrations[];
extern const size_t zm_nr_migrations;

/* Is this file a store of the newest version? 0; -ENODATA: an empty file, -ESTALE: an older version
 * (both without a sentence), -EPROTO: a newer one, -EUCLEAN: something else. Changes nothing. */
int zm_schema_check(struct zm_db *db, size_t nr_migrations, struct zm_why *why);

/* For reading a store of an older version (-ESTALE): its connection gets what it has not, empty. The file stays
 * as it is. */
int zm_schema_stand_in(struct zm_db *db, const struct zm_migration *migrations,
		       size_t nr_migrations, struct zm_why *why);

/* Makes it one. -EPROTO and -EUCLEAN as above, and nothing is changed. */
int zm_schema_apply(struct zm_db *db, const struct zm_migration *migrations, size_t nr_migrations,
		    struct zm_why *why);

#endif
