/* pool: memory that is taken piece by piece and given back all at once. */
#ifndef ZM_RESULTS_POOL_H
#define ZM_RESULTS_POOL_H

#include <stddef.h>

struct zm_pool {
	struct zm_pool_block *blocks;
	int error; /* -ENOMEM once memory ran out */
};

void zm_pool_release(struct zm_pool *pool);

/* Zeroed, aligned for anything; NULL and pool->error when there is none. */
void *zm_pool_take(struct zm_pool *pool, size_t size);

/* A copy; of NULL, NULL. */
const char *zm_pool_text(struct zm_pool *pool, const char *text);

#endif
