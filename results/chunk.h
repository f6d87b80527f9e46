/*
 * chunk: everything that came between two flushes, as one packed row.
 *
 *     what was declared since (declared.h)
 *     nr of time bases; each: nr of moments, its moments
 *     nr of blocks;     each: series, time base, size, the readings (codec.h) as `size` bytes
 *
 * A flush thus costs one insert, however many series there are. When the run ends, the chunks are
 * put together into one row per series (assembly.h).
 */
#ifndef ZM_RESULTS_CHUNK_H
#define ZM_RESULTS_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "results/bytes.h"
#include "results/codec.h"
#include "results/declared.h"

/* Readings in the order in which they came. */
struct zm_pending {
	struct zm_pending_reading {
		uint32_t series;
		uint32_t flags;
		uint64_t t_ns;
		uint64_t value; /* a number, a double's bits, or an offset into hists */
	} * readings;
	size_t nr;
	size_t capacity;
	struct zm_buf hists;
};

void zm_pending_release(struct zm_pending *pending);

/* Appends the packed chunk to out. Sorts pending by series. -ENOMEM. */
int zm_chunk_put(struct zm_packer **packer, struct zm_buf *out, const struct zm_declared *declared,
		 size_t from_metric, size_t from_series, struct zm_pending *pending);

/* A chunk that has been opened. */
struct zm_chunk {
	struct zm_buf raw;
	struct zm_chunk_times {
		size_t nr;
		uint64_t *t_ns;
	} * times;
	size_t nr_times;
	struct zm_chunk_block {
		uint32_t series;
		uint32_t times;
		size_t offset, size; /* in raw */
	} * blocks;                  /* in the order of their series, each series once */
	size_t nr_blocks;
};

/* Opens a chunk and adds what it declares to `declared`. -EUCLEAN, -ENOMEM. */
int zm_chunk_get(const void *data, size_t size, struct zm_declared *declared,
		 struct zm_chunk *ret_chunk);
void zm_chunk_release(struct zm_chunk *chunk);

/* Appends a block's readings. */
int zm_chunk_readings(const struct zm_chunk *chunk, const struct zm_chunk_block *block,
		      struct zm_readings *readings);

#endif
