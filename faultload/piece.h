/*
 * piece: how often something was done in a run, and how long it took in all; of all tasks together.
 *
 * For what happens a few times a second at most: the line is shared. It lies in the run's state, so
 * report() has it for the run as a whole, whatever the window's borders cut.
 */
#ifndef ZM_FAULTLOAD_PIECE_H
#define ZM_FAULTLOAD_PIECE_H

#include <stdatomic.h>
#include <stdint.h>

struct zm_piece {
	_Atomic uint64_t nr;
	_Atomic uint64_t total_ns;
};

static inline void zm_piece_add(struct zm_piece *piece, uint64_t ns)
{
	atomic_fetch_add_explicit(&piece->total_ns, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&piece->nr, 1, memory_order_relaxed);
}

/* Seconds, on average; 0 when it was never done. */
static inline double zm_piece_mean_s(const struct zm_piece *piece)
{
	uint64_t nr = atomic_load_explicit(&piece->nr, memory_order_relaxed);
	uint64_t ns = atomic_load_explicit(&piece->total_ns, memory_order_relaxed);

	return nr ? (double)ns / (double)nr / 1e9 : 0;
}

#endif
