/* cpuset: the list form against a plain model, hostile lists, sets of different sizes, affinity. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/cpuset.h"
#include "workloads/base/random.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

static void lists_that_are_lists(void **state)
{
	static const struct {
		const char *text, *printed;
		size_t count;
	} cases[] = {
		{ "", "", 0 },
		{ "\n", "", 0 },
		{ " \t\n", "", 0 },
		{ "0", "0", 1 },
		{ "0\n", "0", 1 },
		{ "  0-3,8,10-11 \n", "0-3,8,10-11", 7 },
		{ "3,2,1,0", "0-3", 4 },
		{ "0-1,1-2", "0-2", 3 },
		{ "5-5", "5", 1 },
		{ "007", "7", 1 },
		{ "63,64", "63-64", 2 },
		{ "0-63", "0-63", 64 },
		{ "1-64", "1-64", 64 },
		{ "64-127", "64-127", 64 },
		{ "0-2047", "0-2047", 2048 },
		{ "0-7:2/4", "0-1,4-5", 4 },
		{ "0-15:1/2", "0,2,4,6,8,10,12,14", 8 },
		{ "3-9:2/4", "3-4,7-8", 4 },
		{ "0-8:2/4", "0-1,4-5,8", 5 },
		{ "0-3:4/4", "0-3", 4 },
		{ "0-3:0/4", "", 0 },
		{ "0-200:100/150", "0-99,150-200", 151 },
		{ "1048576", "1048576", 1 },
		{ "0-1048576", "0-1048576", 1048577 },
		{ "0-7:2/4000000000", "0-1", 2 },
	};
	char buf[128];

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		zm_autocpuset struct zm_cpuset set = { 0 };

		if (zm_cpuset_parse(cases[i].text, &set))
			fail_msg("\"%s\" is refused", cases[i].text);
		assert_int_equal(zm_cpuset_count(&set), cases[i].count);
		assert_int_equal(zm_cpuset_print(&set, buf, sizeof(buf)), strlen(cases[i].printed));
		assert_string_equal(buf, cases[i].printed);
	}
}

static void lists_that_are_none(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "5-2", -EINVAL },
		{ "-1", -EINVAL },
		{ "+1", -EINVAL },
		{ "1-", -EINVAL },
		{ "-", -EINVAL },
		{ ",", -EINVAL },
		{ "0,", -EINVAL },
		{ ",0", -EINVAL },
		{ "0,,1", -EINVAL },
		{ "0 1", -EINVAL },
		{ "0, 1", -EINVAL },
		{ "0 -1", -EINVAL },
		{ "0-1-2", -EINVAL },
		{ "0x3", -EINVAL },
		{ "all", -EINVAL },
		{ "0\n1", -EINVAL },
		{ "0:1/2", -EINVAL },
		{ "0-7:", -EINVAL },
		{ "0-7:2", -EINVAL },
		{ "0-7:2/", -EINVAL },
		{ "0-7:/4", -EINVAL },
		{ "0-7:2/0", -EINVAL },
		{ "0-7:0/0", -EINVAL },
		{ "0-7:5/4", -EINVAL },
		{ "0-7:2/4/8", -EINVAL },
		{ "0-7:2/4:1/2", -EINVAL },
		{ "1.5", -EINVAL },
		{ "1048577", -ERANGE },
		{ "0-4294967295", -ERANGE },
		{ "0-4294967296", -ERANGE },
		{ "4294967296", -ERANGE },
		{ "18446744073709551616", -ERANGE },
		{ "99999999999999999999999999999999", -ERANGE },
		{ "0,4294967296,1", -ERANGE },
		{ "0-4294967295,x", -EINVAL },
		{ "4294967296-4294967297,", -EINVAL },
	};
	zm_autocpuset struct zm_cpuset set = { 0 };

	(void)state;
	assert_int_equal(zm_cpuset_add(&set, 42), 0);
	for (size_t i = 0; i < nr_of(cases); i++) {
		int error = zm_cpuset_parse(cases[i].text, &set);

		if (error != cases[i].error)
			fail_msg("\"%s\": error %d", cases[i].text, error);
		assert_true(zm_cpuset_count(&set) == 1 && zm_cpuset_has(&set, 42));
	}
}

/* 100 KB, every element a range over the whole allowed space: time is bounded. */
static void a_long_hostile_list_ends(void **state)
{
	static const char element[] = "0-1048576,";
	size_t nr_elements = 10000, length = sizeof(element) - 1;
	char *text = malloc(nr_elements * length + 1);
	zm_autocpuset struct zm_cpuset set = { 0 };

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < nr_elements; i++)
		memcpy(text + i * length, element, length + 1);
	text[nr_elements * length - 1] = '\0';
	assert_int_equal(zm_cpuset_parse(text, &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 1048577);
	free(text);
}

