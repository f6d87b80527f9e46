/*
 * judge: against published examples, and by simulation: false alarms at no more than the stated rate,
 * intervals that hold the truth as often as stated, power as stated. The seeds are fixed.
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

#include "results/dist.h"
#include "results/judge.h"
#include "results/tests/trials.h"
#include "workloads/base/random.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* As the command begins with. */
static struct zm_judge usual = { .alpha = 0.05, .power = 0.8, .margin = 0.01 };

static void assert_near(double value, double wanted, double error)
{
	if (!(fabs(value - wanted) <= error))
		fail_msg("%.12g is not %.12g", value, wanted);
}

/* Hollander and Wolfe's permeabilities (example 4.1): W = 15 of 50 the other way, p = 0.2544 two-sided,
 * shift -0.305; R gives the interval (-0.76, 0.15). */
static void the_ranks_of_a_published_example(void **state)
{
	static const double term[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	static const double early[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	struct zm_judge options = { .alpha = 0.05, .margin = 0.01, .power = 0.8 };
	struct zm_judgement judgement;

	(void)state;
	options.is_share = true; /* differences, as in the book */
	assert_int_equal(zm_judge_samples(&options, term, 10, early, 5, &judgement), 0);
	assert_int_equal(judgement.method, ZM_METHOD_RANKS);
	assert_near(judgement.change, -0.305, 1e-12);
	assert_near(judgement.p, 0.2544, 1e-4);
	assert_near(judgement.low, -0.76, 1e-12);
	assert_near(judgement.high, 0.15, 1e-12);
	zm_judge_release(&options);
}

/* Student's sleep data as two samples (R: t.test(extra ~ group)): t = -1.8608, 17.776 degrees of
 * freedom, p = 0.07939, interval -3.3654832 to 0.2054832. */
static void welch_of_a_published_example(void **state)
{
	static const double first[] = { 0.7, -1.6, -0.2, -1.2 }, second[] = { 1.9, 0.8, 1.1, 0.1 };
	static const double all_first[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
	static const double all_second[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
	struct zm_judgement judgement;

	(void)state;
	/* so few that Welch is taken */
	assert_int_equal(zm_judge_samples(&usual, first, 4, second, 4, &judgement), 0);
	assert_int_equal(judgement.method, ZM_METHOD_WELCH);
	assert_false(judgement.is_ratio);
	assert_near(judgement.change, 1.55, 1e-12);
	/* variances 1.0691667 and 0.5558333, t = 2.4318401, 5.4555811 degrees of freedom */
	assert_near(judgement.p, 0.0551088175, 1e-9);
	assert_near((judgement.low + judgement.high) / 2, 1.55, 1e-12);
	/* all of them go by ranks: 25.5 of 100, with ties */
	assert_int_equal(zm_judge_samples(&usual, all_first, 10, all_second, 10, &judgement), 0);
	assert_int_equal(judgement.method, ZM_METHOD_RANKS);
	assert_near(judgement.change, 1.35, 0.051);
	assert_true(judgement.p > 0.06 && judgement.p < 0.08);
}

static void the_method_goes_by_the_number(void **state)
{
	static const struct {
		size_t nr_base, nr_new;
		enum zm_method method;
	} cases[] = {
		{ 0, 9, ZM_METHOD_NONE },   { 1, 1, ZM_METHOD_NONE },  { 1, 2, ZM_METHOD_NONE },
		{ 1, 3, ZM_METHOD_ONE },    { 9, 1, ZM_METHOD_ONE },   { 2, 2, ZM_METHOD_WELCH },
		{ 4, 30, ZM_METHOD_WELCH }, { 5, 5, ZM_METHOD_RANKS }, { 30, 5, ZM_METHOD_RANKS },
	};
	double values[TRIALS_MOST];

	(void)state;
	for (size_t i = 0; i < TRIALS_MOST; i++)
		values[i] = 100 + (double)(i * 7 % 11);
	for (size_t i = 0; i < NR(cases); i++) {
		struct zm_judgement judgement;

		assert_int_equal(zm_judge_samples(&usual, values, cases[i].nr_base, values,
						  cases[i].nr_new, &judgement),
				 0);
		assert_int_equal(judgement.method, cases[i].method);
		assert_int_equal(isnan(judgement.p), cases[i].method == ZM_METHOD_NONE);
		assert_int_equal(isnan(judgement.detectable), cases[i].method == ZM_METHOD_NONE);
	}
}

static void verdicts_follow_from_the_interval(void **state)
{
	static const struct {
		double change, low, high, p;
		enum zm_better better;
		enum zm_verdict verdict;
	} cases[] = {
		{ 0.05, 0.03, 0.07, 0.001, ZM_BETTER_MORE, ZM_VERDICT_BETTER },
		{ 0.05, 0.03, 0.07, 0.001, ZM_BETTER_LESS, ZM_VERDICT_WORSE },
		{ -0.05, -0.07, -0.03, 0.001, ZM_BETTER_MORE, ZM_VERDICT_WORSE },
		{ 0.05, 0.03, 0.07, 0.001, ZM_BETTER_NEITHER, ZM_VERDICT_CHANGED },
		{ 0.05, 0.03, 0.07, 0.2, ZM_BETTER_MORE, ZM_VERDICT_TOO_NOISY }, /* corrected p */
		{ 0.05, -0.01, 0.11, 0.1, ZM_BETTER_MORE, ZM_VERDICT_TOO_NOISY },
		{ 0.002, -0.005, 0.009, 0.6, ZM_BETTER_MORE, ZM_VERDICT_SAME },
		{ 0.004, 0.001, 0.007, 0.001, ZM_BETTER_MORE,
		  ZM_VERDICT_SAME }, /* below the margin */
		{ 0.008, 0.002, 0.014, 0.001, ZM_BETTER_MORE, ZM_VERDICT_TOO_NOISY },
		{ 0, 0, 0, 1, ZM_BETTER_MORE, ZM_VERDICT_SAME },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		const struct zm_judgement judgement = { .method = ZM_METHOD_WELCH,
							.is_ratio = true,
							.change = cases[i].change,
							.low = cases[i].low,
							.high = cases[i].high };

		assert_int_equal(zm_judge_verdict(&usual, &judgement, cases[i].p, cases[i].better),
				 cases[i].verdict);
	}
	assert_int_equal(zm_judge_verdict(&usual,
					  &(struct zm_judgement){ .method = ZM_METHOD_NONE }, NAN,
					  ZM_BETTER_MORE),
			 ZM_VERDICT_NOT_ENOUGH);
}

/* Zeros, no spread at all, shares: no division by what is not there. */
static void odd_values_are_judged(void **state)
{
	static const double zeros[] = { 0, 0, 0 }, ones[] = { 1, 1, 1 }, some[] = { 0, 1, 2 };
	struct zm_judge shares = { .alpha = 0.05, .margin = 0.01, .power = 0.8 };
	struct zm_judgement judgement;

	(void)state;
	shares.is_share = true;
	assert_int_equal(zm_judge_samples(&usual, zeros, 3, zeros, 3, &judgement), 0);
	assert_near(judgement.change, 0, 0);
	assert_int_equal(zm_judge_verdict(&usual, &judgement, judgement.p, ZM_BETTER_MORE),
			 ZM_VERDICT_SAME);
	assert_int_equal(zm_judge_samples(&usual, zeros, 3, ones, 3, &judgement), 0);
	assert_false(judgement.is_ratio);
	assert_near(judgement.change, 1, 0);
	assert_int_equal(zm_judge_verdict(&usual, &judgement, judgement.p, ZM_BETTER_MORE),
			 ZM_VERDICT_BETTER);
	assert_int_equal(zm_judge_samples(&usual, ones, 3, ones, 3, &judgement), 0);
	assert_true(judgement.is_ratio);
	assert_int_equal(zm_judge_verdict(&usual, &judgement, judgement.p, ZM_BETTER_LESS),
			 ZM_VERDICT_SAME);
	assert_int_equal(zm_judge_samples(&shares, some, 3, ones, 3, &judgement), 0);
	assert_false(judgement.is_ratio);
	assert_int_equal(zm_judge_samples(&usual, NULL, 0, ones, 3, &judgement), 0);
	assert_true(isnan(judgement.change) && isnan(judgement.base));
}

/* --- simulation --- */

/* Values without and with a true ratio. */
static struct trials simulate(uint64_t seed, enum shape shape, size_t nr_base, size_t nr_new,
			      double cv, double ratio, size_t nr_trials)
{
	struct trials trials = { .seed = seed,
				 .shape = shape,
				 .nr_base = nr_base,
				 .nr_new = nr_new,
				 .cv = cv,
				 .ratio = ratio,
				 .nr = nr_trials };

	trials_run(&trials, &usual);
	assert_int_equal(trials.nr_errors, 0);
	return trials;
}

static void false_alarms_and_coverage_are_as_stated(void **state)
{
	static const struct {
		size_t nr_base, nr_new;
	} sizes[] = { { 2, 2 }, { 3, 3 },   { 4, 4 },  { 3, 6 }, { 5, 5 },
		      { 6, 6 }, { 10, 10 }, { 5, 20 }, { 1, 6 }, { 10, 1 } };
	const size_t nr = 3000;

	(void)state;
	for (size_t i = 0; i < NR(sizes); i++) {
		for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
			/* one value against others takes their distribution for normal */
			double more = shape == OUTLIERS && sizes[i].nr_base * sizes[i].nr_new <= 10
					      ? 0.02
					      : 0;
			struct trials trials = simulate(7 + i, shape, sizes[i].nr_base,
							sizes[i].nr_new, 0.02, 1, nr);

			if ((double)trials.nr_alarms >
			    (0.05 + more + chance(0.05, nr)) * (double)nr)
				fail_msg("%zu+%zu shape %d: %zu false alarms of %zu",
					 sizes[i].nr_base, sizes[i].nr_new, shape, trials.nr_alarms,
					 nr);
			trials = simulate(70 + i, shape, sizes[i].nr_base, sizes[i].nr_new, 0.02,
					  1.05, nr);
			if ((double)trials.nr_held < (0.95 - more - chance(0.95, nr)) * (double)nr)
				fail_msg("%zu+%zu shape %d: %zu of %zu intervals hold the truth",
					 sizes[i].nr_base, sizes[i].nr_new, shape, trials.nr_held,
					 nr);
			assert_int_equal(trials.nr_unbounded, 0);
		}
	}
}

/* The detectable change, taken from the true spread, is found about as often as is said. */
static void power_is_as_stated(void **state)
{
	static const size_t sizes[] = { 2, 3, 4, 5, 6, 10, 20 };
	const size_t nr = 2000;

	(void)state;
	for (size_t i = 0; i < NR(sizes); i++) {
		double detectable = zm_judge_detectable(&usual, sizes[i], sizes[i], 0.02, true);
		struct trials trials =
			simulate(40 + i, SKEWED, sizes[i], sizes[i], 0.02, 1 + detectable, nr);
		double found = (double)trials.nr_alarms / (double)nr;

		if (found < 0.8 - 0.05 || found > 0.8 + 0.06)
			fail_msg("%zu a side: %.3f of changes by %.2f %% found", sizes[i], found,
				 100 * detectable);
	}
}

/* Darwin's plants (1876), cross- and self-fertilised, in pairs, in eighths of an inch; Fisher's example of the
 * paired t (Design of Experiments). R's wilcox.test: p = 0.04126, shift 25, interval 4 to 41.5. */
static void pairs_of_a_published_example(void **state)
{
	static const double crossed[] = { 188, 96,  168, 176, 153, 172, 177, 163,
					  146, 173, 186, 168, 177, 184, 96 };
	static const double selfed[] = { 139, 163, 160, 160, 147, 149, 149, 122,
					 132, 144, 130, 144, 102, 124, 144 };
	struct zm_judge judge = {
		.alpha = 0.05, .power = 0.8, .margin = 0.01, .is_share = true, .is_paired = true
	};
	struct zm_judgement judgement;

	(void)state;
	assert_int_equal(zm_judge_samples(&judge, selfed, 15, crossed, 15, &judgement), 0);
	assert_int_equal(judgement.method, ZM_METHOD_PAIRS);
	assert_near(judgement.p, 0.04126, 5e-6);
	assert_near(judgement.sd, 37.744, 1e-3);
	assert_near(judgement.change, 25, 1e-9);
	assert_near(judgement.low, 4, 1e-9);
	assert_near(judgement.high, 41.5, 1e-9);
	assert_int_equal(zm_judge_samples(&judge, selfed, 6, crossed, 6, &judgement), 0);
	assert_int_equal(judgement.method, ZM_METHOD_PAIRS_T);
	assert_near(judgement.change, 35.0 / 6, 1e-9);
	assert_int_equal(zm_judge_samples(&judge, selfed, 6, crossed, 5, &judgement), -EINVAL);
	assert_int_equal(zm_judge_samples(&judge, selfed, 1, crossed, 1, &judgement), 0);
	assert_int_equal(judgement.method, ZM_METHOD_NONE);
	zm_judge_release(&judge);
}

/* What drifts moves both values of a pair: the level, the coverage and the power are of what is left. */
static struct trials simulate_pairs(uint64_t seed, size_t nr, double cv, double ratio,
				    size_t nr_trials)
{
	struct trials trials = { .seed = seed,
				 .shape = SKEWED,
				 .nr_base = nr,
				 .nr_new = nr,
				 .is_paired = true,
				 .cv = cv,
				 .ratio = ratio,
				 .nr = nr_trials };

	trials_run(&trials, &usual);
	assert_int_equal(trials.nr_errors, 0);
	return trials;
}

static void pairs_keep_level_coverage_and_power(void **state)
{
	static const size_t sizes[] = { 3, 4, 5, 7, 8, 10, 20 };
	const size_t nr = 2000;

	(void)state;
	for (size_t i = 0; i < NR(sizes); i++) {
		struct zm_judge judge = {
			.alpha = 0.05, .power = 0.8, .margin = 0.01, .is_paired = true
		};
		double detectable =
			zm_judge_detectable(&judge, sizes[i], sizes[i], 0.02 * sqrt(2), true);
		struct trials none = simulate_pairs(170 + i, sizes[i], 0.02, 1, nr);
		struct trials some = simulate_pairs(270 + i, sizes[i], 0.02, 1 + detectable, nr);
		double found = (double)some.nr_alarms / (double)nr;

		if ((double)none.nr_alarms > (0.05 + chance(0.05, nr)) * (double)nr)
			fail_msg("%zu pairs: %zu false alarms of %zu", sizes[i], none.nr_alarms,
				 nr);
		if ((double)some.nr_held < (0.95 - chance(0.95, nr)) * (double)nr)
			fail_msg("%zu pairs: %zu of %zu intervals hold the truth", sizes[i],
				 some.nr_held, nr);
		if (found < 0.8 - 0.05 || found > 0.8 + 0.06)
			fail_msg("%zu pairs: %.3f of changes by %.2f %% found", sizes[i], found,
				 100 * detectable);
		zm_judge_release(&judge);
	}
}

static void more_values_see_more(void **state)
{
	double before = HUGE_VAL;

	(void)state;
	for (size_t nr = 2; nr < 60; nr++) {
		double now = zm_judge_detectable(&usual, nr, nr, 0.02, true);

		/* where the method changes from means to ranks a little is lost */
		assert_true(now < before * (nr == 5 ? 1.1 : 1));
		before = now;
	}
}

static void what_it_would_take_is_said(void **state)
{
	struct zm_judgement judgement = {
		.method = ZM_METHOD_WELCH, .is_ratio = true, .nr_base = 3, .nr_new = 3, .sd = 0.02
	};
	size_t needed;

	(void)state;
	/* A change of 3 % with a spread of 2 %: n = 2 (1.96 + 0.84)^2 (2 / 3)^2 = 7, a few more for t
	 * and ranks. */
	judgement.change = 0.03;
	needed = zm_judge_needed(&usual, &judgement, ZM_VERDICT_TOO_NOISY);
	assert_in_range(needed, 8, 10);
	assert_int_equal(zm_judge_needed(&usual, &judgement, ZM_VERDICT_BETTER), 0);
	/* To say that it is the same within 1 % takes an interval of less than that: 2 (1.96 * 2)^2 = 31. */
	judgement.change = 0;
	needed = zm_judge_needed(&usual, &judgement, ZM_VERDICT_TOO_NOISY);
	assert_in_range(needed, 31, 34);
	judgement.sd = 0.5;
	assert_true(zm_judge_needed(&usual, &judgement, ZM_VERDICT_TOO_NOISY) == SIZE_MAX);
	judgement.sd = NAN;
	judgement.method = ZM_METHOD_NONE;
	assert_int_equal(zm_judge_needed(&usual, &judgement, ZM_VERDICT_NOT_ENOUGH), 5);
}

/* The example of Benjamini and Hochberg's paper: 15 comparisons, four of which they reject at 0.05, and
 * Holm three. */
static void corrections_of_a_published_example(void **state)
{
	static const double published[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
					    0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
					    0.4262, 0.5719, 0.6528, 0.7590, 1.000 };
	double holm[16], bh[16];
	size_t nr_holm = 0, nr_bh = 0;

	(void)state;
	for (size_t i = 0; i < 15; i++)
		holm[(i * 4) % 15] = bh[(i * 4) % 15] = published[i]; /* the order means nothing */
	holm[15] = bh[15] = NAN;
	assert_int_equal(zm_judge_holm(holm, 16), 0);
	assert_int_equal(zm_judge_bh(bh, 16), 0);
	for (size_t i = 0; i < 15; i++) {
		nr_holm += holm[i] <= 0.05;
		nr_bh += bh[i] <= 0.05;
	}
	assert_int_equal(nr_holm, 3);
	assert_int_equal(nr_bh, 4);
	assert_near(holm[0], 0.0015, 1e-15);
	assert_near(bh[(3 * 4) % 15], 0.0095 * 15 / 4, 1e-15);
	assert_true(isnan(holm[15]) && isnan(bh[15]));
	assert_int_equal(zm_judge_holm(NULL, 0), 0);
}

/* Twenty metrics that did not change: at most one comparison in twenty has any alarm. */
static void many_verdicts_keep_the_level(void **state)
{
	const size_t nr = 600, nr_metrics = 20;
	struct zm_random random;
	size_t nr_alarms = 0;

	(void)state;
	zm_random_init(&random, 99, 0);
	for (size_t trial = 0; trial < nr; trial++) {
		double p[20];
		bool has_alarm = false;

		for (size_t metric = 0; metric < nr_metrics; metric++) {
			double base[4], new[4];
			struct zm_judgement judgement;

			for (size_t i = 0; i < 4; i++) {
				base[i] = draw(&random, NORMAL, 0.02);
				new[i] = draw(&random, NORMAL, 0.02);
			}
			assert_int_equal(zm_judge_samples(&usual, base, 4, new, 4, &judgement), 0);
			p[metric] = judgement.p;
		}
		assert_int_equal(zm_judge_holm(p, nr_metrics), 0);
		for (size_t metric = 0; metric < nr_metrics; metric++)
			has_alarm |= p[metric] <= 0.05;
		nr_alarms += has_alarm;
	}
	assert_true((double)nr_alarms <= (0.05 + chance(0.05, nr)) * (double)nr);
}

static int release(void **state)
{
	(void)state;
	zm_judge_release(&usual);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ranks_of_a_published_example),
		cmocka_unit_test(welch_of_a_published_example),
		cmocka_unit_test(the_method_goes_by_the_number),
		cmocka_unit_test(verdicts_follow_from_the_interval),
		cmocka_unit_test(odd_values_are_judged),
		cmocka_unit_test(false_alarms_and_coverage_are_as_stated),
		cmocka_unit_test(power_is_as_stated),
		cmocka_unit_test(pairs_of_a_published_example),
		cmocka_unit_test(pairs_keep_level_coverage_and_power),
		cmocka_unit_test(more_values_see_more),
		cmocka_unit_test(what_it_would_take_is_said),
		cmocka_unit_test(corrections_of_a_published_example),
		cmocka_unit_test(many_verdicts_keep_the_level),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
