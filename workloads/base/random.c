/* random: splitmix64 spreads seed and stream over the state, xoshiro256** walks it. */
#include "workloads/base/random.h"

__extension__ typedef unsigned __int128 uint128;

/* splitmix64's output function: a bijection which leaves 0 in its place. */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

void zm_random_init(struct zm_random *random, uint64_t seed, uint64_t stream)
{
	uint64_t position = seed ^ mix(stream);

	for (unsigned int i = 0; i < 4; i++) {
		position += UINT64_C(0x9e3779b97f4a7c15);
		random->state[i] = mix(position);
	}
}

uint64_t zm_random_next(struct zm_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t zm_random_below(struct zm_random *random, uint64_t bound)
{
	uint128 product = (uint128)zm_random_next(random) * bound;
	uint64_t low = (uint64_t)product;

	if (low < bound) {
		/* 2^64 mod bound: the results that would come once too often */
		uint64_t surplus = (0 - bound) % bound;

		while (low < surplus) {
			product = (uint128)zm_random_next(random) * bound;
			low = (uint64_t)product;
		}
	}
	return (uint64_t)(product >> 64);
}

double zm_random_unit(struct zm_random *random)
{
	return (double)(zm_random_next(random) >> 11) * 0x1.0p-53;
}