static void a_second_parse_replaces_the_first(void **state)
{
	zm_autocpuset struct zm_cpuset set = { 0 };

	(void)state;
	assert_int_equal(zm_cpuset_parse("0-4095", &set), 0);
	assert_int_equal(zm_cpuset_parse("3", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 1);
	assert_int_equal(zm_cpuset_parse("", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 0);
}

/* --- members --------------------------------------------------------------------------------- */

static void members_come_and_go(void **state)
{
	static const unsigned int numbers[] = {
		0, 1, 63, 64, 127, 128, 1023, 1024, 65535, 1048576
	};
	zm_autocpuset struct zm_cpuset set = { 0 };

	(void)state;
	assert_int_equal(zm_cpuset_next(&set, 0), -1);
	for (size_t i = nr_of(numbers); i-- > 0;) {
		assert_false(zm_cpuset_has(&set, numbers[i]));
		assert_int_equal(zm_cpuset_add(&set, numbers[i]), 0);
		assert_int_equal(zm_cpuset_add(&set, numbers[i]), 0);
		assert_true(zm_cpuset_has(&set, numbers[i]));
		assert_int_equal(zm_cpuset_count(&set), nr_of(numbers) - i);
	}
	for (size_t i = 0; i < nr_of(numbers); i++) {
		assert_int_equal(zm_cpuset_next(&set, 0), (int)numbers[i]);
		zm_cpuset_remove(&set, numbers[i]);
		zm_cpuset_remove(&set, numbers[i]);
		assert_false(zm_cpuset_has(&set, numbers[i]));
	}
	assert_int_equal(zm_cpuset_count(&set), 0);
	assert_int_equal(zm_cpuset_add(&set, ZM_CPUSET_MAX + 1), -ERANGE);
	assert_int_equal(zm_cpuset_add(&set, UINT_MAX), -ERANGE);
	zm_cpuset_remove(&set, UINT_MAX);
	assert_false(zm_cpuset_has(&set, UINT_MAX));
	assert_int_equal(zm_cpuset_next(&set, UINT_MAX), -1);
}

static void the_walk_meets_each_once(void **state)
{
	zm_autocpuset struct zm_cpuset set = { 0 }, met = { 0 };
	int last = -1;

	(void)state;
	assert_int_equal(zm_cpuset_parse("1-3,62-66,500,2000-2047:1/5", &set), 0);
	zm_cpuset_for_each (cpu, &set) {
		assert_true(cpu > last);
		last = cpu;
		assert_int_equal(zm_cpuset_add(&met, (unsigned int)cpu), 0);
	}
	assert_true(zm_cpuset_is_equal(&set, &met));
}

/* --- sets against a plain model -------------------------------------------------------------- */

#define MODEL_SIZE 700

static void fill_at_random(struct zm_random *random, struct zm_cpuset *set, bool model[MODEL_SIZE])
{
	unsigned int size = 1 + (unsigned int)zm_random_below(random, MODEL_SIZE);
	unsigned int density = 1 + (unsigned int)zm_random_below(random, 20);

	for (unsigned int i = 0; i < MODEL_SIZE; i++) {
		model[i] = i < size && zm_random_below(random, 21) < density;
		if (model[i])
			assert_int_equal(zm_cpuset_add(set, i), 0);
	}
}

static void check_against(const struct zm_cpuset *set, const bool model[MODEL_SIZE])
{
	char buf[8 * MODEL_SIZE];
	zm_autocpuset struct zm_cpuset back = { 0 };
	size_t count = 0, length;

	for (unsigned int i = 0; i < MODEL_SIZE; i++) {
		assert_int_equal(zm_cpuset_has(set, i), model[i]);
		count += model[i];
	}
	assert_int_equal(zm_cpuset_count(set), count);
	length = zm_cpuset_print(set, buf, sizeof(buf));
	assert_int_equal(strlen(buf), length);
	assert_int_equal(zm_cpuset_print(set, NULL, 0), length);
	assert_int_equal(zm_cpuset_parse(buf, &back), 0);
	assert_true(zm_cpuset_is_equal(set, &back));
	assert_true(zm_cpuset_is_equal(&back, set));
}

static void sets_agree_with_the_model(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 21, 0);
	for (int round = 0; round < 300; round++) {
		zm_autocpuset struct zm_cpuset a = { 0 }, b = { 0 }, both = { 0 }, rest = { 0 };
		bool in_a[MODEL_SIZE], in_b[MODEL_SIZE], in_both[MODEL_SIZE], in_rest[MODEL_SIZE];

		fill_at_random(&random, &a, in_a);
		fill_at_random(&random, &b, in_b);
		for (size_t i = 0; i < MODEL_SIZE; i++) {
			in_both[i] = in_a[i] && in_b[i];
			in_rest[i] = in_a[i] && !in_b[i];
		}
		assert_int_equal(zm_cpuset_copy(&both, &a), 0);
		assert_int_equal(zm_cpuset_copy(&rest, &a), 0);
		assert_true(zm_cpuset_is_equal(&both, &a));
		zm_cpuset_and(&both, &b);
		zm_cpuset_subtract(&rest, &b);
		check_against(&a, in_a);
		check_against(&both, in_both);
		check_against(&rest, in_rest);
	}
}

static void equality_is_by_members(void **state)
{
	zm_autocpuset struct zm_cpuset small = { 0 }, large = { 0 }, empty = { 0 };

	(void)state;
	assert_int_equal(zm_cpuset_parse("0-3", &small), 0);
	assert_int_equal(zm_cpuset_parse("0-3,4000", &large), 0);
	assert_false(zm_cpuset_is_equal(&small, &large));
	assert_false(zm_cpuset_is_equal(&large, &small));
	zm_cpuset_remove(&large, 4000);
	assert_true(zm_cpuset_is_equal(&small, &large));
	assert_true(zm_cpuset_is_equal(&large, &small));
	assert_int_equal(zm_cpuset_copy(&large, &empty), 0);
	assert_true(zm_cpuset_is_equal(&large, &empty));
	assert_int_equal(zm_cpuset_copy(&small, &small), 0);
	assert_int_equal(zm_cpuset_count(&small), 4);
}

static void print_keeps_to_the_size(void **state)
{
	static const char whole[] = "0-3,8,10-11,4000";
	zm_autocpuset struct zm_cpuset set = { 0 };
	char buf[32];

	(void)state;
	assert_int_equal(zm_cpuset_parse(whole, &set), 0);
	for (size_t size = 0; size < sizeof(buf); size++) {
		memset(buf, '#', sizeof(buf));
		assert_int_equal(zm_cpuset_print(&set, buf, size), strlen(whole));
		for (size_t i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '#');
		if (size > 0)
			assert_memory_equal(buf, whole, strlen(buf));
		if (size > strlen(whole))
			assert_string_equal(buf, whole);
		else if (size > 0)
			assert_int_equal(strlen(buf), size - 1);
	}
}

static void release_takes_anything(void **state)
{
	struct zm_cpuset set = { 0 };

	(void)state;
	zm_cpuset_release(NULL);
	zm_cpuset_release(&set);
	assert_int_equal(zm_cpuset_add(&set, 1), 0);
	zm_cpuset_release(&set);
	zm_cpuset_release(&set);
	assert_int_equal(zm_cpuset_count(&set), 0);
}

/* --- affinity -------------------------------------------------------------------------------- */

static void affinity_is_what_was_set(void **state)
{
	zm_autocpuset struct zm_cpuset before = { 0 }, one = { 0 }, now = { 0 };

	(void)state;
	assert_int_equal(zm_cpuset_get_affinity(0, &before), 0);
	assert_true(zm_cpuset_count(&before) > 0);
	zm_cpuset_for_each (cpu, &before) {
		zm_cpuset_release(&one);
		assert_int_equal(zm_cpuset_add(&one, (unsigned int)cpu), 0);
		assert_int_equal(zm_cpuset_set_affinity(0, &one), 0);
		assert_int_equal(zm_cpuset_get_affinity(getpid(), &now), 0);
		assert_true(zm_cpuset_is_equal(&now, &one));
	}
	assert_int_equal(zm_cpuset_set_affinity(0, &before), 0);
	assert_int_equal(zm_cpuset_get_affinity(0, &now), 0);
	assert_true(zm_cpuset_is_equal(&now, &before));
}

/* A mask much larger than the kernel's own is taken, as long as one of its CPUs is there. */
static void affinity_takes_numbers_beyond_the_machine(void **state)
{
	zm_autocpuset struct zm_cpuset before = { 0 }, wide = { 0 }, now = { 0 };

	(void)state;
	assert_int_equal(zm_cpuset_get_affinity(0, &before), 0);
	assert_int_equal(zm_cpuset_copy(&wide, &before), 0);
	assert_int_equal(zm_cpuset_add(&wide, 100000), 0);
	assert_int_equal(zm_cpuset_set_affinity(0, &wide), 0);
	assert_int_equal(zm_cpuset_get_affinity(0, &now), 0);
	assert_true(zm_cpuset_is_equal(&now, &before));
}

static void affinity_says_why_not(void **state)
{
	zm_autocpuset struct zm_cpuset none = { 0 }, nowhere = { 0 }, untouched = { 0 };

	(void)state;
	assert_int_equal(zm_cpuset_set_affinity(0, &none), -EINVAL);
	assert_int_equal(zm_cpuset_add(&nowhere, 1000000), 0);
	assert_int_equal(zm_cpuset_set_affinity(0, &nowhere), -EINVAL);
	assert_int_equal(zm_cpuset_add(&untouched, 7), 0);
	assert_int_equal(zm_cpuset_get_affinity(INT_MAX, &untouched), -ESRCH);
	assert_true(zm_cpuset_count(&untouched) == 1 && zm_cpuset_has(&untouched, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_that_are_lists),
		cmocka_unit_test(lists_that_are_none),
		cmocka_unit_test(a_long_hostile_list_ends),
		cmocka_unit_test(a_second_parse_replaces_the_first),
		cmocka_unit_test(members_come_and_go),
		cmocka_unit_test(the_walk_meets_each_once),
		cmocka_unit_test(sets_agree_with_the_model),
		cmocka_unit_test(equality_is_by_members),
		cmocka_unit_test(print_keeps_to_the_size),
		cmocka_unit_test(release_takes_anything),
		cmocka_unit_test(affinity_is_what_was_set),
		cmocka_unit_test(affinity_takes_numbers_beyond_the_machine),
		cmocka_unit_test(affinity_says_why_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
