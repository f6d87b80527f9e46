/*
 * chains: an open-addressing table over chains whose frames lie one behind the other.
 */
#include "runner/monitors/chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int zm_chains_init(struct zm_chains *chains, uint32_t capacity, size_t max_frames)
{
	*chains = (struct zm_chains){
		.list = calloc(capacity, sizeof(*chains->list)),
		.capacity = capacity,
		.slots = calloc((size_t)capacity * 2, sizeof(*chains->slots)),
		.nr_slots = capacity * 2,
		.frames = calloc(max_frames, sizeof(*chains->frames)),
		.max_frames = max_frames,
	};
	if (chains->list && chains->slots && chains->frames)
		return 0;
	zm_chains_release(chains);
	return -ENOMEM;
}

void zm_chains_release(struct zm_chains *chains)
{
	free(chains->list);
	free(chains->slots);
	free(chains->frames);
	*chains = (struct zm_chains){ 0 };
}

static uint64_t hash_of(const uint64_t *frames, uint32_t nr)
{
	uint64_t hash = nr;

	for (uint32_t i = 0; i < nr; i++) {
		hash = (hash ^ frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

const uint64_t *zm_chains_frames(const struct zm_chains *chains, const struct zm_chain *chain)
{
	return &chains->frames[chain->first];
}

static bool is_same(const struct zm_chains *chains, const struct zm_chain *chain, uint64_t hash,
		    const uint64_t *frames, uint32_t nr)
{
	return chain->hash == hash && chain->nr == nr &&
	       memcmp(zm_chains_frames(chains, chain), frames, nr * sizeof(*frames)) == 0;
}

void zm_chains_add(struct zm_chains *chains, const uint64_t *frames, uint32_t nr, uint64_t times)
{
	uint64_t hash = hash_of(frames, nr);
	uint32_t at = (uint32_t)hash & (chains->nr_slots - 1);

	for (; chains->slots[at]; at = (at + 1) & (chains->nr_slots - 1)) {
		struct zm_chain *chain = &chains->list[chains->slots[at] - 1];

		if (!is_same(chains, chain, hash, frames, nr))
			continue;
		chain->times += times;
		return;
	}
	if (chains->nr == chains->capacity || chains->max_frames - chains->nr_frames < nr) {
		chains->nr_unkept += times;
		return;
	}
	chains->list[chains->nr] = (struct zm_chain){
		.times = times, .first = (uint32_t)chains->nr_frames, .nr = nr, .hash = hash
	};
	memcpy(&chains->frames[chains->nr_frames], frames, nr * sizeof(*frames));
	chains->nr_frames += nr;
	chains->slots[at] = ++chains->nr;
}
