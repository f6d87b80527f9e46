/*
 * tolerance: against published factors, and by the share of populations that it holds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "results/dist.h"
#include "results/tolerance.h"
#include "workloads/base/random.h"

static void assert_near(double have, double want, double share)
{
	if (!(fabs(have - want) <= share * fabs(want)))
		fail_msg("%.10g, and not %.10g", have, want);
}

/* Tables of the chi-squared distribution. */
static void chi_squared_is_as_tables_have_it(void **state)
{
	static const struct {
		double p, freedom, x;
	} cases[] = {
		{ 0.95, 1, 3.841458820694124 },   { 0.05, 1, 0.003932140000019522 },
		{ 0.95, 10, 18.307038053275146 }, { 0.05, 10, 3.940299136119060 },
		{ 0.01, 30, 14.953456528455439 }, { 0.99, 100, 135.8067231710267 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_near(zm_chi2_quantile(cases[i].p, cases[i].freedom), cases[i].x, 1e-9);
		assert_near(zm_chi2_cdf(cases[i].x, cases[i].freedom), cases[i].p, 1e-9);
	}
	assert_true(zm_chi2_cdf(0, 3) == 0 && zm_chi2_cdf(INFINITY, 3) == 1);
	assert_true(isnan(zm_chi2_quantile(-1, 3)));
}

/* With two degrees of freedom it is an exponential. */
static void quantiles_and_shares_are_each_others_reverse(void **state)
{
	(void)state;
	for (double p = 0.001; p < 1; p += 0.0173) {
		assert_near(zm_chi2_quantile(p, 2), -2 * log(1 - p), 1e-9);
		for (double freedom = 1; freedom < 300; freedom *= 3)
			assert_near(zm_chi2_cdf(zm_chi2_quantile(p, freedom), freedom), p, 1e-9);
	}
}

/* Exact two-sided factors for 99 % with 95 % confidence, as ISO 16269-6 and others tabulate them. */
static void the_factor_is_near_the_exact_one(void **state)
{
	static const struct {
		size_t nr;
		double exact, share;
	} cases[] = {
		{ 3, 12.86, 0.03 },  { 5, 6.598, 0.02 },  { 10, 4.433, 0.02 },
		{ 20, 3.615, 0.02 }, { 50, 3.126, 0.02 }, { 100, 2.934, 0.02 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_near(zm_tolerance_factor(cases[i].nr, 0.99, 0.95), cases[i].exact,
			    cases[i].share);
	assert_true(isnan(zm_tolerance_factor(1, 0.99, 0.95)));
}

static double normal(struct zm_random *random)
{
	return zm_normal_quantile((double)(zm_random_next(random) >> 11) * 0x1p-53 + 0x1p-54);
}

/* Of 4,000 samples the interval must hold 90 % of the population in about 95 %: 3,700 to 3,900. */
static void it_holds_what_it_promises(void **state)
{
	struct zm_random random;
	int nr_good = 0;

	(void)state;
	zm_random_init(&random, 7, 0);
	for (int i = 0; i < 4000; i++) {
		double values[8];
		struct zm_tolerance tolerance;

		for (size_t k = 0; k < 8; k++)
			values[k] = normal(&random);
		tolerance = zm_tolerance_of(values, 8, 0.9, 0.95);
		nr_good += zm_normal_cdf(tolerance.high) - zm_normal_cdf(tolerance.low) >= 0.9;
	}
	assert_in_range(nr_good, 3700, 3900);
}

static void positive_values_are_taken_by_ratio(void **state)
{
	static const double values[] = { 90, 100, 110 }, turned[] = { 1 / 90., 1 / 100., 1 / 110. };
	struct zm_tolerance a = zm_tolerance_of(values, 3, 0.99, 0.95);
	struct zm_tolerance b = zm_tolerance_of(turned, 3, 0.99, 0.95);
	static const double zero[] = { 0, 1, 2 };

	(void)state;
	assert_near(a.low, 1 / b.high, 1e-9);
	assert_near(a.high, 1 / b.low, 1e-9);
	assert_true(zm_tolerance_of(zero, 3, 0.99, 0.95).low < 0);
	assert_true(isnan(zm_tolerance_of(values, 1, 0.99, 0.95).low));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chi_squared_is_as_tables_have_it),
		cmocka_unit_test(quantiles_and_shares_are_each_others_reverse),
		cmocka_unit_test(the_factor_is_near_the_exact_one),
		cmocka_unit_test(it_holds_what_it_promises),
		cmocka_unit_test(positive_values_are_taken_by_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
