/* hist: buckets tile the numbers, the stated error holds against exact quantiles, copies subtract. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/hist.h"
#include "workloads/base/random.h"

#define NR_SAMPLES 20000
#define MAX_ERROR  (1.0 / 128)

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

static struct zm_hist hist, other, copy;

/* --- buckets --------------------------------------------------------------------------------- */

static void buckets_tile_the_numbers(void **state)
{
	uint64_t first, end, expected = 0;

	(void)state;
	for (size_t bucket = 0; bucket < ZM_HIST_BUCKETS; bucket++) {
		zm_hist_bounds(bucket, &first, &end);
		assert_true(first == expected && end > first);
		assert_int_equal(zm_hist_bucket(first), bucket);
		assert_int_equal(zm_hist_bucket(end - 1), bucket);
		if (first >= 64)
			assert_true((end - first) <= first / 64);
		else
			assert_true(end == first + 1);
		expected = end;
	}
	assert_true(expected == UINT64_MAX);
	assert_int_equal(zm_hist_bucket(UINT64_MAX), ZM_HIST_BUCKETS - 1);
	assert_int_equal(sizeof(hist.buckets), 30208);
}

static void small_values_are_exact(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 128; value++) {
		zm_hist_init(&hist);
		zm_hist_add(&hist, 1000, 1);
		zm_hist_add(&hist, value, 8);
		zm_hist_add(&hist, 0, 1);
		assert_true(zm_hist_quantile(&hist, 0.5) == (double)value);
	}
}

/* --- quantiles against sorted samples -------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static uint64_t sample(struct zm_random *random, unsigned int shape)
{
	switch (shape) {
	case 0: /* every order of magnitude alike */
		return zm_random_next(random) >> zm_random_below(random, 64);
	case 1: /* a narrow peak */
		return 1000000 + zm_random_below(random, 1000);
	case 2: /* a long tail */
		return (uint64_t)(-log(1 - zm_random_unit(random)) * 1e6);
	case 3: /* a few values, many times */
		return UINT64_C(1) << (8 * zm_random_below(random, 4));
	default: /* small counts */
		return zm_random_below(random, 50);
	}
}

static void check_quantiles(const uint64_t *sorted, size_t nr)
{
	static const double shares[] = {
		0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1
	};

	for (size_t i = 0; i < nr_of(shares); i++) {
		size_t rank = (size_t)ceil(shares[i] * (double)nr);
		double exact = (double)sorted[rank > 0 ? rank - 1 : 0];
		double got = zm_hist_quantile(&hist, shares[i]);

		if (fabs(got - exact) > exact * MAX_ERROR)
			fail_msg("quantile %g: %g instead of %g", shares[i], got, exact);
	}
}

static void quantiles_keep_the_stated_error(void **state)
{
	uint64_t *samples = calloc(NR_SAMPLES, sizeof(*samples));
	struct zm_random random;

	(void)state;
	assert_non_null(samples);
	zm_random_init(&random, 31, 0);
	for (unsigned int shape = 0; shape < 5; shape++) {
		size_t nr = NR_SAMPLES - 17 * shape;
		long double sum = 0;

		zm_hist_init(&hist);
		for (size_t i = 0; i < nr; i++) {
			samples[i] = sample(&random, shape) >> (shape == 0 ? 15 : 0);
			sum += (long double)samples[i];
			zm_hist_add(&hist, samples[i], 1);
		}
		qsort(samples, nr, sizeof(*samples), by_value);
		assert_true(hist.count == nr);
		assert_true(hist.min == samples[0] && hist.max == samples[nr - 1]);
		assert_true(zm_hist_mean(&hist) == (double)(uint64_t)sum / (double)nr);
		check_quantiles(samples, nr);
	}
	free(samples);
}

static void quantiles_of_little(void **state)
{
	(void)state;
	zm_hist_init(&hist);
	assert_true(zm_hist_quantile(&hist, 0.5) == 0);
	assert_true(zm_hist_mean(&hist) == 0);
	zm_hist_add(&hist, 123457, 1);
	for (double q = -0.5; q <= 1.5; q += 0.125)
		assert_true(zm_hist_quantile(&hist, q) == 123457);
	assert_true(zm_hist_quantile(&hist, NAN) == 123457);
	zm_hist_add(&hist, 7, 0);
	assert_true(hist.count == 1 && hist.min == 123457);
}

static void the_ends_are_exact(void **state)
{
	(void)state;
	zm_hist_init(&hist);
	zm_hist_add(&hist, 1001, 5);
	zm_hist_add(&hist, UINT64_MAX, 5);
	assert_true(zm_hist_quantile(&hist, 0) == 1001);
	assert_true(zm_hist_quantile(&hist, 1) == (double)UINT64_MAX);
	assert_true(hist.min == 1001 && hist.max == UINT64_MAX);
}

/* --- sums ------------------------------------------------------------------------------------ */

