/* shard: the parts are all of it, each cell once, evenly, and the same on every machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/shard.h"
#include "workloads/base/clock.h"
#include "workloads/base/random.h"

#define NR 100

/* --- "2/8" --- */

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int error;
		unsigned int index, nr;
	} cases[] = {
		{ "1/1", 0, 1, 1 },
		{ "2/8", 0, 2, 8 },
		{ "10000/10000", 0, 10000, 10000 },
		{ "0/8", -ERANGE, 0, 0 },
		{ "9/8", -ERANGE, 0, 0 },
		{ "1/0", -ERANGE, 0, 0 },
		{ "1/10001", -ERANGE, 0, 0 },
		{ "1/18446744073709551615", -ERANGE, 0, 0 },
		{ "1", -EINVAL, 0, 0 },
		{ "", -EINVAL, 0, 0 },
		{ "/", -EINVAL, 0, 0 },
		{ "1/", -EINVAL, 0, 0 },
		{ "/2", -EINVAL, 0, 0 },
		{ "-1/2", -EINVAL, 0, 0 },
		{ "1/2/3", -EINVAL, 0, 0 },
		{ "50%/2", -EINVAL, 0, 0 },
		{ "1/2 ", -EINVAL, 0, 0 },
		{ "1/2:0123abcd", 0, 1, 2 },
		{ "1/2:", -EINVAL, 0, 0 },
		{ "1/2:123", -EINVAL, 0, 0 },
		{ "1/2:0123ABCD", -EINVAL, 0, 0 },
		{ "1/2:0123abcde", -EINVAL, 0, 0 },
		{ "1:0123abcd", -EINVAL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_shard shard = { .index = 7, .nr = 7 };
		struct zm_why why = { "" };

		if (zm_shard_parse(cases[i].text, &shard, &why) != cases[i].error)
			fail_msg("%s: %s", cases[i].text, why.text);
		assert_int_equal(shard.index, cases[i].error ? 7 : cases[i].index);
		assert_int_equal(shard.nr, cases[i].error ? 7 : cases[i].nr);
		assert_int_equal(why.text[0] != '\0', cases[i].error != 0);
	}
}

/* --- the split --- */

struct asks {
	struct zm_plan_ask list[NR];
	char keys[NR][16];
};

/* Lengths of 1 to `longest` seconds. */
static struct zm_plan make_asks(struct asks *asks, size_t nr, unsigned int longest, uint64_t seed)
{
	struct zm_random random;

	zm_random_init(&random, seed, 0);
	for (size_t i = 0; i < nr; i++) {
		(void)snprintf(asks->keys[i], sizeof(asks->keys[i]), "key%03zu", i);
		asks->list[i] = (struct zm_plan_ask){
			.key = asks->keys[i],
			.cost_ns = (1 + zm_random_next(&random) % longest) * ZM_NS_PER_S,
			.cell = i,
		};
	}
	return (struct zm_plan){ .asks = asks->list, .nr_asks = nr };
}

/* No part has more to do than another by more than the longest cell. */
static void check_balance(const struct zm_plan *plan, unsigned int nr, unsigned int longest)
{
	unsigned int parts[NR];
	uint64_t busy_ns[NR] = { 0 }, most_ns = 0, least_ns = UINT64_MAX;
	struct zm_shard_share all;

	assert_int_equal(zm_shard_split(plan, nr, parts, &all), 0);
	assert_int_equal(all.nr_asked_all, plan->nr_asks);
	for (size_t i = 0; i < plan->nr_asks; i++) {
		assert_in_range(parts[i], 0, nr - 1);
		busy_ns[parts[i]] += plan->asks[i].cost_ns;
	}
	for (unsigned int i = 0; i < nr; i++) {
		most_ns = busy_ns[i] > most_ns ? busy_ns[i] : most_ns;
		least_ns = busy_ns[i] < least_ns ? busy_ns[i] : least_ns;
	}
	assert_true(most_ns - least_ns <= longest * ZM_NS_PER_S);
}

static void test_balance(void **state)
{
	struct asks asks;

	(void)state;
	for (unsigned int nr = 1; nr <= NR; nr += 7) {
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct zm_plan plan = make_asks(&asks, 1 + seed * 5, 30, seed);

			check_balance(&plan, nr, 30);
		}
	}
}

static void test_as_many_parts_as_cells(void **state)
{
	unsigned int parts[NR];
	bool is_taken[NR] = { false };
	struct zm_shard_share all;
	struct asks asks;
	struct zm_plan plan = make_asks(&asks, NR, 5, 1);

	(void)state;
	assert_int_equal(zm_shard_split(&plan, NR, parts, &all), 0);
	for (size_t i = 0; i < NR; i++) {
		assert_false(is_taken[parts[i]]);
		is_taken[parts[i]] = true;
	}
}

/* In whichever order they are typed, and whichever run here. */
static void test_content_alone_counts(void **state)
{
	unsigned int parts[NR], other[NR];
	struct zm_shard_share all, again;
	struct asks asks, turned;
	struct zm_plan plan = make_asks(&asks, NR, 4, 3), plan2 = make_asks(&turned, NR, 4, 3);

	(void)state;
	for (size_t i = 0; i < NR; i++) {
		turned.list[i] = asks.list[NR - 1 - i];
		if (i % 3 == 0)
			turned.list[i].cell = ZM_PLAN_NO_CELL;
	}
	assert_int_equal(zm_shard_split(&plan, 7, parts, &all), 0);
	assert_int_equal(zm_shard_split(&plan2, 7, other, &again), 0);
	for (size_t i = 0; i < NR; i++)
		assert_int_equal(parts[i], other[NR - 1 - i]);
	assert_int_equal(all.id, again.id);
	assert_int_equal(zm_shard_split(&plan, 8, parts, &again), 0);
	assert_int_not_equal(all.id, again.id);
	asks.keys[5][0] = 'K';
	assert_int_equal(zm_shard_split(&plan, 7, parts, &again), 0);
	assert_int_not_equal(all.id, again.id);
}

