/* arena: memory that is taken piece by piece and given back all at once. */
#include "results/arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)16384)

struct zm_arena_block {
	struct zm_arena_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

void zm_arena_release(struct zm_arena *arena)
{
	struct zm_arena_block *block = arena->blocks;

	while (block) {
		struct zm_arena_block *next = block->next;

		free(block);
		block = next;
	}
	*arena = (struct zm_arena){ 0 };
}

static struct zm_arena_block *add_block(struct zm_arena *arena, size_t least)
{
	size_t size = least > BLOCK_SIZE ? least : BLOCK_SIZE;
	struct zm_arena_block *block = calloc(1, sizeof(*block) + size);

	if (!block) {
		arena->error = -ENOMEM;
		return NULL;
	}
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *zm_arena_take(struct zm_arena *arena, size_t size)
{
	size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	struct zm_arena_block *block = arena->blocks;
	void *taken;

	if (arena->error || rounded < size || rounded > SIZE_MAX / 2) {
		arena->error = -ENOMEM;
		return NULL;
	}
	if (!block || block->size - block->used < rounded)
		block = add_block(arena, rounded);
	if (!block)
		return NULL;
	taken = block->bytes + block->used;
	block->used += rounded;
	return taken;
}

const char *zm_arena_text(struct zm_arena *arena, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *copy = text ? zm_arena_take(arena, size) : NULL;

	if (copy)
		memcpy(copy, text, size);
	return copy;
}
