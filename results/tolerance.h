/*
 * tolerance: limits that hold so much of a population with so much confidence, from a sample of it.
 *
 *     mean ± k sd,   k = z((1 + coverage) / 2) · sqrt(nu (1 + 1/n) / chi2(1 - confidence, nu)),   nu = n - 1
 *
 * which is Howe's factor (1969) for normal values, two-sided; against the exact ones it is within 2 % from
 * n = 3 on and 5 % too small for n = 2. Unlike a confidence interval of the mean it does not shrink
 * to nothing as n grows: it shrinks to the population's own spread.
 */
#ifndef ZM_RESULTS_TOLERANCE_H
#define ZM_RESULTS_TOLERANCE_H

#include <stddef.h>

/* NaN for fewer than two values. */
double zm_tolerance_factor(size_t nr, double coverage, double confidence);

/* Of values; on their logarithms when all are positive. NaN for fewer than two. */
struct zm_tolerance {
	double low, high;
	double centre; /* the mean, or the mean's antilogarithm */
};

struct zm_tolerance zm_tolerance_of(const double *values, size_t nr, double coverage,
				    double confidence);

/* Chi-squared: the regularised lower incomplete gamma function (its series below, its continued fraction above
 * the mean), and bisection. */
double zm_chi2_cdf(double x, double freedom);
double zm_chi2_quantile(double p, double freedom);

#endif
