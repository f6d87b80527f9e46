/* test_standing: few, steady, changed: of trends that leave no doubt. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/web/standing.h"
#include "workloads/base/clock.h"
#include "workloads/base/random.h"

#define MOST_NIGHTS 120

/* A group of one line with a value a night. */
struct history {
	struct zm_group group;
	struct zm_line line;
	struct zm_night nights[MOST_NIGHTS];
	struct zm_night_run runs[MOST_NIGHTS];
	struct zm_line_value values[MOST_NIGHTS];
};

static void make_history(struct history *history, size_t nr, size_t step_at, double step,
			 double noise, bool bad_last)
{
	struct zm_random random;

	memset(history, 0, sizeof(*history));
	zm_random_init(&random, 3, nr);
	for (size_t i = 0; i < nr; i++) {
		double level = i >= step_at ? 1000 * (1 + step) : 1000;

		history->nights[i] = (struct zm_night){ .nr_ok = 1, .first_run = (uint32_t)i };
		history->runs[i] =
			(struct zm_night_run){ .night = (uint32_t)i, .boot = (uint32_t)i };
		history->values[i] = (struct zm_line_value){
			(uint32_t)i, level * (1 + noise * (zm_random_unit(&random) - 0.5))
		};
	}
	if (bad_last)
		history->values[nr - 1].value = 300;
	history->line = (struct zm_line){ .values = history->values, .nr = nr };
	history->group = (struct zm_group){
		.nights = history->nights, .nr_nights = nr, .runs = history->runs, .nr_runs = nr
	};
}

static const struct {
	size_t nr, step_at, recent;
	double step, noise;
	enum zm_better better;
	bool bad_last;
	enum zm_standing_kind kind;
	enum zm_verdict verdict;
} cases[] = {
	{ 5, 99, 14, 0, 0.01, ZM_BETTER_MORE, false, ZM_STANDING_FEW, ZM_VERDICT_NOT_ENOUGH },
	{ 60, 99, 14, 0, 0.004, ZM_BETTER_MORE, false, ZM_STANDING_STEADY, ZM_VERDICT_SAME },
	{ 60, 99, 14, 0, 0.5, ZM_BETTER_MORE, false, ZM_STANDING_STEADY, ZM_VERDICT_TOO_NOISY },
	{ 60, 99, 14, 0, 0.004, ZM_BETTER_MORE, true, ZM_STANDING_STEADY, ZM_VERDICT_SAME },
	{ 60, 50, 14, -0.1, 0.01, ZM_BETTER_MORE, false, ZM_STANDING_CHANGED, ZM_VERDICT_WORSE },
	{ 60, 50, 14, -0.1, 0.01, ZM_BETTER_LESS, false, ZM_STANDING_CHANGED, ZM_VERDICT_BETTER },
	{ 60, 50, 14, 0.1, 0.01, ZM_BETTER_MORE, false, ZM_STANDING_CHANGED, ZM_VERDICT_BETTER },
	{ 60, 50, 14, 0.1, 0.01, ZM_BETTER_NEITHER, false, ZM_STANDING_CHANGED,
	  ZM_VERDICT_CHANGED },
	{ 60, 50, 9, 0.1, 0.01, ZM_BETTER_MORE, false, ZM_STANDING_STEADY, ZM_VERDICT_SAME },
	{ 120, 30, 14, 0.1, 0.004, ZM_BETTER_MORE, false, ZM_STANDING_STEADY, ZM_VERDICT_SAME },
};

static void courses_stand_as_they_look(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_judge judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 };
		static struct history history;
		struct zm_trend trend;
		struct zm_standing standing;

		make_history(&history, cases[i].nr, cases[i].step_at, cases[i].step, cases[i].noise,
			     cases[i].bad_last);
		assert_int_equal(zm_trend_make(&judge, &history.group, &history.line, &trend), 0);
		assert_int_equal(zm_standing_make(&judge, &trend, cases[i].better, cases[i].recent,
						  &standing),
				 0);
		if (standing.kind != cases[i].kind || standing.verdict != cases[i].verdict)
			fail_msg("case %zu: %s, %s", i, zm_standing_name(standing.kind),
				 zm_verdict_name(standing.verdict));
		assert_int_equal(standing.nr_nights, cases[i].nr);
		assert_int_equal(standing.last_night, cases[i].nr - 1);
		assert_true(standing.last == history.values[cases[i].nr - 1].value);
		assert_int_equal(standing.is_outlier, cases[i].bad_last);
		zm_trend_release(&trend);
		zm_judge_release(&judge);
	}
}

/* Sixty nights, the last ten of them 10 % lower; withdrawn: a run of its own did not find it. */
static void stand_lower(bool is_withdrawn, struct zm_standing *ret_standing)
{
	struct zm_judge judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 };
	static struct history history;
	struct zm_trend trend;

	make_history(&history, 60, 50, -0.1, 0.01, false);
	assert_int_equal(zm_trend_make(&judge, &history.group, &history.line, &trend), 0);
	assert_int_equal(trend.changes.nr, 1);
	assert_int_equal(trend.changes.changes[0].first, 50);
	if (is_withdrawn)
		trend.changes.changes[0].state = ZM_CHANGE_WITHDRAWN;
	assert_int_equal(zm_standing_make(&judge, &trend, ZM_BETTER_MORE, 14, ret_standing), 0);
	zm_trend_release(&trend);
	zm_judge_release(&judge);
}

static void a_change_is_as_large_as_it_was_made(void **state)
{
	struct zm_standing standing;

	(void)state;
	stand_lower(false, &standing);
	assert_int_equal(standing.change, 0);
	assert_true(fabs(standing.judgement.change + 0.1) < 0.01);
	assert_true(standing.judgement.low <= standing.judgement.change &&
		    standing.judgement.change <= standing.judgement.high);
	assert_int_equal(standing.judgement.nr_base, 50);
	assert_int_equal(standing.judgement.nr_new, 10);
}

static void a_withdrawn_change_is_none(void **state)
{
	struct zm_standing standing;

	(void)state;
	stand_lower(true, &standing);
	assert_int_equal(standing.kind, ZM_STANDING_STEADY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(courses_stand_as_they_look),
		cmocka_unit_test(a_change_is_as_large_as_it_was_made),
		cmocka_unit_test(a_withdrawn_change_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
