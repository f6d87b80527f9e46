/*
 * looks: against published borders, and by simulation of whole sessions with their stopping: false alarms
 * and false "same" at no more than the stated rate, intervals that hold the truth. The seeds are fixed.
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

#include "results/judge.h"
#include "results/looks.h"
#include "workloads/base/random.h"

#define NR(array)   (sizeof(array) / sizeof((array)[0]))
#define ALPHA       0.05
#define MOST        19
#define MOST_SHOWN  3
#define MARGIN      0.01
#define CV          0.01
#define NR_SESSIONS 2000

static void assert_near(double value, double wanted, double error)
{
	if (!(fabs(value - wanted) <= error))
		fail_msg("%.6f is not %.6f", value, wanted);
}

/* Five equal looks at a two-sided 5 %, as programs for clinical trials print them: the spending functions of
 * Lan and DeMets that resemble O'Brien and Fleming's borders, and Pocock's. */
static void borders_are_the_published_ones(void **state)
{
	static const struct {
		bool is_pocock;
		double z[5];
	} cases[] = {
		{ false, { 4.8769, 3.3569, 2.6803, 2.2898, 2.0310 } },
		{ true, { 2.4380, 2.4268, 2.4101, 2.3966, 2.3859 } },
	};

	(void)state;
	for (size_t c = 0; c < NR(cases); c++) {
		double fractions[5], spent[5], levels[5];

		for (size_t i = 0; i < 5; i++) {
			double t = fractions[i] = (double)(i + 1) / 5;

			/* both one-sided at 2.5 %, twice */
			spent[i] = cases[c].is_pocock
					   ? 2 * (ALPHA / 2 * log(1 + (exp(1) - 1) * t))
					   : 4 * zm_normal_cdf(zm_normal_quantile(ALPHA / 4) /
							       sqrt(t));
		}
		assert_int_equal(zm_looks_levels(fractions, spent, 5, levels), 0);
		for (size_t i = 0; i < 5; i++)
			assert_near(-zm_normal_quantile(levels[i] / 2), cases[c].z[i], 0.002);
	}
}

static void looks_are_planned(void **state)
{
	static const struct {
		size_t most;
		bool is_sequential;
		size_t nr, at[8];
	} cases[] = {
		{ 1, true, 1, { 1 } },
		{ 4, true, 1, { 4 } },
		{ 5, true, 2, { 4, 5 } },
		{ 10, true, 4, { 4, 6, 9, 10 } },
		{ 40, true, 7, { 4, 6, 9, 13, 19, 28, 40 } },
		{ 40, false, 1, { 40 } },
	};

	(void)state;
	for (size_t c = 0; c < NR(cases); c++) {
		struct zm_looks looks;

		zm_looks_plan(cases[c].most, cases[c].is_sequential, &looks);
		assert_int_equal(looks.nr, cases[c].nr);
		for (size_t i = 0; i < looks.nr; i++)
			assert_int_equal(looks.at[i], cases[c].at[i]);
	}
	for (size_t most = 1; most <= ZM_LOOKS_VALUES; most++) {
		struct zm_looks looks;

		zm_looks_plan(most, true, &looks);
		assert_in_range(looks.nr, 1, ZM_LOOKS_MOST);
		assert_int_equal(looks.at[looks.nr - 1], most);
	}
}

static struct zm_looks first_looks(size_t nr)
{
	struct zm_looks looks;

	zm_looks_plan(MOST, true, &looks);
	assert_true(nr <= looks.nr);
	looks.nr = nr;
	return looks;
}

static double level_of(size_t look, bool is_last, size_t nr_verdicts)
{
	struct zm_looks looks = first_looks(look + 1);
	double level = -1;

	assert_int_equal(zm_looks_level(ALPHA, &looks, MOST, is_last, nr_verdicts, &level), 0);
	return level;
}

static void levels_are_what_is_left(void **state)
{
	struct zm_looks all, one = { .at = { 7 }, .nr = 1 };
	double level, sum = 0;

	(void)state;
	zm_looks_plan(MOST, true, &all);
	/* One look has all of it, and the first its share. */
	assert_int_equal(zm_looks_level(ALPHA, &one, 7, true, 1, &level), 0);
	assert_near(level, ALPHA, 1e-9);
	assert_near(level_of(0, false, 1), ALPHA * 4 / MOST, 1e-9);
	for (size_t look = 0; look < all.nr; look++) {
		/* less than all of it, more than what is new: looks hang together */
		double spend =
			ALPHA * (double)(all.at[look] - (look ? all.at[look - 1] : 0)) / MOST;

		level = level_of(look, false, 1);
		assert_true(level < ALPHA && level >= spend - 1e-9);
		sum += level;
		/* when it is the last one, it has the rest */
		assert_true(level_of(look, true, 1) >= level - 1e-12);
		assert_true(level_of(look, true, 1) <= ALPHA + 1e-9);
		/* more verdicts make it no laxer */
		for (size_t nr = 2; nr < 20; nr++)
			assert_true(level_of(look, false, nr) <=
				    level_of(look, false, nr - 1) + 1e-9);
	}
	assert_true(sum > ALPHA);
}

