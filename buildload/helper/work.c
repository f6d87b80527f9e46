/*
 * work: 1024 small functions, each with constants of its own, called in the order of a chain of
 * multiplications.
 */
#include "buildload/helper/work.h"

#define UNIT_CALLS 21

#define STEP(x, n) ((x)*UINT64_C(6364136223846793005) + (2 * UINT64_C(n) + 1))

/* clang-format off */
/* About 160 bytes each. */
#define BLOCK(n)                                                                                   \
	static uint64_t block_##n(uint64_t x, const volatile char *base, uint64_t bytes)           \
	{                                                                                          \
		x = STEP(x, 0x##n);                                                                \
		if (x >> (0x##n % 23 + 40) & 1)                                                    \
			x = STEP(x ^ x >> 29, 0x##n + 77) + (unsigned char)base[(x >> 32) * bytes >> 32]; \
		else                                                                               \
			x = STEP(x + (0x##n ^ 0x5a5), 0x##n + 12345);                              \
		return x + (unsigned char)base[(x >> 32) * bytes >> 32];                           \
	}

#define EACH_OF_16(do, n)                                                                          \
	do(n##0) do(n##1) do(n##2) do(n##3) do(n##4) do(n##5) do(n##6) do(n##7)                    \
	do(n##8) do(n##9) do(n##a) do(n##b) do(n##c) do(n##d) do(n##e) do(n##f)
#define EACH_OF_256(do, n)                                                                         \
	EACH_OF_16(do, n##0) EACH_OF_16(do, n##1) EACH_OF_16(do, n##2) EACH_OF_16(do, n##3)        \
	EACH_OF_16(do, n##4) EACH_OF_16(do, n##5) EACH_OF_16(do, n##6) EACH_OF_16(do, n##7)        \
	EACH_OF_16(do, n##8) EACH_OF_16(do, n##9) EACH_OF_16(do, n##a) EACH_OF_16(do, n##b)        \
	EACH_OF_16(do, n##c) EACH_OF_16(do, n##d) EACH_OF_16(do, n##e) EACH_OF_16(do, n##f)
#define EACH(do)                                                                                   \
	EACH_OF_256(do, 0) EACH_OF_256(do, 1) EACH_OF_256(do, 2) EACH_OF_256(do, 3)

EACH(BLOCK)

#define ADDRESS(n) block_##n,

static uint64_t (*const blocks_of_code[ZM_WORK_BLOCKS])(uint64_t, const volatile char *, uint64_t) = {
	EACH(ADDRESS)
};
/* clang-format on */

void zm_work(uint64_t units, uint32_t blocks, const volatile char *base, uint64_t bytes,
	     uint64_t *random)
{
	uint64_t x = *random;

	for (uint64_t i = 0; i < units * UNIT_CALLS; i++)
		x = blocks_of_code[(x >> 32) * blocks >> 32](x, base, bytes);
	*random = x;
}
