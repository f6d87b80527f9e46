/* schedule: rounds without a time; with one, the most telling cells first, and what fits is said. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/schedule.h"
#include "workloads/base/clock.h"

#define NR 5

/* Each launch takes 10 s: 8 of runtime, 2 of everything else. */
static void make_plan(struct zm_cell cells[NR], struct zm_plan *plan)
{
	static char titles[NR][16];

	for (unsigned int i = 0; i < NR; i++) {
		(void)snprintf(titles[i], sizeof(titles[i]), "cell%u", i);
		cells[i] = (struct zm_cell){ .title = titles[i], .rank = zm_schedule_place(i, NR) };
		cells[i].options.runtime_ns = 8 * ZM_NS_PER_S;
	}
	*plan = (struct zm_plan){ .cells = cells, .nr_cells = NR };
}

static void check_order(const struct zm_schedule *schedule, const char *expected)
{
	char text[256] = "";

	for (size_t i = 0; i < schedule->nr_launches; i++) {
		size_t length = strlen(text);

		(void)snprintf(text + length, sizeof(text) - length, "%s%zu.%u", i ? " " : "",
			       schedule->launches[i].cell, schedule->launches[i].repeat);
	}
	assert_string_equal(text, expected);
}

static void test_rounds(void **state)
{
	struct zm_cell cells[NR];
	struct zm_schedule schedule;
	struct zm_plan plan;

	(void)state;
	make_plan(cells, &plan);
	assert_int_equal(zm_schedule_cost_ns(&cells[0]), 10 * ZM_NS_PER_S);
	assert_int_equal(zm_schedule_make(&plan, 2, 0, &schedule, NULL), 0);
	check_order(&schedule, "0.0 1.0 2.0 3.0 4.0 0.1 1.1 2.1 3.1 4.1");
	assert_int_equal(schedule.nr_fitting, 10);
	zm_schedule_release(&schedule);
}

/* The last cell and the first fit three times each, with one launch's time to spare; then the rest. */
static void test_budget(void **state)
{
	struct zm_cell cells[NR];
	struct zm_schedule schedule;
	struct zm_plan plan;
	struct zm_why why = { "" };
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	make_plan(cells, &plan);
	assert_int_equal(zm_schedule_make(&plan, 4, 70 * ZM_NS_PER_S, &schedule, &why), 0);
	check_order(&schedule,
		    "4.0 0.0 4.1 0.1 4.2 0.2 4.3 0.3 2.0 1.0 3.0 2.1 1.1 3.1 2.2 1.2 3.2 "
		    "2.3 1.3 3.3");
	assert_int_equal(schedule.nr_fitting, 7);
	assert_int_equal(schedule.expected_ns, 70 * ZM_NS_PER_S);
	out = open_memstream(&text, &size);
	zm_schedule_say(&schedule, &plan, 4, out);
	(void)fclose(out);
	assert_non_null(strstr(text, "7 of 20 launches (2 of 5 cells"));
	assert_non_null(strstr(text, "left out unless time remains: cell2"));
	assert_null(strstr(text, "cell4"));
	free(text);
	zm_schedule_release(&schedule);

	/* All of it fits: nothing to say, all in the order of rank. */
	assert_int_equal(zm_schedule_make(&plan, 1, 50 * ZM_NS_PER_S, &schedule, &why), 0);
	check_order(&schedule, "4.0 0.0 2.0 1.0 3.0");
	assert_int_equal(schedule.nr_fitting, 5);
	zm_schedule_release(&schedule);

	/* Not three launches of any: two of one. */
	assert_int_equal(zm_schedule_make(&plan, 5, 25 * ZM_NS_PER_S, &schedule, &why), 0);
	assert_int_equal(schedule.nr_fitting, 2);
	assert_int_equal(schedule.launches[1].cell, 4);
	zm_schedule_release(&schedule);

	assert_int_equal(zm_schedule_make(&plan, 1, 5 * ZM_NS_PER_S, &schedule, &why), -ETIME);
	assert_non_null(strstr(why.text, "not one launch fits"));
}

/* Every value has a place of its own, the outermost first. */
static void test_places(void **state)
{
	(void)state;
	for (size_t nr = 1; nr < 40; nr++) {
		unsigned int seen[200] = { 0 };

		for (size_t i = 0; i < nr; i++) {
			unsigned int place = zm_schedule_place(i, nr);

			assert_true(place < 200);
			assert_int_equal(seen[place]++, 0);
		}
		assert_int_equal(zm_schedule_place(nr - 1, nr), 0);
		assert_true(nr < 2 || zm_schedule_place(0, nr) == 1);
		assert_true(nr < 3 || zm_schedule_place((nr - 1) / 2, nr) == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
