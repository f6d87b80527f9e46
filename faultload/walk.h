/*
 * walk: over an area word by word of 8 bytes, from one end to the other or at random.
 *
 * As vm-scalability's usemem goes: a sequential walk touches each word once, a random one as many
 * words as there are, each drawn from all but the last. A write leaves the word's own number in it.
 * The draw is the original's, lrand48_r scaled to the area: 2^31 places at most, so of areas beyond
 * 16 GiB every second, third… word. The state is the task's own; nothing is shared.
 */
#ifndef ZM_FAULTLOAD_WALK_H
#define ZM_FAULTLOAD_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define ZM_WORD_BYTES 8

/* Words of a step, some hundred microseconds, so that what lies between steps does not show: from end to
 * end 512 pages of 4 KiB; at random hardly a page any more, once most were touched. */
#define ZM_WALK_BATCH        262144
#define ZM_WALK_RANDOM_BATCH 16384

struct zm_walk {
	uint64_t *base;
	uint64_t nr_words;
	uint64_t done; /* words so far in this round */
	uint64_t last; /* the word touched last */
	bool is_random;
	bool is_read;
	struct drand48_data random;
	/* While the pages are marked that were touched (one bit each); NULL: not marked. */
	uint64_t *marks;
	unsigned int page_shift; /* of a word's number, to its page's */
	uint64_t nr_unmarked;
};

/* A new round over the area. */
void zm_walk_begin(struct zm_walk *walk, void *base, uint64_t bytes, uint64_t seed);

/* The next n words, or fewer at the round's end; returns how many. */
uint64_t zm_walk_on(struct zm_walk *walk, uint64_t n);

/* What the word touched last holds now. */
static inline uint64_t zm_walk_last(const struct zm_walk *walk)
{
	return __atomic_load_n(&walk->base[walk->last], __ATOMIC_RELAXED);
}

/* For random walks: from now on, until no page of page_bytes is untouched, each word's page is marked.
 * marks: zeroed, one bit per page. */
void zm_walk_mark(struct zm_walk *walk, uint64_t *marks, uint64_t page_bytes);

/* Was every page touched since zm_walk_mark? */
static inline bool zm_walk_has_marked_all(const struct zm_walk *walk)
{
	return walk->marks && walk->nr_unmarked == 0;
}

#endif
