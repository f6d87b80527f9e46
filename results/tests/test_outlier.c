/*
 * outlier: who stands out, who does not, and that a second one does not hide the first.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "results/dist.h"
#include "results/outlier.h"
#include "workloads/base/random.h"

static double normal(struct zm_random *random)
{
	return zm_normal_quantile((zm_random_unit(random) + 0x1p-54) / (1 + 0x1p-53));
}

static struct zm_outliers find(const double *values, size_t nr)
{
	struct zm_outliers outliers;

	assert_int_equal(zm_outliers_find(values, nr, false, &outliers), 0);
	assert_int_equal(outliers.nr, nr);
	return outliers;
}

static void one_that_differs_is_found(void **state)
{
	static const double values[] = { 100, 101, 99, 100.5, 99.5, 80 };
	struct zm_outliers outliers = find(values, 6);

	(void)state;
	assert_true(outliers.is_ratio && outliers.list[5].p < 0.01);
	assert_true(outliers.list[5].p == outliers.p);
	assert_true(fabs(outliers.list[5].change - (80 / 99.75 - 1)) < 1e-12);
	for (size_t i = 0; i < 5; i++)
		assert_true(outliers.list[i].p == 1);
	zm_outliers_release(&outliers);
}

/* Grubbs' test of one value, from a table: of 9 values the critical G at 5 % is 2.215. */
static void it_is_grubbs_test(void **state)
{
	double values[9], low = 1, high = 10;

	(void)state;
	/* Eight at -1, 0, 1 and the ninth where p is 0.05: its G must be the table's. */
	for (size_t i = 0; i < 8; i++)
		values[i] = (double)(i % 3) - 1;
	for (int step = 0; step < 60; step++) {
		struct zm_outliers outliers;

		values[8] = (low + high) / 2;
		outliers = find(values, 9);
		if (outliers.list[8].p > 0.05)
			low = values[8];
		else
			high = values[8];
		zm_outliers_release(&outliers);
	}
	{
		double mean = 0, sum = 0;

		for (size_t i = 0; i < 9; i++)
			mean += values[i] / 9;
		for (size_t i = 0; i < 9; i++)
			sum += (values[i] - mean) * (values[i] - mean);
		assert_true(fabs((values[8] - mean) / sqrt(sum / 8) - 2.215) < 0.005);
	}
}

static void several_do_not_hide_each_other(void **state)
{
	struct zm_random random;
	double values[30];
	struct zm_outliers outliers;

	(void)state;
	zm_random_init(&random, 3, 0);
	for (size_t i = 0; i < 30; i++)
		values[i] = 1000 * exp(0.01 * normal(&random));
	for (size_t i = 0; i < 5; i++)
		values[7 * i] *= 0.85 + 0.005 * (double)i;
	outliers = find(values, 30);
	for (size_t i = 0; i < 30; i++)
		assert_int_equal(outliers.list[i].p < 0.001, i % 7 == 0 && i < 30 && i / 7 < 5);
	zm_outliers_release(&outliers);
}

static void equal_values_have_none_and_one_that_differs_is_certain(void **state)
{
	double values[] = { 5, 5, 5, 5, 5, 5 };
	struct zm_outliers outliers = find(values, 6);

	(void)state;
	assert_true(outliers.p == 1);
	zm_outliers_release(&outliers);
	values[2] = 5.001;
	outliers = find(values, 6);
	assert_true(outliers.list[2].p == 0);
	zm_outliers_release(&outliers);
}

static void shares_and_values_that_are_not_positive_differ_by_points(void **state)
{
	static const double shares[] = { 10, 10.1, 9.9, 10, 20 }, zero[] = { 0, 1, -1, 0.5, 90 };
	struct zm_outliers outliers;

	(void)state;
	assert_int_equal(zm_outliers_find(shares, 5, true, &outliers), 0);
	assert_true(!outliers.is_ratio && outliers.list[4].change == 10);
	zm_outliers_release(&outliers);
	outliers = find(zero, 5);
	assert_true(!outliers.is_ratio && outliers.list[4].p < 0.01);
	zm_outliers_release(&outliers);
}

static void too_few_are_refused(void **state)
{
	static const double values[] = { 1, 2, 3 };
	struct zm_outliers outliers;

	(void)state;
	for (size_t nr = 0; nr < 4; nr++)
		assert_int_equal(zm_outliers_find(values, nr, false, &outliers), -ENODATA);
	assert_true(isnan(zm_outlier_detectable(3, 1, false, 0.05, 0.8, 3)));
}

/* Of 4,000 sets of 12 normal values at most a few more than 5 % have a false one. */
static void false_names_are_as_rare_as_stated(void **state)
{
	struct zm_random random;
	int nr_false = 0;

	(void)state;
	zm_random_init(&random, 11, 0);
	for (int i = 0; i < 4000; i++) {
		double values[12];
		struct zm_outliers outliers;

		for (size_t k = 0; k < 12; k++)
			values[k] = exp(0.02 * normal(&random));
		outliers = find(values, 12);
		nr_false += outliers.p < 0.05;
		zm_outliers_release(&outliers);
	}
	assert_in_range(nr_false, 120, 260);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_differs_is_found),
		cmocka_unit_test(it_is_grubbs_test),
		cmocka_unit_test(several_do_not_hide_each_other),
		cmocka_unit_test(equal_values_have_none_and_one_that_differs_is_certain),
		cmocka_unit_test(shares_and_values_that_are_not_positive_differ_by_points),
		cmocka_unit_test(too_few_are_refused),
		cmocka_unit_test(false_names_are_as_rare_as_stated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
