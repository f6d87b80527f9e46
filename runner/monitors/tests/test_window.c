/* window: first, last, peak and mean over time of the measured window, and of nothing else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "runner/monitors/window.h"
#include "runner/monitors/tests/rig.h"

static void feed_run(struct zm_window_figure *figure)
{
	zm_window_feed(figure, ZM_PHASE_IDLE, 0, 9000);
	zm_window_feed(figure, ZM_PHASE_WARMUP, 50, 8000);
	zm_window_feed(figure, ZM_PHASE_MEASURE, 100, 10);
	zm_window_feed(figure, ZM_PHASE_MEASURE, 200, 30);
	zm_window_feed(figure, ZM_PHASE_MEASURE, 500, 30);
	zm_window_feed(figure, ZM_PHASE_STOP, 600, 50);
	zm_window_feed(figure, ZM_PHASE_DRAIN, 700, 7000);
	zm_window_feed(figure, ZM_PHASE_MEASURE, 800, 6000);
}

static void test_one_run(void **state)
{
	struct zm_window_figure figure = { 0 };
	double delta;

	(void)state;
	feed_run(&figure);
	assert_true(zm_window_is_whole(&figure, 100, 600));
	assert_true(zm_window_delta(&figure, &delta));
	assert_true(fabs(delta - 40) < 1e-9);
	assert_true(fabs(figure.max - 50) < 1e-9);
	assert_true(fabs(zm_window_mean(&figure) - (20.0 * 100 + 30 * 300 + 40 * 100) / 500) <
		    1e-9);
}

static void test_borders(void **state)
{
	struct zm_window_figure figure = { 0 };

	(void)state;
	assert_false(zm_window_is_whole(&figure, 0, 0));
	zm_window_feed(&figure, ZM_PHASE_MEASURE, 100, 10);
	assert_false(zm_window_is_whole(&figure, 100, 100));
	figure = (struct zm_window_figure){ 0 };
	feed_run(&figure);
	assert_true(zm_window_is_whole(&figure, 105, 595));
	assert_false(zm_window_is_whole(&figure, 0, 600));
	assert_false(zm_window_is_whole(&figure, 100, 700));
	assert_false(zm_window_is_whole(&figure, 200, 600));
}

static void test_backwards(void **state)
{
	struct zm_window_figure figure = { 0 };
	double delta = 5;

	(void)state;
	zm_window_feed(&figure, ZM_PHASE_MEASURE, 1, 10);
	zm_window_feed(&figure, ZM_PHASE_STOP, 2, 9);
	assert_false(zm_window_delta(&figure, &delta));
	assert_true(fabs(delta - 5) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_run),
		cmocka_unit_test(test_borders),
		cmocka_unit_test(test_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
