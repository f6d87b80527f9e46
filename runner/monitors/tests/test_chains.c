/* chains: against a plain list, and when room runs out. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "runner/monitors/chains.h"
#include "workloads/base/random.h"

#define NR_KINDS 500
#define NR_ADDS  20000

/* Chain number i: i's digits to the base of 7 as frames, so that many begin alike. */
static uint32_t make_chain(uint32_t i, uint64_t *frames)
{
	uint32_t nr = 0;

	do {
		frames[nr++] = 0xffffffff81000000u + i % 7;
		i /= 7;
	} while (i);
	return nr;
}

static void test_counts(void **state)
{
	struct zm_random random;
	uint64_t expected[NR_KINDS] = { 0 }, frames[16];
	struct zm_chains chains;
	unsigned int nr_kinds = 0;

	(void)state;
	zm_random_init(&random, 1, 0);
	assert_int_equal(zm_chains_init(&chains, 512, 4096), 0);
	for (unsigned int i = 0; i < NR_ADDS; i++) {
		uint32_t kind = (uint32_t)zm_random_below(&random, NR_KINDS);

		expected[kind] += i;
		zm_chains_add(&chains, frames, make_chain(kind, frames), i);
	}
	for (uint32_t kind = 0; kind < NR_KINDS; kind++) {
		uint32_t nr = make_chain(kind, frames), k = 0;

		while (k < chains.nr && (chains.list[k].nr != nr ||
					 memcmp(zm_chains_frames(&chains, &chains.list[k]), frames,
						nr * sizeof(*frames)) != 0))
			k++;
		assert_true(k < chains.nr);
		assert_int_equal(chains.list[k].times, expected[kind]);
		nr_kinds++;
	}
	assert_int_equal(chains.nr, nr_kinds);
	assert_int_equal(chains.nr_unkept, 0);
	zm_chains_release(&chains);
	zm_chains_release(&chains);
}

static void test_full(void **state)
{
	uint64_t frames[16];
	struct zm_chains chains;

	(void)state;
	assert_int_equal(zm_chains_init(&chains, 4, 1000), 0);
	for (uint32_t i = 0; i < 10; i++)
		zm_chains_add(&chains, frames, make_chain(i, frames), 3);
	assert_int_equal(chains.nr, 4);
	assert_int_equal(chains.nr_unkept, 18);
	zm_chains_add(&chains, frames, make_chain(2, frames), 5);
	assert_int_equal(chains.list[2].times, 8);
	zm_chains_release(&chains);
	assert_int_equal(zm_chains_init(&chains, 64, 3), 0);
	for (uint32_t i = 0; i < 10; i++)
		zm_chains_add(&chains, frames, make_chain(i, frames), 1);
	assert_int_equal(chains.nr, 3);
	assert_int_equal(chains.nr_unkept, 7);
	zm_chains_release(&chains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
