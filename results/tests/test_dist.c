/*
 * dist: against published tables: the t and normal tables of every textbook, Mann and Whitney's table of
 * 1947, Fisher's tea-tasting lady, and R's documentation.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "results/dist.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void assert_near(double value, double wanted, double error)
{
	if (!(fabs(value - wanted) <= error))
		fail_msg("%.12g is not %.12g", value, wanted);
}

static void the_normal_table(void **state)
{
	static const struct {
		double p, z;
	} cases[] = { { 0.5, 0 },
		      { 0.8, 0.8416212335729143 },
		      { 0.975, 1.959963984540054 },
		      { 0.995, 2.5758293035489004 },
		      { 0.9995, 3.2905267314919255 },
		      { 1e-9, -5.9978070150076865 },
		      { 1e-20, -9.262340089798408 } };

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		assert_near(zm_normal_quantile(cases[i].p), cases[i].z, 1e-12);
		assert_near(zm_normal_cdf(cases[i].z), cases[i].p, 1e-14);
	}
	assert_true(isinf(zm_normal_quantile(0)) && isinf(zm_normal_quantile(1)));
	assert_true(isnan(zm_normal_quantile(1.5)));
}

static void the_t_table(void **state)
{
	static const struct {
		double freedom, p, t;
	} cases[] = {
		{ 1, 0.975, 12.7062 },       { 1, 0.8, 1.37638 },    { 2, 0.975, 4.30265 },
		{ 3, 0.975, 3.18245 },       { 4, 0.975, 2.77645 },  { 5, 0.995, 4.03214 },
		{ 10, 0.95, 1.81246 },       { 30, 0.975, 2.04227 }, { 120, 0.975, 1.97993 },
		{ 1000000, 0.975, 1.95997 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		assert_near(zm_t_quantile(cases[i].p, cases[i].freedom), cases[i].t,
			    1e-5 * fabs(cases[i].t));
		assert_near(zm_t_quantile(1 - cases[i].p, cases[i].freedom), -cases[i].t,
			    1e-5 * fabs(cases[i].t));
		assert_near(zm_t_cdf(cases[i].t, cases[i].freedom), cases[i].p, 1e-6);
	}
	/* One degree of freedom is Cauchy's distribution, two has a closed form. */
	for (double t = -50; t < 50; t += 0.37) {
		assert_near(zm_t_cdf(t, 1), 0.5 + atan(t) / acos(-1), 1e-12);
		assert_near(zm_t_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-12);
	}
	for (double freedom = 0.5; freedom < 400; freedom *= 1.7)
		for (double p = 0.501; p < 0.9999; p += 0.0123)
			assert_near(zm_t_cdf(zm_t_quantile(p, freedom), freedom), p, 1e-11);
}