static void wrong_looks_are_refused(void **state)
{
	static const struct zm_looks wrong[] = {
		{ .nr = 0 },
		{ .at = { 4, 4 }, .nr = 2 },
		{ .at = { 6, 4 }, .nr = 2 },
		{ .at = { 0 }, .nr = 1 },
		{ .at = { MOST + 1 }, .nr = 1 },
		{ .at = { 4 }, .nr = ZM_LOOKS_MOST + 1 },
	};

	(void)state;
	for (size_t i = 0; i < NR(wrong); i++) {
		double level = 4711;

		assert_int_equal(zm_looks_level(ALPHA, &wrong[i], MOST, false, 1, &level), -EINVAL);
		assert_true(level == 4711);
	}
}

/* --- whole sessions --- */

enum shape {
	NORMAL,
	SKEWED,
	OUTLIERS, /* one in twenty three times as far */
	NR_SHAPES,
};

static double draw(struct zm_random *random, enum shape shape)
{
	double z = zm_normal_quantile(zm_random_unit(random) * (1 - 2e-12) + 1e-12);

	if (shape == OUTLIERS && zm_random_below(random, 20) == 0)
		z *= 3;
	return shape == SKEWED ? 100 * exp(CV * z) : 100 * (1 + CV * z);
}

struct world {
	enum shape shape;
	double ratio; /* the truth, of every metric */
	size_t nr_metrics;
	size_t time_is_up; /* after so many boots a side; 0: there is time */
};

/* What comes of a session, and of many. */
struct tally {
	size_t nr_alarms;  /* with any "better" or "worse" */
	size_t nr_same;    /* with any "same" */
	size_t nr_missed;  /* whose last interval does not hold the truth, of the first metric */
	size_t nr_decided; /* all of them decided */
	size_t nr_boots;   /* a side */
};

struct session {
	double base[MOST_SHOWN][MOST], new[MOST_SHOWN][MOST];
	struct zm_judgement judgements[MOST_SHOWN];
	enum zm_verdict verdicts[MOST_SHOWN];
};

static struct zm_judge judges[8]; /* one per look: each keeps its table */
static double levels[8][2][MOST_SHOWN + 1];

static void look_at(struct session *session, const struct world *world, size_t look, size_t nr,
		    bool is_last)
{
	struct zm_judge *judge = &judges[look];
	double p[MOST_SHOWN];

	judge->alpha = levels[look][is_last][world->nr_metrics];
	judge->margin = MARGIN;
	judge->power = 0.8;
	for (size_t i = 0; i < world->nr_metrics; i++) {
		assert_int_equal(zm_judge_samples(judge, session->base[i], nr, session->new[i], nr,
						  &session->judgements[i]),
				 0);
		p[i] = session->judgements[i].p;
	}
	assert_int_equal(zm_judge_holm(p, world->nr_metrics), 0);
	for (size_t i = 0; i < world->nr_metrics; i++)
		session->verdicts[i] =
			zm_judge_verdict(judge, &session->judgements[i], p[i], ZM_BETTER_MORE);
}

static bool is_decided(const struct session *session, size_t nr_metrics)
{
	for (size_t i = 0; i < nr_metrics; i++)
		if (session->verdicts[i] == ZM_VERDICT_TOO_NOISY)
			return false;
	return true;
}

static void count_session(const struct session *session, const struct world *world, size_t nr,
			  struct tally *tally)
{
	bool has_alarm = false, has_same = false;

	for (size_t i = 0; i < world->nr_metrics; i++) {
		has_same |= session->verdicts[i] == ZM_VERDICT_SAME;
		has_alarm |= session->verdicts[i] == ZM_VERDICT_BETTER ||
			     session->verdicts[i] == ZM_VERDICT_WORSE;
	}
	tally->nr_alarms += has_alarm;
	tally->nr_same += has_same;
	tally->nr_missed += session->judgements[0].low > world->ratio - 1 ||
			    session->judgements[0].high < world->ratio - 1;
	tally->nr_decided += is_decided(session, world->nr_metrics);
	tally->nr_boots += nr;
}

