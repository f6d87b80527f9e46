/*
 * energy: against its own definition, pair by pair; and what it says of sequences without a change: 1 on
 * average, at every place.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "results/energy.h"
#include "workloads/base/random.h"

#define MOST ZM_ENERGY_MOST

/* A sequence of random values, equal ones among them. */
static void make_some(struct zm_energy *energy, size_t nr, struct zm_random *random)
{
	*energy = (struct zm_energy){ .nr = 0 };
	for (size_t i = 0; i < nr; i++)
		zm_energy_push(energy, (double)zm_random_below(random, 100),
			       zm_random_next(random));
}

/* The mean distance of all pairs, one from each. */
static double mean_distance(const uint32_t *a, size_t nr_a, const uint32_t *b, size_t nr_b)
{
	double sum = 0;

	for (size_t i = 0; i < nr_a; i++) {
		for (size_t k = 0; k < nr_b; k++)
			sum += fabs((double)a[i] - (double)b[k]);
	}
	return sum / (double)nr_a / (double)nr_b;
}

static double by_definition(const uint32_t *ranks, size_t nr, size_t split)
{
	double n = (double)split, m = (double)(nr - split);
	double distance = 2 * mean_distance(ranks, split, ranks + split, nr - split) -
			  mean_distance(ranks, split, ranks, split) -
			  mean_distance(ranks + split, nr - split, ranks + split, nr - split);

	return distance * n * m / (n + m) / ((n + m + 1) / 3);
}

static void is_as_defined(const struct zm_energy *energy)
{
	double energies[MOST];

	if (energy->nr == 0)
		return;
	zm_energy_splits(energy, energies);
	assert_true(energies[0] == 0);
	for (size_t k = 1; k < energy->nr; k++)
		assert_true(fabs(energies[k] - by_definition(energy->ranks, energy->nr, k)) < 1e-9);
}

/* Every value's rank is the number of those that are less. */
static void ranks_are_right(const struct zm_energy *energy)
{
	for (size_t i = 0; i < energy->nr; i++) {
		uint32_t nr_less = 0;

		for (size_t k = 0; k < energy->nr; k++)
			nr_less += energy->values[k] < energy->values[i] ||
				   (energy->values[k] == energy->values[i] &&
				    energy->ties[k] < energy->ties[i]);
		assert_int_equal(energy->ranks[i], nr_less);
	}
}

/* However it came about: grown, shrunk, moved on. */
static void splits_are_as_defined(void **state)
{
	struct zm_energy energy;
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 3, 0);
	for (size_t nr = 1; nr <= MOST; nr++) {
		make_some(&energy, nr, &random);
		is_as_defined(&energy);
	}
	for (size_t i = 0; i < 200; i++) {
		zm_energy_pop(&energy);
		is_as_defined(&energy);
		if (i % 3 != 0 || energy.nr == 0) {
			zm_energy_push(&energy, (double)zm_random_below(&random, 100),
				       zm_random_next(&random));
			ranks_are_right(&energy);
			is_as_defined(&energy);
		}
	}
	while (energy.nr) {
		zm_energy_pop(&energy);
		ranks_are_right(&energy);
		is_as_defined(&energy);
	}
}

static void without_a_change_it_is_one_everywhere(void **state)
{
	enum { SEQUENCES = 20000, NIGHTS = 20 };
	double means[NIGHTS] = { 0 };
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 4, 0);
	for (size_t i = 0; i < SEQUENCES; i++) {
		struct zm_energy energy;
		double energies[NIGHTS];

		make_some(&energy, NIGHTS, &random);
		zm_energy_splits(&energy, energies);
		for (size_t k = 1; k < NIGHTS; k++)
			means[k] += energies[k] / SEQUENCES;
	}
	for (size_t k = 1; k < NIGHTS; k++) {
		if (fabs(means[k] - 1) > 0.04) /* its sd is about 1 / sqrt(20,000) = 0.007 */
			fail_msg("after %zu: %g", k, means[k]);
	}
}

static void equal_values_go_by_their_ties(void **state)
{
	static const double values[] = { 5, 1, 5, -2, 5, 1 };
	static const uint64_t ties[] = { 9, 4, 7, 1, 7, 2 };
	static const uint32_t wanted[] = { 5, 2, 3, 0, 4, 1 };
	struct zm_energy energy = { .nr = 0 };

	(void)state;
	for (size_t i = 0; i < 6; i++)
		zm_energy_push(&energy, values[i], ties[i]);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(energy.ranks[i], wanted[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_are_as_defined),
		cmocka_unit_test(without_a_change_it_is_one_everywhere),
		cmocka_unit_test(equal_values_go_by_their_ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