static void the_sum_saturates_and_the_mean_goes_on(void **state)
{
	double exact = 0x1p63;

	(void)state;
	zm_hist_init(&hist);
	zm_hist_add(&hist, UINT64_C(1) << 63, 1);
	assert_true(hist.sum == UINT64_C(1) << 63);
	zm_hist_add(&hist, UINT64_C(1) << 63, 3);
	assert_true(hist.sum == UINT64_MAX);
	assert_true(fabs(zm_hist_mean(&hist) - exact) <= exact * MAX_ERROR);
	zm_hist_add(&hist, UINT64_C(1) << 63, UINT64_C(1) << 40);
	assert_true(hist.sum == UINT64_MAX);
	assert_true(fabs(zm_hist_mean(&hist) - exact) <= exact * MAX_ERROR);
}

static void many_times_is_once_many_times(void **state)
{
	(void)state;
	zm_hist_init(&hist);
	zm_hist_init(&other);
	for (uint64_t value = 1; value < 100000; value = value * 5 / 4 + 1) {
		zm_hist_add(&hist, value, 3);
		for (int i = 0; i < 3; i++)
			zm_hist_add(&other, value, 1);
	}
	assert_memory_equal(&hist, &other, sizeof(hist));
}

/* --- several of them ------------------------------------------------------------------------- */

static void merged_parts_are_the_whole(void **state)
{
	struct zm_hist *part = calloc(4, sizeof(*part));
	struct zm_random random;

	(void)state;
	assert_non_null(part);
	zm_hist_init(&hist);
	zm_hist_init(&other);
	zm_random_init(&random, 32, 0);
	for (int i = 0; i < 10000; i++) {
		uint64_t value = sample(&random, (unsigned int)i % 5) >> 16;

		zm_hist_add(&hist, value, 1);
		zm_hist_add(&part[i % 3], value, 1);
	}
	for (size_t i = 0; i < 4; i++) /* the last one is empty */
		zm_hist_merge(&other, &part[i]);
	assert_memory_equal(&hist, &other, sizeof(hist));
	free(part);
}

static void what_was_added_since_a_copy(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 33, 0);
	for (int round = 0; round < 50; round++) {
		zm_hist_init(&hist);
		zm_hist_init(&other);
		for (int i = 0; i < 500; i++)
			zm_hist_add(&hist, sample(&random, 2), 1);
		copy = hist;
		for (int i = 0; i < round; i++) {
			uint64_t value = sample(&random, (unsigned int)round % 5) >> 8;

			zm_hist_add(&hist, value, 2);
			zm_hist_add(&other, value, 2);
		}
		zm_hist_subtract(&hist, &copy);
		assert_memory_equal(hist.buckets, other.buckets, sizeof(hist.buckets));
		assert_true(hist.count == other.count && hist.sum == other.sum);
		if (hist.count == 0)
			continue;
		assert_true(hist.min <= other.min && hist.max >= other.max);
		assert_int_equal(zm_hist_bucket(hist.min), zm_hist_bucket(other.min));
		assert_int_equal(zm_hist_bucket(hist.max), zm_hist_bucket(other.max));
	}
}

static void nothing_since_a_copy_is_empty(void **state)
{
	(void)state;
	zm_hist_init(&hist);
	zm_hist_add(&hist, 5000, 10);
	copy = hist;
	zm_hist_subtract(&hist, &copy);
	assert_true(hist.count == 0 && zm_hist_quantile(&hist, 0.5) == 0);
	zm_hist_init(&other);
	assert_memory_equal(&hist, &other, sizeof(hist));
}

static void subtracting_nothing_changes_nothing(void **state)
{
	(void)state;
	zm_hist_init(&hist);
	zm_hist_init(&other);
	zm_hist_add(&hist, 5001, 10);
	zm_hist_add(&hist, 77, 1);
	copy = hist;
	zm_hist_subtract(&hist, &other);
	assert_memory_equal(&hist, &copy, sizeof(hist));
}

/* --- a writer and a reader ------------------------------------------------------------------- */

#define NR_WRITTEN 200000

static void *write_samples(void *argument)
{
	struct zm_random random;

	zm_random_init(&random, 34, 0);
	for (int i = 0; i < NR_WRITTEN; i++)
		zm_hist_add(argument, sample(&random, 2), 1);
	return NULL;
}

/* What is read meanwhile grows only, and never more than was written. */
static void a_reader_may_look_on(void **state)
{
	pthread_t writer;
	uint64_t last = 0;

	(void)state;
	zm_hist_init(&hist);
	assert_int_equal(pthread_create(&writer, NULL, write_samples, &hist), 0);
	while (last < NR_WRITTEN / 2) {
		double median;

		zm_hist_init(&copy);
		zm_hist_merge(&copy, &hist);
		median = zm_hist_quantile(&copy, 0.5);
		assert_true(copy.count >= last && copy.count <= NR_WRITTEN);
		assert_true(median >= 0 && median <= (double)copy.max);
		last = copy.count;
	}
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_true(hist.count == NR_WRITTEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_numbers),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(quantiles_keep_the_stated_error),
		cmocka_unit_test(quantiles_of_little),
		cmocka_unit_test(the_ends_are_exact),
		cmocka_unit_test(the_sum_saturates_and_the_mean_goes_on),
		cmocka_unit_test(many_times_is_once_many_times),
		cmocka_unit_test(merged_parts_are_the_whole),
		cmocka_unit_test(what_was_added_since_a_copy),
		cmocka_unit_test(nothing_since_a_copy_is_empty),
		cmocka_unit_test(subtracting_nothing_changes_nothing),
		cmocka_unit_test(a_reader_may_look_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
