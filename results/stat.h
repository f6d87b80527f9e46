/*
 * stat: centre and spread of a few numbers.
 *
 * Formulas and where they are from:
 *
 *     mean       sum / n, summed with a running compensation (Neumaier 1974)
 *     sd         sqrt(sum (x - mean)^2 / (n - 1)), in two passes
 *     cv         sd / |mean|
 *     quantile   type 7 of Hyndman and Fan (1996): linear between order statistics, the one that R,
 *                NumPy and spreadsheets use
 *     mad        median |x - median|, times 1.4826 so that it estimates sd for normal values
 *                (Rousseeuw and Croux 1993)
 *     hl         Hodges and Lehmann (1963): the median of the means of all pairs, each value with
 *                itself too; for two samples, the median of all differences b - a
 *     hmean      n / sum (1 / x), of positive values
 *     gmean      exp (sum ln x / n), of positive values
 *
 * What does not exist (the sd of one number, a mean of none) is NaN, which callers show as absent.
 * Values that are NaN may not be among the input.
 */
#ifndef ZM_RESULTS_STAT_H
#define ZM_RESULTS_STAT_H

#include <stddef.h>

double zm_stat_mean(const double *values, size_t nr);
double zm_stat_sd(const double *values, size_t nr);
double zm_stat_cv(const double *values, size_t nr);
double zm_stat_hmean(const double *values, size_t nr);
double zm_stat_gmean(const double *values, size_t nr);

void zm_stat_sort(double *values, size_t nr);

/* Of sorted values, q from 0 to 1. */
double zm_stat_quantile(const double *sorted, size_t nr, double q);

/* These sort a copy. NaN also when memory runs out. */
double zm_stat_median(const double *values, size_t nr);
double zm_stat_mad(const double *values, size_t nr);
double zm_stat_hl(const double *values, size_t nr);
double zm_stat_hl_shift(const double *a, size_t nr_a, const double *b, size_t nr_b);

/* All that a table shows of a set of values. */
struct zm_spread {
	size_t nr;
	double mean, sd, cv;
	double min, median, max;
};

void zm_stat_spread(const double *values, size_t nr, struct zm_spread *ret_spread);

/*
 * Spread within launches and between them. A launch is one start of the tasks, its values are those of
 * its intervals. Within: the root of the mean of the launches' variances, weighted by their degrees
 * of freedom (pooled sd). Between: the sd of the launches' means. Both as a share of the mean of the
 * means. The two are shown apart, because more intervals make only the first better known.
 */
struct zm_launches {
	size_t nr;
	double mean;    /* of the launches' means */
	double within;  /* NaN when no launch has two intervals */
	double between; /* NaN for one launch */
};

/* values[i] has nrs[i] numbers; a launch without any is left out. */
void zm_stat_launches(const double *const *values, const size_t *nrs, size_t nr_launches,
		      struct zm_launches *ret_launches);

#endif
