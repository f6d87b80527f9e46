/* walk: from end to end by touch's loops, at random by three of its own. */
#include "faultload/walk.h"

#include "workloads/base/touch.h"

#define DRAWS 2147483648.0 /* lrand48_r draws from 0 to this minus 1 */

void zm_walk_begin(struct zm_walk *walk, void *base, uint64_t bytes, uint64_t seed)
{
	walk->base = base;
	walk->nr_words = bytes / ZM_WORD_BYTES;
	walk->done = 0;
	walk->marks = NULL;
	if (walk->is_random)
		(void)srand48_r((long)seed, &walk->random);
}

void zm_walk_mark(struct zm_walk *walk, uint64_t *marks, uint64_t page_bytes)
{
	walk->marks = marks;
	walk->page_shift = (unsigned int)__builtin_ctzll(page_bytes / ZM_WORD_BYTES);
	walk->nr_unmarked = ((walk->nr_words - 1) >> walk->page_shift) + 1;
}

static double scale_of(const struct zm_walk *walk)
{
	return (double)(walk->nr_words - 1);
}

static inline uint64_t draw(struct zm_walk *walk, double scale)
{
	long drawn;

	(void)lrand48_r(&walk->random, &drawn);
	return (uint64_t)(scale * (double)drawn / DRAWS);
}

/* One load, or one store. Threads may go over one area at the same time: what they write is the same. */
static inline void read_word(volatile uint64_t *at)
{
	(void)__atomic_load_n(at, __ATOMIC_RELAXED);
}

static inline void write_word(volatile uint64_t *at, uint64_t word)
{
	__atomic_store_n(at, word, __ATOMIC_RELAXED);
}

static inline void touch(const struct zm_walk *walk, uint64_t word)
{
	if (walk->is_read)
		read_word(&walk->base[word]);
	else
		write_word(&walk->base[word], word);
}

static void go_straight(struct zm_walk *walk, uint64_t n)
{
	uint64_t end = walk->done + n;

	if (walk->is_read)
		zm_touch_read_words(walk->base, walk->done, end);
	else
		zm_touch_write_words(walk->base, walk->done, end);
	walk->last = end - 1;
}

static void read_anywhere(struct zm_walk *walk, uint64_t n)
{
	volatile uint64_t *base = walk->base;
	double scale = scale_of(walk);
	uint64_t word = 0;

	for (; n > 0; n--) {
		word = draw(walk, scale);
		read_word(&base[word]);
	}
	walk->last = word;
}

static void write_anywhere(struct zm_walk *walk, uint64_t n)
{
	volatile uint64_t *base = walk->base;
	double scale = scale_of(walk);
	uint64_t word = 0;

	for (; n > 0; n--) {
		word = draw(walk, scale);
		write_word(&base[word], word);
	}
	walk->last = word;
}

static void go_and_mark(struct zm_walk *walk, uint64_t n)
{
	double scale = scale_of(walk);
	uint64_t word = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t page, bit;

		word = draw(walk, scale);
		touch(walk, word);
		page = word >> walk->page_shift;
		bit = UINT64_C(1) << page % 64;
		walk->nr_unmarked -= !(walk->marks[page / 64] & bit);
		walk->marks[page / 64] |= bit;
	}
	walk->last = word;
}

uint64_t zm_walk_on(struct zm_walk *walk, uint64_t n)
{
	uint64_t left = walk->nr_words - walk->done;

	if (n > left)
		n = left;
	if (n == 0)
		return 0;
	if (!walk->is_random)
		go_straight(walk, n);
	else if (walk->marks && walk->nr_unmarked > 0)
		go_and_mark(walk, n);
	else if (walk->is_read)
		read_anywhere(walk, n);
	else
		write_anywhere(walk, n);
	walk->done += n;
	return n;
}
