/*
 * random: a seeded generator per task, deterministic for a seed, never shared.
 *
 * xoshiro256** (Blackman, Vigna 2018) seeded by splitmix64. Not for secrets.
 */
#ifndef ZM_WORKLOADS_BASE_RANDOM_H
#define ZM_WORKLOADS_BASE_RANDOM_H

#include <stdint.h>

struct zm_random {
	uint64_t state[4];
};

/* stream tells tasks of one run apart: the same seed and stream give the same numbers. */
void zm_random_init(struct zm_random *random, uint64_t seed, uint64_t stream);
uint64_t zm_random_next(struct zm_random *random);

/* Below bound (> 0), without modulo bias (Lemire 2019). */
uint64_t zm_random_below(struct zm_random *random, uint64_t bound);

/* In [0, 1). */
double zm_random_unit(struct zm_random *random);

#endif