static void play(struct zm_random *random, const struct world *world, struct tally *tally)
{
	struct zm_looks looks = first_looks(1);
	struct session session;
	size_t have = 0;

	zm_looks_plan(MOST, true, &looks);
	for (size_t look = 0; look < looks.nr; look++) {
		size_t nr = looks.at[look];
		bool is_last = nr == MOST || nr == world->time_is_up;

		for (; have < nr; have++)
			for (size_t i = 0; i < world->nr_metrics; i++) {
				session.base[i][have] = draw(random, world->shape);
				session.new[i][have] = draw(random, world->shape) * world->ratio;
			}
		look_at(&session, world, look, nr, is_last);
		if (is_last || is_decided(&session, world->nr_metrics)) {
			count_session(&session, world, nr, tally);
			return;
		}
	}
}

static struct tally simulate(const struct world *world, uint64_t seed)
{
	struct tally tally = { 0 };
	struct zm_random random;

	zm_random_init(&random, seed, world->shape);
	for (size_t i = 0; i < NR_SESSIONS; i++)
		play(&random, world, &tally);
	return tally;
}

/* How far chance alone takes a share of the sessions, three and a half times out of ten thousand. */
static double most_of(double share)
{
	return (share + 3.5 * sqrt(share * (1 - share) / NR_SESSIONS)) * NR_SESSIONS;
}

/* Nothing has changed: whatever the distribution, however many metrics, and also when the time is up early. */
static void false_alarms_are_as_stated(void **state)
{
	static const struct {
		size_t nr_metrics, time_is_up;
	} cases[] = { { 1, 0 }, { 3, 0 }, { 1, 9 } };

	(void)state;
	for (size_t c = 0; c < NR(cases); c++) {
		for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
			const struct world world = { .shape = shape,
						     .ratio = 1,
						     .nr_metrics = cases[c].nr_metrics,
						     .time_is_up = cases[c].time_is_up };
			struct tally tally = simulate(&world, 11 + c);

			if ((double)tally.nr_alarms > most_of(ALPHA))
				fail_msg("%zu metrics, shape %d: %zu false alarms of %d",
					 cases[c].nr_metrics, shape, tally.nr_alarms, NR_SESSIONS);
			if ((double)tally.nr_missed > most_of(ALPHA))
				fail_msg(
					"%zu metrics, shape %d: %zu intervals of %d miss the truth",
					cases[c].nr_metrics, shape, tally.nr_missed, NR_SESSIONS);
		}
	}
}

/* A change as large as matters is called "same" no more often than stated, and a large one is found early. */
static void changes_are_judged_as_stated(void **state)
{
	(void)state;
	for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
		const struct world edge = { .shape = shape, .ratio = 1 + MARGIN, .nr_metrics = 1 };
		const struct world large = { .shape = shape, .ratio = 1.05, .nr_metrics = 1 };
		struct tally tally = simulate(&edge, 21);

		if ((double)tally.nr_same > most_of(ALPHA))
			fail_msg("shape %d: %zu false \"same\" of %d", shape, tally.nr_same,
				 NR_SESSIONS);
		tally = simulate(&large, 22);
		assert_true(tally.nr_alarms > NR_SESSIONS * 98 / 100);
		assert_true(tally.nr_boots < NR_SESSIONS * 8);
		if ((double)tally.nr_missed > most_of(ALPHA))
			fail_msg("shape %d: %zu intervals of %d miss the truth", shape,
				 tally.nr_missed, NR_SESSIONS);
	}
}

/* What this is for: the same looks at 5 % each do not keep 5 %. */
static void looks_without_care_would_not(void **state)
{
	const struct world world = { .shape = NORMAL, .ratio = 1, .nr_metrics = 1 };
	double kept[8];
	struct tally tally;

	(void)state;
	for (size_t look = 0; look < 8; look++) {
		kept[look] = levels[look][0][1];
		levels[look][0][1] = levels[look][1][1] = ALPHA;
	}
	tally = simulate(&world, 31);
	assert_true((double)tally.nr_missed > most_of(ALPHA));
	for (size_t look = 0; look < 8; look++)
		levels[look][0][1] = kept[look];
}

static int fill_levels(void **state)
{
	struct zm_looks all;

	(void)state;
	zm_looks_plan(MOST, true, &all);
	for (size_t look = 0; look < all.nr; look++)
		for (unsigned int is_last = 0; is_last < 2; is_last++)
			for (size_t nr = 1; nr <= MOST_SHOWN; nr++)
				levels[look][is_last][nr] = level_of(look, is_last, nr);
	return 0;
}

static int release(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(judges); i++)
		zm_judge_release(&judges[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders_are_the_published_ones),
		cmocka_unit_test(looks_are_planned),
		cmocka_unit_test(levels_are_what_is_left),
		cmocka_unit_test(wrong_looks_are_refused),
		cmocka_unit_test(false_alarms_are_as_stated),
		cmocka_unit_test(changes_are_judged_as_stated),
		cmocka_unit_test(looks_without_care_would_not), /* the last: it changes the levels */
	};

	return cmocka_run_group_tests(tests, fill_levels, release);
}
