/* pace: steady or not, on made-up throughputs; the spread against its definition. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "runner/pace.h"

#define INTERVAL_NS 250000000u
#define MAX_RATES   8

/* Operations in each interval. */
static const struct {
	double counts[MAX_RATES];
	bool can_judge, is_steady;
} cases[] = {
	{ { 1000, 1000, 1000 }, false, false },
	{ { 1000, 1000, 1000, 1000 }, true, true },
	{ { 10, 1000, 1000, 1000, 1000 }, true, true },
	{ { 1000, 1010, 990, 1000 }, true, true },
	{ { 1000, 1100, 1200, 1300 }, true, false },
	{ { 1300, 1200, 1100, 1000 }, true, false },
	{ { 1000, 1000, 1000, 1500 }, true, false },
	{ { 1000, 1250, 1000, 1250 }, true, false }, /* no drift, but jumps */
	{ { 3, 3, 3, 4 }, true, true },              /* so few cannot show less */
	{ { 3, 3, 9, 9 }, true, false },
	{ { 0, 0, 0, 0 }, true, false },
};

static void run_case(struct zm_pace *pace, const double *counts)
{
	uint64_t t_ns = 77, ops = 5;

	*pace = (struct zm_pace){ 0 };
	zm_pace_start(pace, INTERVAL_NS, t_ns, ops);
	for (size_t i = 0; i < MAX_RATES && (counts[i] > 0 || i < 4); i++) {
		t_ns += INTERVAL_NS;
		ops += (uint64_t)counts[i];
		if (counts[i] <= 0 && counts[0] > 0)
			break;
		zm_pace_add(pace, t_ns, ops);
	}
}

static void test_steady(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_pace pace;

		run_case(&pace, cases[i].counts);
		if (zm_pace_can_judge(&pace) != cases[i].can_judge ||
		    zm_pace_is_steady(&pace) != cases[i].is_steady)
			fail_msg("case %zu: can_judge %d, is_steady %d", i,
				 zm_pace_can_judge(&pace), zm_pace_is_steady(&pace));
	}
}

static void test_spread(void **state)
{
	const double counts[MAX_RATES] = { 90, 100, 110, 100 };
	struct zm_pace pace;

	(void)state;
	run_case(&pace, counts);
	assert_true(fabs(zm_pace_now(&pace) - 400) < 1e-9);
	assert_true(fabs(zm_pace_spread(&pace) - 100 * sqrt(200.0 / 3) / 100) < 1e-9);
}

static void test_short_intervals_do_not_count(void **state)
{
	struct zm_pace pace = { 0 };

	(void)state;
	zm_pace_start(&pace, INTERVAL_NS, 0, 0);
	assert_true(zm_pace_spread(&pace) < 0);
	assert_true(zm_pace_now(&pace) == 0);
	zm_pace_add(&pace, 0, 5);
	zm_pace_add(&pace, INTERVAL_NS / 10, 5);
	assert_int_equal(pace.nr, 0);
	zm_pace_add(&pace, INTERVAL_NS, 100);
	assert_int_equal(pace.nr, 1);
	assert_true(fabs(zm_pace_now(&pace) - 400) < 1e-9);
	assert_true(zm_pace_spread(&pace) < 0);
	zm_pace_start(&pace, INTERVAL_NS, INTERVAL_NS, 100);
	assert_true(fabs(zm_pace_now(&pace) - 400) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_short_intervals_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
