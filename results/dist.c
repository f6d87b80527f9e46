/* dist: the distributions that tests are made of. */
#include "results/dist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

double zm_normal_cdf(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

/* A quotient of two polynomials in r, coefficients from the constant upwards. */
static double quotient(double r, const double *above, const double *below)
{
	double numerator = 0, denominator = 0;

	for (int i = 7; i >= 0; i--) {
		numerator = numerator * r + above[i];
		denominator = denominator * r + below[i];
	}
	return numerator / denominator;
}

/* AS 241, PPND16. */
double zm_normal_quantile(double p)
{
	static const double central_above[] = {
		3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
		1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
		3.3430575583588128105e+4, 2.5090809287301226727e+3
	};
	static const double central_below[] = { 1.0,
						4.2313330701600911252e+1,
						6.8718700749205790830e+2,
						5.3941960214247511077e+3,
						2.1213794301586595867e+4,
						3.9307895800092710610e+4,
						2.8729085735721942674e+4,
						5.2264952788528545610e+3 };
	static const double near_above[] = { 1.42343711074968357734e0,  4.63033784615654529590e0,
					     5.76949722146069140550e0,  3.64784832476320460504e0,
					     1.27045825245236838258e0,  2.41780725177450611770e-1,
					     2.27238449892691845833e-2, 7.74545014278341407640e-4 };
	static const double near_below[] = { 1.0,
					     2.05319162663775882187e0,
					     1.67638483018380384940e0,
					     6.89767334985100004550e-1,
					     1.48103976427480074590e-1,
					     1.51986665636164571966e-2,
					     5.47593808499534494600e-4,
					     1.05075007164441684324e-9 };
	static const double far_above[] = { 6.65790464350110377720e0,  5.46378491116411436990e0,
					    1.78482653991729133580e0,  2.96560571828504891230e-1,
					    2.65321895265761230930e-2, 1.24266094738807843860e-3,
					    2.71155556874348757815e-5, 2.01033439929228813265e-7 };
	static const double far_below[] = { 1.0,
					    5.99832206555887937690e-1,
					    1.36929880922735805310e-1,
					    1.48753612908506148525e-2,
					    7.86869131145613259100e-4,
					    1.84631831751005468180e-5,
					    1.42151175831644588870e-7,
					    2.04426310338993978564e-15 };
	double q = p - 0.5, r, z;

	if (!(p > 0 && p < 1))
		return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : (double)NAN;
	if (fabs(q) <= 0.425)
		return q * quotient(0.180625 - q * q, central_above, central_below);
	r = sqrt(-log(q < 0 ? p : 1 - p));
	z = r <= 5 ? quotient(r - 1.6, near_above, near_below)
		   : quotient(r - 5, far_above, far_below);
	return q < 0 ? -z : z;
}

/* The continued fraction of the incomplete beta function (Lentz's method). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	double h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return h;
}

/* I_x(a, b) */
static double beta_regular(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double zm_t_cdf(double t, double freedom)
{
	double tail;

	if (isnan(t) || !(freedom > 0))
		return NAN;
	if (isinf(t))
		return t > 0;
	tail = 0.5 * beta_regular(freedom / 2, 0.5, freedom / (freedom + t * t));
	return t > 0 ? 1 - tail : tail;
}

static double t_density(double t, double freedom)
{
	return exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) -
		   (freedom + 1) / 2 * log1p(t * t / freedom)) /
	       sqrt(freedom * acos(-1));
}

/* Above the median only; below by symmetry. Newton's steps from a first guess (the normal quantile with
 * the first term of Cornish and Fisher's series), halving instead wherever a step leaves the bracket. */
double zm_t_quantile(double p, double freedom)
{
	double low = 0, high = 1, t, z;

	if (!(p > 0 && p < 1) || !(freedom > 0))
		return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : (double)NAN;
	if (p < 0.5)
		return -zm_t_quantile(1 - p, freedom);
	z = zm_normal_quantile(p);
	t = z + (z * z * z + z) / (4 * freedom);
	high = fmax(2 * t, 1);
	while (zm_t_cdf(high, freedom) < p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
		double off = zm_t_cdf(t, freedom) - p;
		double step = off / t_density(t, freedom);

		if (off < 0)
			low = t;
		else
			high = t;
		if (fabs(step) <= 1e-14 * fabs(t))
			break;
		t -= step;
		if (!(t > low && t < high))
			t = (low + high) / 2;
	}
	return t;
}

void zm_u_release(struct zm_u *u)
{
	free(u->cdf);
	*u = (struct zm_u){ 0 };
}

/* The numbers of orders with U = 0, 1… are the coefficients of
 * product (1 - q^(n2 + i)) / (1 - q^i), i = 1 … n1. Divided by their sum as they go, so that they stay in
 * a double's range. */
int zm_u_make(struct zm_u *u, size_t n1, size_t n2)
{
	size_t size = n1 * n2 + 1;
	double *counts, sum = 0;

	if (n1 > ZM_U_MAX || n2 > ZM_U_MAX)
		return -EOVERFLOW;
	counts = calloc(size, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	counts[0] = 1;
	for (size_t i = 1; i <= n1; i++) {
		double scale = (double)i / (double)(n2 + i); /* C(n2 + i, i) grows by its inverse */

		for (size_t k = size; k-- > n2 + i;)
			counts[k] -= counts[k - n2 - i];
		for (size_t k = i; k < size; k++)
			counts[k] += counts[k - i];
		for (size_t k = 0; k < size; k++)
			counts[k] *= scale;
	}
	for (size_t k = 0; k < size; k++) {
		sum += counts[k];
		counts[k] = sum;
	}
	*u = (struct zm_u){ .n1 = n1, .n2 = n2, .cdf = counts };
	return 0;
}

void zm_w_release(struct zm_w *w)
{
	free(w->cdf);
	*w = (struct zm_w){ 0 };
}

/* Each rank is in the sum or not, with the same chance. */
int zm_w_make(struct zm_w *w, size_t n)
{
	size_t size = n * (n + 1) / 2 + 1;
	double *shares, sum = 0;

	if (n > ZM_W_MAX)
		return -EOVERFLOW;
	shares = calloc(size, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	shares[0] = 1;
	for (size_t i = 1; i <= n; i++) {
		for (size_t k = i * (i + 1) / 2 + 1; k-- > 0;)
			shares[k] = (shares[k] + (k >= i ? shares[k - i] : 0)) / 2;
	}
	for (size_t k = 0; k < size; k++) {
		sum += shares[k];
		shares[k] = sum;
	}
	*w = (struct zm_w){ .n = n, .cdf = shares };
	return 0;
}

static double log_choose(uint64_t n, uint64_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double zm_fisher(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
	uint64_t failed = a + b;
	uint64_t least = failed > m ? failed - m : 0, most = failed < n ? failed : n;
	double seen, all, sum = 0;

	if (n == 0 || m == 0)
		return 1;
	all = log_choose(n + m, failed);
	seen = log_choose(n, a) + log_choose(m, b) - all;
	for (uint64_t k = least; k <= most; k++) {
		double likely = log_choose(n, k) + log_choose(m, failed - k) - all;

		if (likely <= seen + 1e-7)
			sum += exp(likely);
	}
	return sum < 1 ? sum : 1;
}
