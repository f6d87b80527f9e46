/*
 * energy: where a sequence falls into two parts, and how far these are from each other; for sequences that grow
 * at their end and are forgotten at their beginning.
 *
 *     zm_energy_push(&energy, value, tie)      one value more
 *     zm_energy_pop(&energy)                   without its first one
 *     zm_energy_splits(&energy, energies)      all places
 *
 * Székely and Rizzo's energy distance (2004) of the values before and after a place,
 *
 *     2 mean|x - y| - mean|x - x'| - mean|y - y'|      times n m / (n + m)
 *
 * is what E-divisive (Matteson and James 2014) takes the largest of. Here it is taken of the values' ranks, and
 * divided by the mean distance of two ranks. So it is 1 on average at every place of a sequence in which
 * nothing changes, its distribution there is the same for values of any distribution, and one value that
 * is far away counts no more than the largest of the others does.
 *
 * Each of the three takes as many steps as there are values.
 */
#ifndef ZM_RESULTS_ENERGY_H
#define ZM_RESULTS_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#define ZM_ENERGY_MOST 64 /* values in one sequence */

/* All zero: no value. To be read only. */
struct zm_energy {
	double values[ZM_ENERGY_MOST];
	uint64_t ties[ZM_ENERGY_MOST];
	uint32_t ranks[ZM_ENERGY_MOST];     /* from 0 */
	int32_t within[ZM_ENERGY_MOST + 1]; /* [k]: distances of all pairs of the first k ranks */
	size_t nr;
};

/* ties order equal values: random numbers, or the ranks of equals would say something about their places. There
 * must be room. */
void zm_energy_push(struct zm_energy *energy, double value, uint64_t tie);
void zm_energy_pop(struct zm_energy *energy); /* nr is 1 or more */

/* ret_energies[k]: of the first k values against the others, k = 1 … nr - 1; [0] is 0. nr is 1 or more. */
void zm_energy_splits(const struct zm_energy *energy, double *ret_energies);

#endif
