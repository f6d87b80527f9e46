/*
 * nightly: what is a night and what is not, in which order, and what a confirmation run makes of a change.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "results/nightly.h"
#include "results/tests/nights.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static struct zm_judge judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 };

static void read_nights(struct zm_store *store, struct zm_nightly *ret_nightly)
{
	struct zm_why why = { "" };

	if (zm_nightly_read(store, "nightly", NULL, &judge, ret_nightly, &why))
		fail_msg("%s", why.text);
}

/* The pages of the cell of one task. */
static const struct zm_nightly_history *pages(const struct zm_nightly *nightly)
{
	for (size_t i = 0; i < nightly->nr; i++) {
		if (!strcmp(nightly->histories[i].metric, "pages") &&
		    strstr(nightly->histories[i].cell, "\"1\""))
			return &nightly->histories[i];
	}
	fail_msg("no history");
	return NULL;
}

static void an_invocation_is_a_night(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_nightly nightly;
	const struct zm_nightly_history *history;

	for (unsigned int night = 0; night < 3; night++) {
		for (unsigned int i = 0; i < 4; i++)
			put_run(store, &(struct put){ .invocation = night,
						      .cell = 1 + i % 2,
						      .repeat = i / 2,
						      .value = 100 * night + 10 * i + 1 });
	}
	put_run(store,
		&(struct put){
			.invocation = 2, .repeat = 2, .value = 9999, .status = ZM_STATUS_FAILED });
	put_run(store, &(struct put){ .invocation = 5, .label = "else", .value = 7777 });
	put_run(store, &(struct put){ .invocation = 6, .machine = "m2", .value = 5 });
	read_nights(store, &nightly);
	assert_int_equal(nightly.nr, 6); /* two cells, two figures; another machine's two */
	history = pages(&nightly);
	assert_int_equal(history->nr, 3);
	assert_string_equal(history->words, "nr_task=1");
	assert_string_equal(history->unit, "pages/s");
	assert_false(history->is_share);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(history->nights[i].nr_launches, 2);
		assert_true(history->values[i] == 100 * (double)i + 11); /* of 0 and 20 */
		assert_string_equal(history->nights[i].kernel, "6.18.0");
	}
	zm_nightly_release(&nightly);
	assert_int_equal(zm_nightly_read(store, "nightly", "m2", &judge, &nightly, NULL), 0);
	assert_int_equal(nightly.nr, 2);
	zm_nightly_release(&nightly);
	assert_int_equal(zm_nightly_read(store, "no such", NULL, &judge, &nightly, NULL), 0);
	assert_int_equal(nightly.nr, 0);
	zm_nightly_release(&nightly);
	zm_store_close(store);
}

/* A clock that jumps moves no night. */
static void nights_come_as_they_were_run(void **state)
{
	static const int hours[] = { 0, 24, 20, 72, -500, 96 };
	struct zm_store *store = fixture_open(*state, true);
	struct zm_nightly nightly;
	const struct zm_nightly_history *history;

	for (unsigned int i = 0; i < NR(hours); i++)
		put_run(store, &(struct put){ .invocation = i,
					      .value = i + 1,
					      .wall_ns = (uint64_t)((int64_t)FIXTURE_WALL_NS +
								    hours[i] * 3600000000000) });
	read_nights(store, &nightly);
	history = pages(&nightly);
	assert_int_equal(history->nr, NR(hours));
	for (size_t i = 0; i < NR(hours); i++)
		assert_true(history->values[i] == (double)i + 1);
	zm_nightly_release(&nightly);
	zm_store_close(store);
}

