/*
 * noise_measure: from runs of one kernel to its noise floors.
 *
 *     within a boot     launches of one command in turns    a b | b a | a b | …    a's against b's
 *     between boots     all of one boot against all of an earlier one, of the same label
 *
 * Both sides are compared as any others are, and by how much each primary metric of each cell differed is kept.
 */
#ifndef ZM_RESULTS_NOISE_MEASURE_H
#define ZM_RESULTS_NOISE_MEASURE_H

#include "results/compare.h"

/* Two sides, whose runs are in this store. -EINVAL: they are not of one kernel on one machine, or not of this
 * store; -ENODATA: no primary metric that both have. */
int zm_noise_measure(struct zm_store *store, struct zm_compare_side *sides, struct zm_why *why);

/* The good runs of an invocation, cell by cell in turns: a b b a a b b a …; where there is an odd number the
 * first one is left out. */
int zm_noise_turns(struct zm_store *store, const char *invocation, struct zm_runset *ret_a,
		   struct zm_runset *ret_b, struct zm_why *why);

/* The good runs of that label on the newest boot but this one, of the same machine and kernel; none: there was
 * none. */
struct zm_noise_boot {
	const char *label, *machine, *kernel, *boot;
};
int zm_noise_earlier(struct zm_store *store, const struct zm_noise_boot *now,
		     struct zm_runset *ret_runs, struct zm_why *why);

#endif
