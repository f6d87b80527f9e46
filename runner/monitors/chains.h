/*
 * chains: how often each call chain was met.
 *
 * All memory is taken when it is made: adding a chain allocates nothing. A chain that finds no more room
 * is counted, but not kept.
 */
#ifndef ZM_RUNNER_MONITORS_CHAINS_H
#define ZM_RUNNER_MONITORS_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zm_chain {
	uint64_t times;
	uint32_t first; /* its frames' place, innermost first */
	uint32_t nr;
	uint64_t hash;
};

/* A zeroed struct keeps none. */
struct zm_chains {
	struct zm_chain *list;
	uint32_t nr, capacity;
	uint32_t *slots; /* 1 + the chain's place; twice as many as chains, a power of two */
	uint32_t nr_slots;
	uint64_t *frames;
	size_t nr_frames, max_frames;
	uint64_t nr_unkept;
};

/* capacity is a power of two. -ENOMEM. */
int zm_chains_init(struct zm_chains *chains, uint32_t capacity, size_t max_frames);
void zm_chains_release(struct zm_chains *chains);

void zm_chains_add(struct zm_chains *chains, const uint64_t *frames, uint32_t nr, uint64_t times);

/* The frames of a chain. */
const uint64_t *zm_chains_frames(const struct zm_chains *chains, const struct zm_chain *chain);

#endif
