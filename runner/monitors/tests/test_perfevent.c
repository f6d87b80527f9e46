/* perfevent: counters that shared the hardware are scaled; the tables have no name twice. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "runner/monitors/perfevent.h"

static void test_scaling(void **state)
{
	static const struct {
		struct zm_perfcount before, now;
		double rise;
		bool has_run;
	} rows[] = {
		/* ran all the time */
		{ { 100, 1000, 1000 }, { 350, 2000, 2000 }, 250, true },
		/* a quarter of it: four times as many */
		{ { 0, 0, 0 }, { 50, 400, 100 }, 200, true },
		{ { 50, 400, 100 }, { 60, 800, 200 }, 40, true },
		/* not at all: nothing is known, which is not 0 */
		{ { 60, 800, 200 }, { 60, 1200, 200 }, 0, false },
		{ { 0, 0, 0 }, { 0, 0, 0 }, 0, false },
		/* the kernel may say that it ran a moment longer than it was enabled */
		{ { 0, 0, 0 }, { 70, 100, 101 }, 70, true },
		/* 64 bits, all the way round */
		{ { UINT64_MAX - 4, 0, 0 }, { 5, 10, 10 }, 10, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool has_run;
		double rise = zm_perfcount_rise(&rows[i].before, &rows[i].now, &has_run);

		assert_true(fabs(rise - rows[i].rise) < 1e-9);
		assert_int_equal(has_run, rows[i].has_run);
	}
}

static void test_tables(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ZM_PERFEVENT_NR; i++) {
		assert_non_null(zm_perfevents[i].name);
		for (unsigned int k = 0; k < i; k++) {
			assert_string_not_equal(zm_perfevents[i].name, zm_perfevents[k].name);
			assert_false(zm_perfevents[i].type == zm_perfevents[k].type &&
				     zm_perfevents[i].config == zm_perfevents[k].config);
		}
	}
	for (unsigned int i = 0; i < ZM_PERFRATIO_NR; i++) {
		const struct zm_perfratio *ratio = &zm_perfratios[i];
		bool is_share = strchr(ratio->name, '%') != NULL;

		assert_int_not_equal(ratio->over, ratio->under);
		assert_int_equal(is_share, ratio->factor == 100);
		assert_int_equal(is_share, strcmp(ratio->unit, "%") == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
