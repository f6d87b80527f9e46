/*
 * outlier: which of several values does not belong to the others.
 *
 * Values are put in the order of their distance from the median, on the scale of their logarithms where all
 * are positive. From the outermost inwards each is held against what is left when those further out are
 * taken away: Grubbs' test (1950), Student's t of its distance from the rest, times how many values are
 * left. As with Rosner's generalised ESD (1983) all are outliers down to the last one for which the test
 * says so: several that hide each other are found, and one value alone costs no more than Grubbs.
 *
 * At most ZM_OUTLIER_SHARE of the values may be outliers, so that the rest is what is usual; with fewer than 10
 * values one, with fewer than 20 two. Under normal values the chance of any false one at p < alpha is about alpha
 * (bench/outliers measures it); with heavier tails it is more.
 */
#ifndef ZM_RESULTS_OUTLIER_H
#define ZM_RESULTS_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>

#define ZM_OUTLIER_LEAST 4 /* values */
#define ZM_OUTLIER_SHARE 0.2

struct zm_outlier {
	double change; /* from the median: a ratio less one, or a difference */
	double p;      /* already for all values of this set; 1 for those that were not looked at */
};

struct zm_outliers {
	struct zm_outlier *list; /* one per value, in their order */
	size_t nr;
	bool is_ratio;
	double median;
	double sd; /* of the values that are no suspects, on the scale that is judged */
	double p;  /* the smallest */
};

/* How many of nr values may be outliers. */
size_t zm_outlier_most(size_t nr);

/* -ENODATA: fewer than ZM_OUTLIER_LEAST; -ENOMEM. is_share: they are percentages, differences count. */
int zm_outliers_find(const double *values, size_t nr, bool is_share,
		     struct zm_outliers *ret_outliers);
void zm_outliers_release(struct zm_outliers *outliers);

/* The smallest difference of one value from nr - 1 others of this sd that is found with `power` at level alpha
 * among nr_comparisons (all values of all sets). */
double zm_outlier_detectable(size_t nr, double sd, bool is_ratio, double alpha, double power,
			     double nr_comparisons);

#endif
