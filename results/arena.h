/* arena: memory that is taken piece by piece and given back all at once. */
#ifndef ZM_RESULTS_ARENA_H
#define ZM_RESULTS_ARENA_H

#include <stddef.h>

struct zm_arena {
	struct zm_arena_block *blocks;
	int error; /* -ENOMEM once memory ran out */
};

void zm_arena_release(struct zm_arena *arena);

/* Zeroed, aligned for anything; NULL and arena->error when there is none. */
void *zm_arena_take(struct zm_arena *arena, size_t size);

/* A copy; of NULL, NULL. */
const char *zm_arena_text(struct zm_arena *arena, const char *text);

#endif
