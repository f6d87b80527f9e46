/*
 * changes: a step is found where it is, one bad night is none, noise raises no more alarms than is stated (by
 * simulation with fixed seeds; bench/changes does the same with more), and what a confirmation makes of it.
 *
 * timeout: 120
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/changes.h"
#include "results/dist.h"
#include "workloads/base/random.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define MOST      400

static struct zm_judge usual = { .alpha = 0.05, .power = 0.8, .margin = 0.01 };
static struct zm_judge strict = { .alpha = 0.05, .power = 0.8, .margin = 0 };

static double normal(struct zm_random *random)
{
	return zm_normal_quantile(zm_random_unit(random) * (1 - 2e-12) + 1e-12);
}

/* Nights around 100. */
static void make_noise(double *values, size_t nr, double sd, uint64_t seed)
{
	struct zm_random random;

	zm_random_init(&random, seed, 0);
	for (size_t i = 0; i < nr; i++)
		values[i] = 100 + sd * normal(&random);
}

static void find(struct zm_judge *judge, const double *values, size_t nr,
		 struct zm_changes *ret_changes)
{
	assert_int_equal(zm_changes_find(judge, values, nr, ret_changes), 0);
	for (size_t i = 0; i < ret_changes->nr; i++) {
		const struct zm_change *change = &ret_changes->changes[i];

		assert_true(change->first < change->seen && change->seen < nr);
		assert_true(i == 0 || change->first > ret_changes->changes[i - 1].first);
		assert_int_equal(change->state, ZM_CHANGE_ASKED);
		assert_true(change->nights.change != 0);
	}
}

static void nothing_changes_in_few_nights_or_none(void **state)
{
	static const double few[] = { 1, 1, 1, 9, 9, 9 };
	struct zm_changes changes;

	(void)state;
	for (size_t nr = 0; nr <= NR(few); nr++) {
		find(&usual, few, nr, &changes);
		assert_int_equal(changes.nr, 0);
		zm_changes_release(&changes);
	}
}

/* Each of these is a step after night 30; sd 1. */
static void a_step_is_found_where_it_is(void **state)
{
	static const double shifts[] = { -20, -8, 5, 8, 100 };

	(void)state;
	for (size_t i = 0; i < NR(shifts); i++) {
		double values[60];
		struct zm_changes changes;

		make_noise(values, 60, 1, 10 + i);
		for (size_t k = 30; k < 60; k++)
			values[k] += shifts[i];
		find(&usual, values, 60, &changes);
		assert_int_equal(changes.nr, 1);
		assert_int_equal(changes.changes[0].first, 30);
		assert_in_range(changes.changes[0].seen, 32, 40);
		assert_true((changes.changes[0].nights.change > 0) == (shifts[i] > 0));
		assert_true(fabs(changes.changes[0].nights.change - shifts[i] / 100) < 0.02);
		zm_changes_release(&changes);
	}
}

static void steps_are_found_one_after_the_other(void **state)
{
	double values[120];
	struct zm_changes changes;

	(void)state;
	make_noise(values, 120, 1, 77);
	for (size_t k = 40; k < 80; k++)
		values[k] += 10;
	find(&usual, values, 120, &changes);
	assert_int_equal(changes.nr, 2);
	assert_int_equal(changes.changes[0].first, 40);
	assert_int_equal(changes.changes[1].first, 80);
	assert_true(changes.changes[0].nights.change > 0);
	assert_true(changes.changes[1].nights.change < 0);
	zm_changes_release(&changes);
}

/* Whenever it is, whichever way, however far. */
static void one_bad_night_is_an_outlier(void **state)
{
	static const double factors[] = { 0.01, 0.5, 1.5, 1000 };

	(void)state;
	for (size_t night = 0; night < 80; night++) {
		double values[80], was;
		struct zm_changes changes;

		make_noise(values, 80, 1, 5);
		was = values[night];
		for (size_t i = 0; i < NR(factors); i++) {
			values[night] = was * factors[i];
			find(&usual, values, 80, &changes);
			assert_int_equal(changes.nr, 0);
			assert_int_equal(changes.nr_outliers, 1);
			assert_int_equal(changes.outliers[0], night);
			zm_changes_release(&changes);
		}
	}
}

/* A night without a run, a constant, a step too small to matter. */
static void odd_histories(void **state)
{
	double values[60], infinite[] = { 1, 2, HUGE_VAL };
	struct zm_changes changes = { 0 };

	(void)state;
	for (size_t i = 0; i < 60; i++)
		values[i] = 7;
	find(&usual, values, 60, &changes);
	assert_int_equal(changes.nr + changes.nr_outliers, 0);
	zm_changes_release(&changes);
	find(&strict, values, 60, &changes);
	assert_int_equal(changes.nr, 0);
	zm_changes_release(&changes);
	for (size_t i = 30; i < 60; i++)
		values[i] = 7.05;
	find(&usual, values, 60, &changes);
	assert_int_equal(changes.nr, 0); /* 0.7 % */
	zm_changes_release(&changes);
	find(&strict, values, 60, &changes);
	assert_int_equal(changes.nr, 1);
	assert_int_equal(changes.changes[0].first, 30);
	zm_changes_release(&changes);
	values[29] = values[30] = values[3] = NAN;
	find(&strict, values, 60, &changes);
	assert_int_equal(changes.nr, 1);
	assert_int_equal(changes.changes[0].first, 31);
	zm_changes_release(&changes);
	assert_int_equal(zm_changes_find(&usual, infinite, 3, &changes), -EINVAL);
	assert_null(changes.changes);
}

