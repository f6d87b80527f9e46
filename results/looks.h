/*
 * looks: a comparison that is looked at several times while its values come in, and whose chance of a
 * false verdict is still the one that was asked for.
 *
 * Whoever tests again and again at 5 % has one false alarm in five, sooner or later. So each look gets a
 * part of the error: after n of at most N values a side, alpha * n / N may have been spent (Lan and DeMets
 * 1983, with the spending function of Kim and DeMets 1987 whose exponent is 1). How strict one look has to be so
 * that all so far come to that sum follows from how the looks hang together, that of a Brownian motion
 * (Armitage, McPherson and Rowe 1969). It comes out as a level: at that look p is compared with it, and the
 * interval is drawn at it. Such intervals hold the truth at *all* looks together (repeated confidence
 * intervals, Jennison and Turnbull 1989), whatever the rule by which one stops.
 */
#ifndef ZM_RESULTS_LOOKS_H
#define ZM_RESULTS_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#define ZM_LOOKS_MOST   16
#define ZM_LOOKS_VALUES 200 /* a side, at most */

/* After how many values a side one looks. */
struct zm_looks {
	size_t at[ZM_LOOKS_MOST];
	size_t nr;
};

/* At 4, and each time half as many more, up to `most`; or only once, at `most`. */
void zm_looks_plan(size_t most, bool is_sequential, struct zm_looks *ret_looks);

/* The two-sided level of the last of these looks. `most`: N; is_last: there will be no more (the time is
 * up), so all that is left may be spent. nr_verdicts: so many are given at each look by Holm's correction;
 * the level is the one to give to it. -EINVAL: not ascending, or above `most`; -ENOMEM. */
int zm_looks_level(double alpha, const struct zm_looks *looks, size_t most, bool is_last,
		   size_t nr_verdicts, double *ret_level);

/* The same for any spending function: spent[i] of the error may have been used when fractions[i] (of 1) of the
 * values are there; both ascend. */
int zm_looks_levels(const double *fractions, const double *spent, size_t nr, double *ret_levels);

#endif
