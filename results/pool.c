/* pool: memory that is taken piece by piece and given back all at once. */
#include "results/pool.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)16384)

struct zm_pool_block {
	struct zm_pool_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

void zm_pool_release(struct zm_pool *pool)
{
	struct zm_pool_block *block = pool->blocks;

	while (block) {
		struct zm_pool_block *next = block->next;

		free(block);
		block = next;
	}
	*pool = (struct zm_pool){ 0 };
}

static struct zm_pool_block *add_block(struct zm_pool *pool, size_t least)
{
	size_t size = least > BLOCK_SIZE ? least : BLOCK_SIZE;
	struct zm_pool_block *block = calloc(1, sizeof(*block) + size);

	if (!block) {
		pool->error = -ENOMEM;
		return NULL;
	}
	block->size = size;
	block->next = pool->blocks;
	pool->blocks = block;
	return block;
}

void *zm_pool_take(struct zm_pool *pool, size_t size)
{
	size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	struct zm_pool_block *block = pool->blocks;
	void *taken;

	if (pool->error || rounded < size || rounded > SIZE_MAX / 2) {
		pool->error = -ENOMEM;
		return NULL;
	}
	if (!block || block->size - block->used < rounded)
		block = add_block(pool, rounded);
	if (!block)
		return NULL;
	taken = block->bytes + block->used;
	block->used += rounded;
	return taken;
}

const char *zm_pool_text(struct zm_pool *pool, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *copy = text ? zm_pool_take(pool, size) : NULL;

	if (copy)
		memcpy(copy, text, size);
	return copy;
}