static void a_change_is_asked_then_settled(void **state)
{
	static const struct {
		double before, after;
		unsigned int nr; /* launches of the confirmation, 0: none */
		double found;
		enum zm_change_state wanted;
		enum zm_verdict direction;
		size_t level;
		bool asks;
	} cases[] = {
		{ 1000, 800, 0, 0, ZM_CHANGE_ASKED, ZM_VERDICT_WORSE, 30, true },
		{ 1000, 800, 5, 800, ZM_CHANGE_CONFIRMED, ZM_VERDICT_WORSE, 30, false },
		{ 1000, 800, 5, 1000, ZM_CHANGE_WITHDRAWN, ZM_VERDICT_WORSE, 0, false },
		{ 1000, 800, 5, 1200, ZM_CHANGE_WITHDRAWN, ZM_VERDICT_WORSE, 0, false },
		{ 1000, 1200, 5, 1200, ZM_CHANGE_CONFIRMED, ZM_VERDICT_BETTER, 30, false },
		{ 1000, 800, 1, 998, ZM_CHANGE_ASKED, ZM_VERDICT_WORSE, 30, true },
	};
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < NR(cases); i++) {
		struct zm_store *store = fixture_open(fixture, true);
		struct zm_nightly nightly;
		const struct zm_nightly_history *history;

		put_nights(store, 0, 30, cases[i].before);
		put_nights(store, 30, 36, cases[i].after);
		put_confirmation(store, 36, cases[i].nr, cases[i].found);
		read_nights(store, &nightly);
		history = pages(&nightly);
		assert_int_equal(history->nr, 36); /* a confirmation is no night */
		assert_int_equal(history->changes.nr, 1);
		assert_int_equal(history->changes.changes[0].first, 30);
		assert_int_equal(history->changes.changes[0].state, cases[i].wanted);
		assert_int_equal(zm_nightly_direction(history, &history->changes.changes[0]),
				 cases[i].direction);
		assert_int_equal(zm_nightly_level(history), cases[i].level);
		assert_int_equal(zm_nightly_asks(history), cases[i].asks);
		assert_int_equal(zm_nightly_confirmed_by(history, 0) != 0, cases[i].nr != 0);
		zm_nightly_release(&nightly);
		zm_store_close(store);
		assert_int_equal(remove(fixture->path), 0);
	}
}

/* Runs from before it was seen, and after the next one was seen, say nothing about it. */
static void a_confirmation_counts_for_its_own_change(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_nightly nightly;
	const struct zm_nightly_history *history;

	put_nights(store, 0, 30, 1000);
	put_confirmation(store, 30, 5, 1000);
	put_nights(store, 31, 40, 800);
	put_nights(store, 40, 60, 800);
	put_confirmation(store, 60, 5, 800);
	put_nights(store, 61, 70, 1000);
	put_confirmation(store, 70, 3, 1000);
	put_confirmation(store, 71, 3, 1000);
	read_nights(store, &nightly);
	history = pages(&nightly);
	assert_int_equal(history->changes.nr, 2);
	assert_int_equal(history->changes.changes[0].state, ZM_CHANGE_CONFIRMED);
	assert_int_equal(history->changes.changes[0].confirmation.nr_new, 5);
	assert_int_equal(history->changes.changes[1].state, ZM_CHANGE_CONFIRMED);
	assert_int_equal(history->changes.changes[1].confirmation.nr_new, 6);
	assert_int_equal(zm_nightly_direction(history, &history->changes.changes[1]),
			 ZM_VERDICT_BETTER);
	zm_nightly_release(&nightly);
	zm_store_close(store);
}

/* It is not asked for without end. */
static void enough_launches_are_enough(void **state)
{
	static const double scattered[] = { 998, 700, 1300, 800, 1200, 900, 1100 };
	struct zm_store *store = fixture_open(*state, true);
	struct zm_nightly nightly;
	const struct zm_nightly_history *history;

	put_nights(store, 0, 30, 1000);
	put_nights(store, 30, 36, 800);
	for (unsigned int i = 0; i < ZM_NIGHTLY_CONFIRMING; i++) {
		read_nights(store, &nightly);
		history = pages(&nightly);
		assert_int_equal(history->changes.changes[0].state, ZM_CHANGE_ASKED);
		assert_true(zm_nightly_asks(history));
		zm_nightly_release(&nightly);
		put_run(store, &(struct put){ .invocation = 100 + i,
					      .label = "nightly confirmation",
					      .value = scattered[i % NR(scattered)],
					      .share = 40 });
	}
	read_nights(store, &nightly);
	assert_false(zm_nightly_asks(pages(&nightly)));
	zm_nightly_release(&nightly);
	zm_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_invocation_is_a_night, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(nights_come_as_they_were_run, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_change_is_asked_then_settled, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_confirmation_counts_for_its_own_change,
						nights_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(enough_launches_are_enough, nights_setup,
						fixture_teardown),
	};
	int status = cmocka_run_group_tests(tests, NULL, NULL);

	zm_judge_release(&judge);
	return status;
}
