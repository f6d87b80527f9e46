/*
 * stacks: call chains in the folded form, and reading them back from a store.
 *
 *     a;b;c 12        c was called by b, b by a: met 12 times
 *
 * A line per chain, the outermost frame first, ';' between frames, a blank and the count behind the
 * last. Frames hold no ';', no line end and no control characters: zm_stacks_frame sees to it.
 */
#ifndef ZM_RESULTS_STACKS_H
#define ZM_RESULTS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "results/store.h"

#define ZM_STACKS_DEPTH 512 /* frames of a chain; the others, innermost, are left out */

/* Writes a frame's name, with what the form does not allow as '_'. An empty one is "_". */
void zm_stacks_frame(FILE *out, const char *name);

/* One chain of a text. */
struct zm_stack {
	const char *frames[ZM_STACKS_DEPTH]; /* the outermost first; not terminated */
	size_t lengths[ZM_STACKS_DEPTH];
	size_t nr;
	uint64_t times;
};

/* The next chain at *at, which goes on behind it; false at the end. Lines that are none are passed
 * over. */
bool zm_stacks_next(const char **at, struct zm_stack *ret_stack);

/* All that a run has, in the order in which they were recorded; their texts live during the call.
 * `each` may end it early by returning other than 0, which is then returned. -EUCLEAN: damaged. */
int zm_stacks_read(struct zm_store *store, uint64_t run,
		   int (*each)(void *context, const struct zm_stacks *stacks), void *context,
		   struct zm_why *why);

#endif
