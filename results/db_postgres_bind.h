/*
 * db_postgres_bind: a statement's values as libpq takes them.
 */
#ifndef ZM_RESULTS_DB_POSTGRES_BIND_H
#define ZM_RESULTS_DB_POSTGRES_BIND_H

#include "results/db.h"
#include "results/db_postgres_sql.h"

struct zm_postgres_binds {
	int nr;
	const char *texts[ZM_POSTGRES_PLACES]; /* NULL: NULL */
	int lengths[ZM_POSTGRES_PLACES], are_binary[ZM_POSTGRES_PLACES];
	char numbers[ZM_POSTGRES_PLACES][32];
	char *copies[ZM_POSTGRES_PLACES]; /* of texts that are no UTF-8 */
};

/* values: zeroed. They refer to what is bound. -EFBIG: a blob that no message can hold; -ENOMEM. To be undone
 * after a failure, too. */
int zm_postgres_bind(const struct zm_postgres_places *places, const struct zm_bind *binds,
		     struct zm_postgres_binds *values);
void zm_postgres_unbind(struct zm_postgres_binds *values);

#endif
