/* tolerance: chi-squared, Howe's factor, an interval. */
#include "results/tolerance.h"

#include <math.h>
#include <stdbool.h>

#include "results/dist.h"

#define STEPS 1000
#define TINY  1e-300

/* P(a, x) for x < a + 1. */
static double gamma_series(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int i = 1; i < STEPS * 100 && fabs(term) > fabs(sum) * 1e-16; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return sum * exp(a * log(x) - x - lgamma(a));
}

/* 1 - P(a, x) for larger x, by Lentz. */
static double gamma_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1 / TINY, d = 1 / b, h = d;

	for (int i = 1; i < STEPS * 100; i++) {
		double an = -i * (i - a), step;

		b += 2;
		d = an * d + b;
		d = fabs(d) < TINY ? TINY : d;
		c = b + an / c;
		c = fabs(c) < TINY ? TINY : c;
		d = 1 / d;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-16)
			break;
	}
	return h * exp(a * log(x) - x - lgamma(a));
}

double zm_chi2_cdf(double x, double freedom)
{
	double a = freedom / 2;

	if (!(x > 0))
		return isnan(x) ? NAN : 0;
	if (isinf(x))
		return 1;
	return x / 2 < a + 1 ? gamma_series(a, x / 2) : 1 - gamma_fraction(a, x / 2);
}

double zm_chi2_quantile(double p, double freedom)
{
	double low = 0, high = freedom + 10;

	if (!(p > 0 && p < 1) || !(freedom > 0))
		return p == 0 ? 0 : p == 1 ? INFINITY : NAN;
	while (zm_chi2_cdf(high, freedom) < p)
		high *= 2;
	for (int i = 0; i < STEPS && high - low > 1e-14 * high; i++) {
		double middle = (low + high) / 2;

		if (zm_chi2_cdf(middle, freedom) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

double zm_tolerance_factor(size_t nr, double coverage, double confidence)
{
	double n = (double)nr, nu = n - 1;

	if (nr < 2)
		return NAN;
	return zm_normal_quantile((1 + coverage) / 2) *
	       sqrt(nu * (1 + 1 / n) / zm_chi2_quantile(1 - confidence, nu));
}

struct zm_tolerance zm_tolerance_of(const double *values, size_t nr, double coverage,
				    double confidence)
{
	double factor = zm_tolerance_factor(nr, coverage, confidence), mean = 0, sum = 0, half;
	struct zm_tolerance none = { NAN, NAN, NAN };
	bool is_log = true;

	if (nr < 2)
		return none;
	for (size_t i = 0; i < nr; i++)
		is_log = is_log && values[i] > 0;
	for (size_t i = 0; i < nr; i++)
		mean += (is_log ? log(values[i]) : values[i]) / (double)nr;
	for (size_t i = 0; i < nr; i++)
		sum += pow((is_log ? log(values[i]) : values[i]) - mean, 2);
	half = factor * sqrt(sum / ((double)nr - 1));
	if (!is_log)
		return (struct zm_tolerance){ mean - half, mean + half, mean };
	return (struct zm_tolerance){ exp(mean - half), exp(mean + half), exp(mean) };
}
