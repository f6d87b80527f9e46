/*
 * pair: what n interleaved pairs of measurements say about the ratio of two things.
 *
 * The ratio is the Hodges-Lehmann estimate on the logarithms of the pairs' ratios: the median of all
 * Walsh averages (d_i + d_j) / 2, i <= j. Its interval are the Walsh averages between which the
 * Wilcoxon signed-rank test does not reject, from the test's exact distribution: it asks only that
 * the pairs' differences are symmetric, not normal. Fewer than 6 pairs cannot give 95 %: the interval
 * is then that of the range, and `confidence` says what it is worth.
 */
#ifndef ZM_BENCH_PAIR_H
#define ZM_BENCH_PAIR_H

#include <stdbool.h>
#include <stddef.h>

#define ZM_PAIR_MOST 400 /* pairs; a bound for the Walsh averages' number */

struct zm_pair_result {
	double median_a, median_b;
	double spread_a, spread_b; /* standard deviation / mean, launch to launch */
	double median_ratio;       /* the plain median of a / b */
	double ratio;              /* Hodges-Lehmann */
	double low, high;
	double confidence; /* of [low, high]: at least 0.95 where n allows */
};

/* All values above 0. -EINVAL: not so, or n is 0 or too large; -ENOMEM. */
int zm_pair_compare(const double *a, const double *b, size_t n, struct zm_pair_result *ret_result);

#endif