/* A small step in the window does not hide a large one behind it. */
static void a_step_that_matters_not_hides_none(void **state)
{
	double values[60];
	struct zm_changes changes;

	(void)state;
	make_noise(values, 60, 0.05, 21);
	for (size_t i = 25; i < 60; i++)
		values[i] += i < 50 ? 0.5 : 10;
	find(&usual, values, 60, &changes);
	assert_int_equal(changes.nr, 1);
	assert_int_equal(changes.changes[0].first, 50);
	zm_changes_release(&changes);
}

/* What was found stays found when nights are added behind. */
static void more_nights_alter_nothing(void **state)
{
	double values[100];
	struct zm_changes all;

	(void)state;
	make_noise(values, 100, 1, 8);
	for (size_t i = 35; i < 100; i++)
		values[i] += i < 70 ? 6 : 12;
	find(&usual, values, 100, &all);
	assert_int_equal(all.nr, 2);
	for (size_t nr = 0; nr < 100; nr++) {
		struct zm_changes changes;

		find(&usual, values, nr, &changes);
		for (size_t i = 0; i < changes.nr; i++)
			assert_memory_equal(&changes.changes[i], &all.changes[i],
					    sizeof(struct zm_change));
		assert_int_equal(changes.nr, (size_t)(all.changes[0].seen < nr) +
						     (size_t)(all.changes[1].seen < nr));
		zm_changes_release(&changes);
	}
	zm_changes_release(&all);
}

/* --- simulation --- */

/* One in twenty nights ten times as far, or none. */
static double draw(struct zm_random *random, bool has_outliers)
{
	return normal(random) * (has_outliers && zm_random_below(random, 20) == 0 ? 10 : 1);
}

static void noise_raises_no_more_alarms_than_stated(void **state)
{
	enum { HISTORIES = 100 };

	(void)state;
	for (int has_outliers = 0; has_outliers < 2; has_outliers++) {
		size_t nr_alarms = 0;
		struct zm_random random;

		zm_random_init(&random, 42, (uint64_t)has_outliers);
		for (size_t i = 0; i < HISTORIES; i++) {
			double values[MOST];
			struct zm_changes changes;

			for (size_t k = 0; k < MOST; k++)
				values[k] = 100 + draw(&random, has_outliers);
			find(&strict, values, MOST, &changes);
			nr_alarms += changes.nr;
			zm_changes_release(&changes);
		}
		/* 40 in 40,000 nights; chance takes it to 62 three and a half times in ten thousand */
		if (nr_alarms > 62 || nr_alarms < 5)
			fail_msg("%zu false alarms in %d nights", nr_alarms, HISTORIES * MOST);
	}
}

/* A step by three sd after 30 nights is seen within ten nights, nine times out of ten. */
static void power_is_as_stated(void **state)
{
	enum { HISTORIES = 300 };
	size_t nr_seen = 0;

	(void)state;
	for (size_t i = 0; i < HISTORIES; i++) {
		double values[40];
		struct zm_changes changes;

		make_noise(values, 40, 1, 1000 + i);
		for (size_t k = 30; k < 40; k++)
			values[k] += 3;
		find(&strict, values, 40, &changes);
		nr_seen += changes.nr && changes.changes[changes.nr - 1].first >= 27 &&
			   changes.changes[changes.nr - 1].first <= 33;
		zm_changes_release(&changes);
	}
	if (nr_seen < HISTORIES * 9 / 10)
		fail_msg("%zu of %d were seen", nr_seen, HISTORIES);
}

/* --- confirmation --- */

static void a_confirmation_settles(void **state)
{
	static const double low[] = { 99, 100, 101, 100, 100, 99.5 };
	static const double high[] = { 109, 110, 111, 110, 110, 109.5 };
	static const double flat_low[] = { 100, 100.1, 99.9, 100, 100, 100.1 };
	static const double wide[] = { 90, 115, 95, 120, 80, 100 };
	static const struct {
		const double *before, *after;
		size_t nr;
		enum zm_change_state wanted;
	} cases[] = {
		{ low, high, 6, ZM_CHANGE_CONFIRMED },
		{ high, low, 6, ZM_CHANGE_WITHDRAWN },
		{ flat_low, flat_low, 6, ZM_CHANGE_WITHDRAWN },
		{ wide, wide, 6, ZM_CHANGE_ASKED },
		{ low, high, 1, ZM_CHANGE_ASKED },
		{ low, high, 3, ZM_CHANGE_CONFIRMED },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct zm_change change = { .nights = { .change = 0.1 } };

		assert_int_equal(zm_change_settle(&usual, &change, cases[i].before, cases[i].nr,
						  cases[i].after, cases[i].nr),
				 0);
		assert_int_equal(change.state, cases[i].wanted);
		assert_int_equal(change.confirmation.nr_base, cases[i].nr);
	}
	assert_string_equal(zm_change_state_name(ZM_CHANGE_WITHDRAWN), "withdrawn");
}

static int release(void **state)
{
	(void)state;
	zm_judge_release(&usual);
	zm_judge_release(&strict);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes_in_few_nights_or_none),
		cmocka_unit_test(a_step_is_found_where_it_is),
		cmocka_unit_test(steps_are_found_one_after_the_other),
		cmocka_unit_test(one_bad_night_is_an_outlier),
		cmocka_unit_test(odd_histories),
		cmocka_unit_test(a_step_that_matters_not_hides_none),
		cmocka_unit_test(more_nights_alter_nothing),
		cmocka_unit_test(noise_raises_no_more_alarms_than_stated),
		cmocka_unit_test(power_is_as_stated),
		cmocka_unit_test(a_confirmation_settles),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
