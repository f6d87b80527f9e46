/*
 * stat: against published figures.
 *
 * NumAcc1 to NumAcc4 are NIST's Statistical Reference Datasets for numerical accuracy; the depression
 * scores and the permeabilities are examples 3.1 and 4.1 of Hollander and Wolfe, Nonparametric
 * Statistical Methods (1973), with the estimates printed there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "results/stat.h"
#include "workloads/base/random.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void assert_near(double value, double wanted, double relative)
{
	if (!(fabs(value - wanted) <= fabs(wanted) * relative))
		fail_msg("%.17g is not %.17g", value, wanted);
}

static const double depression_before[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
static const double depression_after[] = {
	0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29
};
static const double permeability_term[] = { 0.80, 0.83, 1.89, 1.04, 1.45,
					    1.38, 1.91, 1.64, 0.73, 1.46 };
static const double permeability_early[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };

/* 1,001 values: the middle once, then 0.1 below and above it 500 times. */
static void numacc(double middle, double *ret_values)
{
	ret_values[0] = middle;
	for (size_t i = 1; i < 1001; i++)
		ret_values[i] = middle + (i % 2 ? -0.1 : 0.1);
}

static void the_reference_datasets(void **state)
{
	static const double numacc1[] = { 10000001, 10000003, 10000002 };
	static const struct {
		double middle, tolerance; /* what doubles can hold of the values themselves */
	} cases[] = { { 1.2, 1e-14 }, { 1000000.2, 1e-8 }, { 10000000.2, 1e-7 } };
	double values[1001];

	(void)state;
	assert_near(zm_stat_mean(numacc1, 3), 10000002, 0);
	assert_near(zm_stat_sd(numacc1, 3), 1, 0);
	for (size_t i = 0; i < NR(cases); i++) {
		numacc(cases[i].middle, values);
		assert_near(zm_stat_mean(values, 1001), cases[i].middle, 1e-15);
		assert_near(zm_stat_sd(values, 1001), 0.1, cases[i].tolerance);
	}
}

static void sums_are_compensated(void **state)
{
	const double values[] = { 1, 1e100, 1, -1e100 };

	(void)state;
	assert_near(zm_stat_mean(values, 4), 0.5, 0);
}

static void quantiles_of_type_7(void **state)
{
	const double values[] = { 1, 2, 3, 4, 10 };
	static const struct {
		double q, value;
	} cases[] = { { 0, 1 }, { 0.25, 2 }, { 0.5, 3 }, { 0.9, 7.6 }, { 0.95, 8.8 }, { 1, 10 } };

	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		assert_near(zm_stat_quantile(values, 5, cases[i].q), cases[i].value, 1e-15);
	assert_near(zm_stat_median((const double[]){ 4, 1, 3, 2 }, 4), 2.5, 0);
	assert_near(zm_stat_quantile(values, 1, 0.3), 1, 0);
}

static void spread_by_rank(void **state)
{
	const double values[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1 };

	(void)state;
	assert_near(zm_stat_mad(values, 9), 2.9652, 1e-15);
}

static void hodges_and_lehmann(void **state)
{
	double differences[9];

	(void)state;
	for (size_t i = 0; i < 9; i++)
		differences[i] = depression_after[i] - depression_before[i];
	assert_near(zm_stat_hl(differences, 9), -0.46, 1e-12);
	assert_near(zm_stat_hl_shift(permeability_term, 10, permeability_early, 5), -0.305, 1e-12);
}

static void other_means(void **state)
{
	const double values[] = { 1, 4, 4 };

	(void)state;
	assert_near(zm_stat_hmean(values, 3), 2, 1e-15);
	assert_near(zm_stat_gmean((const double[]){ 2, 8 }, 2), 4, 1e-15);
	assert_true(isnan(zm_stat_hmean((const double[]){ 1, 0 }, 2)));
	assert_true(isnan(zm_stat_gmean((const double[]){ 1, -1 }, 2)));
}