/* Smallest P(U <= u): 1 / C(n1 + n2, n1), and the critical values of the 5 % two-sided test. */
static void the_u_table(void **state)
{
	static const struct {
		size_t n1, n2;
		double least;
		size_t critical; /* largest u with P(U <= u) <= 0.025; SIZE_MAX: none */
	} cases[] = {
		{ 3, 3, 1.0 / 20, SIZE_MAX }, { 4, 4, 1.0 / 70, 0 },
		{ 5, 5, 1.0 / 252, 2 },       { 6, 6, 1.0 / 924, 5 },
		{ 7, 7, 1.0 / 3432, 8 },      { 8, 8, 1.0 / 12870, 13 },
		{ 10, 10, 1.0 / 184756, 23 }, { 5, 8, 1.0 / 1287, 6 },
		{ 8, 5, 1.0 / 1287, 6 },      { 20, 20, 7.254444551924e-12, 127 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		size_t largest = SIZE_MAX, all = cases[i].n1 * cases[i].n2;
		struct zm_u u;

		assert_int_equal(zm_u_make(&u, cases[i].n1, cases[i].n2), 0);
		assert_near(u.cdf[0], cases[i].least, 1e-12 * cases[i].least + 1e-17);
		assert_near(u.cdf[all], 1, 1e-12);
		for (size_t k = 0; k <= all && u.cdf[k] <= 0.025; k++)
			largest = k;
		assert_int_equal(largest, cases[i].critical);
		for (size_t k = 0; k < all; k++) /* symmetric about n1 * n2 / 2 */
			assert_near(u.cdf[k], 1 - u.cdf[all - 1 - k], 1e-12);
		zm_u_release(&u);
	}
}

/* The smallest is 1 / 2^n; critical values as Wilcoxon and Wilcox printed them (1964), 5 % two-sided. */
static void the_w_table(void **state)
{
	static const struct {
		size_t n, critical; /* SIZE_MAX: none */
	} cases[] = {
		{ 5, SIZE_MAX }, { 6, 0 },   { 7, 2 },   { 8, 3 },   { 9, 5 },    { 10, 8 },
		{ 12, 13 },      { 15, 25 }, { 20, 52 }, { 25, 89 }, { 30, 137 }, { 50, 434 }
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		size_t largest = SIZE_MAX, all = cases[i].n * (cases[i].n + 1) / 2;
		struct zm_w w;

		assert_int_equal(zm_w_make(&w, cases[i].n), 0);
		assert_near(w.cdf[0], ldexp(1, -(int)cases[i].n), 1e-17);
		assert_near(w.cdf[all], 1, 1e-12);
		for (size_t k = 0; k <= all && w.cdf[k] <= 0.025; k++)
			largest = k;
		assert_int_equal(largest, cases[i].critical);
		for (size_t k = 0; k < all; k++)
			assert_near(w.cdf[k], 1 - w.cdf[all - 1 - k], 1e-12);
		zm_w_release(&w);
	}
}

static void many_values_have_their_w(void **state)
{
	struct zm_w w;
	double n = ZM_W_MAX, mean = n * (n + 1) / 4, sd = sqrt(n * (n + 1) * (2 * n + 1) / 24);

	(void)state;
	assert_int_equal(zm_w_make(&w, ZM_W_MAX), 0);
	for (double z = -4; z < 4; z += 0.5)
		assert_near(w.cdf[(size_t)(mean + z * sd)], zm_normal_cdf(z), 1e-3);
	zm_w_release(&w);
	assert_int_equal(zm_w_make(&w, ZM_W_MAX + 1), -EOVERFLOW);
	assert_int_equal(zm_w_make(&w, 0), 0);
	assert_near(w.cdf[0], 1, 0);
	zm_w_release(&w);
}

static void large_samples_have_their_u(void **state)
{
	struct zm_u u;
	double mean = 200.0 * 200 / 2, sd = sqrt(200.0 * 200 * 401 / 12);

	(void)state;
	assert_int_equal(zm_u_make(&u, 200, 200), 0);
	for (double z = -4; z < 4; z += 0.5)
		assert_near(u.cdf[(size_t)(mean + z * sd)], zm_normal_cdf(z), 1e-3);
	zm_u_release(&u);
	assert_int_equal(zm_u_make(&u, ZM_U_MAX + 1, 2), -EOVERFLOW);
	assert_int_equal(zm_u_make(&u, 0, 3), 0);
	assert_near(u.cdf[0], 1, 0);
	zm_u_release(&u);
}

static void exact_tables(void **state)
{
	static const struct {
		uint64_t a, n, b, m;
		double p;
	} cases[] = {
		{ 3, 4, 1, 4, 0.4857142857 }, /* the lady who tastes tea */
		{ 4, 4, 0, 4, 0.0285714286 },
		{ 10, 13, 2, 17, 0.0005367241 }, /* R's fisher.test: convicted twins */
		{ 0, 10, 0, 10, 1 },
		{ 0, 5, 5, 5, 0.0079365079 },
		{ 1, 1, 0, 1, 1 },
		{ 0, 0, 3, 5, 1 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		assert_near(zm_fisher(cases[i].a, cases[i].n, cases[i].b, cases[i].m), cases[i].p,
			    1e-9);
		assert_near(zm_fisher(cases[i].b, cases[i].m, cases[i].a, cases[i].n), cases[i].p,
			    1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_normal_table),
		cmocka_unit_test(the_t_table),
		cmocka_unit_test(the_u_table),
		cmocka_unit_test(the_w_table),
		cmocka_unit_test(many_values_have_their_w),
		cmocka_unit_test(large_samples_have_their_u),
		cmocka_unit_test(exact_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