static void test_a_key_twice_is_one(void **state)
{
	unsigned int parts[NR];
	struct zm_shard_share all;
	struct asks asks;
	struct zm_plan plan = make_asks(&asks, 4, 1, 3);

	(void)state;
	(void)snprintf(asks.keys[3], sizeof(asks.keys[3]), "%s", asks.keys[1]);
	assert_int_equal(zm_shard_split(&plan, 4, parts, &all), 0);
	assert_int_equal(all.nr_asked_all, 3);
	assert_int_equal(parts[1], parts[3]);
}

/* --- of real words, on machines of different size --- */

static const struct zm_workload soup = { .name = "soup",
					 .op = "spoon",
					 .kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD };
static const struct zm_workload *const workloads[] = { &soup, NULL };

static void make_plan(unsigned int nr_cpus, struct zm_plan *ret_plan)
{
	static const char *const words[] = { "soup", "nr_task=1,2,50%,100%", "mode=process,thread",
					     "runtime=1s,3s" };
	const struct zm_cell_context context = { .nr_cpus = nr_cpus };
	struct zm_why why = { "" };

	if (zm_plan_make(&context, workloads, words, 4, ret_plan, &why) < 0)
		fail_msg("%s", why.text);
}

static size_t count_asks(const struct zm_plan *plan, const struct zm_shard *shard)
{
	unsigned int parts[NR];
	struct zm_shard_share all;
	size_t nr = 0;

	assert_int_equal(zm_shard_split(plan, shard->nr, parts, &all), 0);
	assert_int_equal(all.nr_asked_all, 16);
	for (size_t i = 0; i < plan->nr_asks; i++)
		nr += parts[i] == shard->index - 1;
	return nr;
}

/* The parts, each on a machine of its own size, together have all keys, each once; and on one machine all
 * of its cells. */
static void check_union(unsigned int nr, const unsigned int *nr_cpus)
{
	struct zm_plan whole;
	size_t nr_asks = 0, nr_cells = 0;

	make_plan(nr_cpus[0], &whole);
	for (unsigned int i = 1; i <= nr; i++) {
		const struct zm_shard shard = { .index = i, .nr = nr };
		struct zm_plan plan;
		int r;

		make_plan(nr_cpus[i % 3], &plan);
		nr_asks += count_asks(&plan, &shard);
		r = zm_shard_keep(&shard, &plan, &(struct zm_shard_share){ 0 }, NULL);
		assert_true(r == 0 || (r == -ENOPKG && plan.nr_cells == 0));
		nr_cells += plan.nr_cells;
		zm_plan_release(&plan);
	}
	assert_int_equal(nr_asks, 16);
	if (nr_cpus[0] == nr_cpus[1] && nr_cpus[1] == nr_cpus[2])
		assert_int_equal(nr_cells, whole.nr_cells);
	zm_plan_release(&whole);
}

static void test_union(void **state)
{
	static const unsigned int machines[][3] = {
		{ 2, 2, 2 }, { 4, 4, 4 }, { 1, 1, 1 }, { 2, 4, 1000 }, { 1000, 3, 2 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		for (unsigned int nr = 1; nr <= 4; nr++)
			check_union(nr, machines[i]);
	}
}

static void test_another_split_is_refused(void **state)
{
	struct zm_shard shard = { .index = 1, .nr = 4, .has_id = true };
	struct zm_shard_share share;
	unsigned int parts[NR];
	struct zm_why why = { "" };
	struct zm_plan plan;

	(void)state;
	make_plan(2, &plan);
	assert_int_equal(zm_shard_split(&plan, 4, parts, &share), 0);
	shard.id = share.id + 1;
	assert_int_equal(zm_shard_keep(&shard, &plan, &share, &why), -EXDEV);
	assert_non_null(strstr(why.text, "this machine splits it otherwise"));
	shard.id = share.id;
	assert_int_equal(zm_shard_keep(&shard, &plan, &share, &why), 0);
	zm_plan_release(&plan);
}

static void test_empty_parts(void **state)
{
	const struct zm_shard shard = { .index = 17, .nr = 17 };
	struct zm_shard_share share;
	struct zm_why why = { "" };
	struct zm_plan plan;
	size_t nr_nothing = 0;

	(void)state;
	make_plan(8, &plan);
	assert_int_equal(zm_shard_keep(&shard, &plan, &share, &why), -ENODATA);
	assert_string_equal(why.text, "--shard 17/17: nothing to do, there being only 16 cells");
	zm_plan_release(&plan);
	/* One CPU: 1, 50% and 100% are the same; two of the three are nobody's. */
	for (unsigned int i = 1; i <= 16; i++) {
		const struct zm_shard one = { .index = i, .nr = 16 };

		make_plan(1, &plan);
		nr_nothing += zm_shard_keep(&one, &plan, &share, &why) == -ENOPKG;
		zm_plan_release(&plan);
	}
	assert_int_equal(nr_nothing, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_as_many_parts_as_cells),
		cmocka_unit_test(test_content_alone_counts),
		cmocka_unit_test(test_a_key_twice_is_one),
		cmocka_unit_test(test_union),
		cmocka_unit_test(test_another_split_is_refused),
		cmocka_unit_test(test_empty_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