static void what_does_not_exist_is_nan(void **state)
{
	const double one = 5;
	struct zm_spread summary;

	(void)state;
	assert_true(isnan(zm_stat_mean(NULL, 0)));
	assert_true(isnan(zm_stat_median(NULL, 0)));
	assert_true(isnan(zm_stat_hl(NULL, 0)));
	assert_true(isnan(zm_stat_hl_shift(&one, 1, NULL, 0)));
	assert_true(isnan(zm_stat_sd(&one, 1)));
	assert_true(isnan(zm_stat_cv((const double[]){ -1, 1 }, 2)));
	zm_stat_spread(NULL, 0, &summary);
	assert_true(isnan(summary.min) && isnan(summary.median) && isnan(summary.mean));
	zm_stat_spread(&one, 1, &summary);
	assert_true(summary.min == 5 && summary.median == 5 && summary.max == 5);
	assert_true(isnan(summary.sd));
}

/* The order of the values means nothing, and the input is left as it is. */
static void order_means_nothing(void **state)
{
	double values[31], copy[31];
	struct zm_spread first, second;
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 12, 0);
	for (size_t i = 0; i < 31; i++)
		values[i] = zm_random_unit(&random);
	zm_stat_spread(values, 31, &first);
	for (size_t i = 31; i > 1; i--) {
		size_t other = zm_random_below(&random, i);
		double kept = values[i - 1];

		values[i - 1] = values[other];
		values[other] = kept;
	}
	memcpy(copy, values, sizeof(copy));
	zm_stat_spread(values, 31, &second);
	assert_memory_equal(values, copy, sizeof(copy));
	assert_near(second.mean, first.mean, 1e-14);
	assert_near(second.sd, first.sd, 1e-14);
	assert_true(first.median == second.median && first.max == second.max);
}

static void sorting_sorts(void **state)
{
	double values[700];
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 13, 0);
	for (size_t nr = 0; nr < 700; nr = nr * 5 / 4 + 1) {
		double sum = 0, sorted = 0;

		for (size_t i = 0; i < nr; i++) {
			values[i] = (double)zm_random_below(&random, nr % 2 ? 10 : 1000000);
			sum += values[i];
		}
		zm_stat_sort(values, nr);
		for (size_t i = 0; i < nr; i++) {
			sorted += values[i];
			assert_true(i == 0 || values[i - 1] <= values[i]);
		}
		assert_true(sum == sorted);
	}
}

static void within_and_between(void **state)
{
	const double a[] = { 9, 11 }, b[] = { 19, 21 }, c[] = { 15 };
	const double *const values[] = { a, b, c, NULL };
	const size_t nrs[] = { 2, 2, 1, 0 };
	struct zm_launches launches;

	(void)state;
	zm_stat_launches(values, nrs, 4, &launches);
	assert_int_equal(launches.nr, 3);
	assert_near(launches.mean, 15, 1e-15);
	assert_near(launches.within, sqrt(2) / 15, 1e-15); /* (2 + 2) / (1 + 1) */
	assert_near(launches.between, 5.0 / 15, 1e-15);
	zm_stat_launches(&values[2], &nrs[2], 1, &launches);
	assert_true(isnan(launches.within) && isnan(launches.between));
	assert_near(launches.mean, 15, 0);
	zm_stat_launches(values, nrs, 0, &launches);
	assert_true(isnan(launches.mean));
	assert_int_equal(launches.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_datasets),
		cmocka_unit_test(sums_are_compensated),
		cmocka_unit_test(quantiles_of_type_7),
		cmocka_unit_test(spread_by_rank),
		cmocka_unit_test(hodges_and_lehmann),
		cmocka_unit_test(other_means),
		cmocka_unit_test(what_does_not_exist_is_nan),
		cmocka_unit_test(order_means_nothing),
		cmocka_unit_test(sorting_sorts),
		cmocka_unit_test(within_and_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
