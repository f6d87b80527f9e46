/*
 * energy: where a sequence falls into two parts.
 *
 * A rank that comes puts those above it one further up, and so the pairs on both sides of it one further apart;
 * one that goes, the reverse. What is between two parts, and within the second, follows from what is within the
 * first, because the distances of a rank to all ranks are known without looking.
 */
#include "results/energy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t rank_of(const struct zm_energy *energy, double value, uint64_t tie)
{
	uint32_t nr_less = 0;

	for (size_t i = 0; i < energy->nr; i++)
		nr_less += energy->values[i] < value ||
			   (!(energy->values[i] > value) && energy->ties[i] <= tie);
	return nr_less;
}

static int32_t distance(uint32_t a, uint32_t b)
{
	return abs((int32_t)a - (int32_t)b);
}

void zm_energy_push(struct zm_energy *energy, double value, uint64_t tie)
{
	uint32_t rank = rank_of(energy, value, tie);
	int32_t nr_below = 0, last = 0;
	size_t nr = energy->nr++;

	for (size_t i = 0; i < nr; i++) {
		bool is_above = energy->ranks[i] >= rank;

		nr_below += !is_above;
		energy->ranks[i] += is_above;
		energy->within[i + 1] += nr_below * ((int32_t)i + 1 - nr_below);
		last += distance(energy->ranks[i], rank);
	}
	energy->values[nr] = value;
	energy->ties[nr] = tie;
	energy->ranks[nr] = rank;
	energy->within[nr + 1] = energy->within[nr] + last;
}

void zm_energy_pop(struct zm_energy *energy)
{
	uint32_t gone = energy->ranks[0];
	int32_t nr_below = 0, to_gone = 0;
	size_t nr = --energy->nr;

	for (size_t i = 1; i <= nr; i++) {
		bool is_above = energy->ranks[i] > gone;

		nr_below += !is_above;
		to_gone += distance(energy->ranks[i], gone);
		energy->within[i] =
			energy->within[i + 1] - to_gone - nr_below * ((int32_t)i - nr_below);
		energy->ranks[i - 1] = energy->ranks[i] - is_above;
	}
	memmove(energy->values, energy->values + 1, nr * sizeof(*energy->values));
	memmove(energy->ties, energy->ties + 1, nr * sizeof(*energy->ties));
}

/* From one rank to all that there are. */
static int32_t to_all(size_t nr, uint32_t rank)
{
	int32_t below = (int32_t)rank, above = (int32_t)nr - 1 - below;

	return below * (below + 1) / 2 + above * (above + 1) / 2;
}

/* first, second: the distances within, each pair once; between: each pair across. */
static double energy_of(size_t nr_first, size_t nr, int32_t first, int32_t second, int32_t between)
{
	double n = (double)nr_first, m = (double)(nr - nr_first);
	double apart = 2 * ((double)between - (double)first * (m / n) - (double)second * (n / m));
	double of_two = (n + m + 1) / 3;

	return apart / ((n + m) * of_two);
}

void zm_energy_splits(const struct zm_energy *energy, double *ret_energies)
{
	int32_t n = (int32_t)energy->nr, all = n * (n * n - 1) / 6, around = 0;

	ret_energies[0] = 0;
	for (size_t k = 1; k < energy->nr; k++) {
		int32_t first = energy->within[k];

		around += to_all(energy->nr, energy->ranks[k - 1]);
		ret_energies[k] =
			energy_of(k, energy->nr, first, all + first - around, around - 2 * first);
	}
}
