/*
 * side: what a word of a comparison means: a store's file, what others wrote, runs, a label, a kernel.
 *
 *     ./old.db      a store, all its runs (a path: with a slash in it)
 *     ./lkp/root    lkp-tests' folder, or what runtest.py or netperf printed (results/outside.h)
 *     base, 17      runs of that label, that number
 *     6.18.*        runs of kernels of that release or pattern
 */
#ifndef ZM_RUNNER_SIDE_H
#define ZM_RUNNER_SIDE_H

#include "results/compare.h"

/* Zeroed to begin with. */
struct zm_sides {
	struct zm_compare_side list[ZM_COMPARE_SIDES];
	size_t nr;
	struct zm_store *usual;                    /* NULL until a word needs it */
	struct zm_store *others[ZM_COMPARE_SIDES]; /* that words name */
	struct zm_outside outsides[ZM_COMPARE_SIDES];
};

/* Adds what the word means; it lives as long as the sides. db: the usual store's path, or NULL. -ENOENT:
 * nothing has that name; -E2BIG: ZM_COMPARE_SIDES are there; else the store's. */
int zm_sides_add(struct zm_sides *sides, const char *word, const char *db, struct zm_why *why);
void zm_sides_release(struct zm_sides *sides);

#endif
