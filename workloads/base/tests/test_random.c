/* random: published outputs of both generators, streams, bounds, and the shape of what comes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/base/random.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

/* The outputs that go round for splitmix64 from the seed 1234567: the state of seed and stream 0. */
static void the_seed_is_spread_by_splitmix64(void **state)
{
	static const uint64_t published[] = {
		UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431),
	};
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 1234567, 0);
	for (size_t i = 0; i < nr_of(published); i++)
		assert_true(random.state[i] == published[i]);
}

static void the_numbers_are_xoshiro256starstars(void **state)
{
	static const uint64_t published[] = {
		UINT64_C(11520),
		UINT64_C(0),
		UINT64_C(1509978240),
		UINT64_C(1215971899390074240),
		UINT64_C(1216172134540287360),
		UINT64_C(607988272756665600),
		UINT64_C(16172922978634559625),
		UINT64_C(8476171486693032832),
		UINT64_C(10595114339597558777),
		UINT64_C(2904607092377533576),
	};
	struct zm_random random = { { 1, 2, 3, 4 } };

	(void)state;
	for (size_t i = 0; i < nr_of(published); i++)
		assert_true(zm_random_next(&random) == published[i]);
}

static void the_same_seed_and_stream_give_the_same(void **state)
{
	struct zm_random a, b;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		zm_random_init(&a, seed, seed * 3);
		zm_random_init(&b, seed, seed * 3);
		for (int i = 0; i < 100; i++)
			assert_true(zm_random_next(&a) == zm_random_next(&b));
	}
}

/* Of 64 seeds by 64 streams no two begin alike. */
static void seeds_and_streams_differ(void **state)
{
	static uint64_t seen[64 * 64];
	size_t nr_seen = 0;
	struct zm_random random;

	(void)state;
	for (uint64_t seed = 0; seed < 64; seed++) {
		for (uint64_t stream = 0; stream < 64; stream++) {
			uint64_t first;

			zm_random_init(&random, seed, stream);
			first = zm_random_next(&random);
			for (size_t i = 0; i < nr_seen; i++)
				assert_true(seen[i] != first);
			seen[nr_seen++] = first;
		}
	}
}

static void below_stays_below(void **state)
{
	static const uint64_t bounds[] = {
		1, 2, 3, 7, 100, 4096, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX
	};
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 1, 2);
	for (size_t b = 0; b < nr_of(bounds); b++)
		for (int i = 0; i < 10000; i++)
			assert_true(zm_random_below(&random, bounds[b]) < bounds[b]);
}

/* Chi-square of `nr_cells` counts that should be alike; the seed is fixed, so it can't be unlucky on
 * another day. */
static double chi_square(const uint64_t *counts, size_t nr_cells, uint64_t total)
{
	double expected = (double)total / (double)nr_cells, sum = 0;

	for (size_t i = 0; i < nr_cells; i++) {
		double off = (double)counts[i] - expected;

		sum += off * off / expected;
	}
	return sum;
}

/* 99.9 % of chi-squares with 99 degrees of freedom are below 149, 0.1 % below 61. */
#define NR_CELLS 100
#define TOTAL    1000000

static void below_is_even(void **state)
{
	uint64_t counts[NR_CELLS] = { 0 };
	struct zm_random random;
	double spread;

	(void)state;
	zm_random_init(&random, 3, 0);
	for (int i = 0; i < TOTAL; i++)
		counts[zm_random_below(&random, NR_CELLS)]++;
	spread = chi_square(counts, NR_CELLS, TOTAL);
	assert_true(spread > 61 && spread < 149);
}

/* With a bound of three quarters of 2^64, plain modulo would give the lowest third twice as often. */
static void below_has_no_modulo_bias(void **state)
{
	uint64_t bound = 3 * (UINT64_C(1) << 62), counts[3] = { 0 };
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 4, 0);
	for (int i = 0; i < TOTAL; i++)
		counts[zm_random_below(&random, bound) / (bound / 3)]++;
	assert_true(chi_square(counts, 3, TOTAL) < 14); /* 99.9 % of 2 degrees */
}

static void unit_is_even_and_never_one(void **state)
{
	uint64_t counts[NR_CELLS] = { 0 };
	struct zm_random random;
	double spread;

	(void)state;
	zm_random_init(&random, 5, 0);
	for (int i = 0; i < TOTAL; i++) {
		double value = zm_random_unit(&random);

		assert_true(value >= 0 && value < 1);
		counts[(size_t)(value * NR_CELLS)]++;
	}
	spread = chi_square(counts, NR_CELLS, TOTAL);
	assert_true(spread > 61 && spread < 149);
}

/* The states whose next number has no bit set, and all bits: xoshiro256**'s output function undone,
 * with the inverses of 9 and 5 modulo 2^64. */
static void unit_reaches_its_ends(void **state)
{
	uint64_t rotated = UINT64_MAX * UINT64_C(0x8e38e38e38e38e39);
	struct zm_random zero = { { 5, 0, 0, 0 } };
	struct zm_random ones = { { 5, 0, 0, 0 } };

	(void)state;
	ones.state[1] = ((rotated >> 7) | (rotated << 57)) * UINT64_C(0xcccccccccccccccd);
	assert_true(zm_random_next(&(struct zm_random){ { 5, ones.state[1], 0, 0 } }) ==
		    UINT64_MAX);
	assert_true(zm_random_unit(&zero) == 0);
	assert_true(zm_random_unit(&ones) == 1 - 0x1.0p-53);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_seed_is_spread_by_splitmix64),
		cmocka_unit_test(the_numbers_are_xoshiro256starstars),
		cmocka_unit_test(the_same_seed_and_stream_give_the_same),
		cmocka_unit_test(seeds_and_streams_differ),
		cmocka_unit_test(below_stays_below),
		cmocka_unit_test(below_is_even),
		cmocka_unit_test(below_has_no_modulo_bias),
		cmocka_unit_test(unit_is_even_and_never_one),
		cmocka_unit_test(unit_reaches_its_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
