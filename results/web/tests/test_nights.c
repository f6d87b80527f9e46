/* test_nights: which night a run is of, and what a night's value is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "results/tests/fixture.h"
#include "results/web/nights.h"
#include "workloads/base/clock.h"

#define HOUR_NS (3600 * ZM_NS_PER_S)

/* One run: hours after the fixture's noon. */
struct given {
	double hours;
	const char *machine, *boot, *kernel;
	double value; /* NaN: it failed */
	const char *label;
};

static void add_run(struct zm_store *store, const struct given *given)
{
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;
	struct zm_why why = { "" };
	bool has_failed = isnan(given->value);

	record.machine_id = given->machine;
	record.boot_id = given->boot;
	record.kernel = given->kernel;
	record.label = given->label ? given->label : "base";
	record.invocation = given->label ? "33333333-1111-4111-8111-111111111111"
					 : "11111111-1111-4111-8111-111111111111";
	record.wall_ns = FIXTURE_WALL_NS + (uint64_t)(int64_t)(given->hours * 3600e9);
	if (zm_recorder_begin(store, &record, &recorder, &why))
		fail_msg("%s", why.text);
	assert_int_equal(zm_recorder_result(recorder, &(struct zm_result){ .metric = "ops",
									   .unit = "pages/s",
									   .source = "s",
									   .is_primary = true,
									   .value = given->value }),
			 has_failed ? -22 : 0);
	assert_int_equal(zm_recorder_result(recorder, &(struct zm_result){ .metric = "why",
									   .unit = "%",
									   .source = "s",
									   .value = 7 }),
			 0);
	assert_int_equal(
		zm_recorder_end(recorder, has_failed ? ZM_STATUS_FAILED : ZM_STATUS_OK, NULL, &why),
		0);
}

struct read {
	struct zm_store *store;
	struct zm_night_names names;
	struct zm_nights nights;
};

static void read_all(const struct fixture *fixture, const struct given *given, size_t nr,
		     const char *label, uint32_t machine, struct read *read)
{
	struct zm_why why = { "" };

	read->store = fixture_open(fixture, true);
	for (size_t i = 0; i < nr; i++)
		add_run(read->store, &given[i]);
	if (zm_night_names_read(read->store, label, &read->names, &why) ||
	    zm_nights_read(read->store, &read->names, machine, 0, &read->nights, &why))
		fail_msg("%s", why.text);
}

static void release(struct read *read)
{
	zm_nights_release(&read->nights);
	zm_night_names_release(&read->names);
	zm_store_close(read->store);
}

static const struct zm_line *line_of(const struct read *read, const struct zm_group *group,
				     const char *name)
{
	for (size_t i = 0; i < group->nr_lines; i++) {
		if (!strcmp(read->names.metrics[group->lines[i].metric].name, name))
			return &group->lines[i];
	}
	return NULL;
}

/* --- which night --- */

static void a_night_is_from_noon_to_noon_and_of_one_kernel(void **state)
{
	static const struct {
		struct given runs[4];
		size_t nr, nr_nights;
	} cases[] = {
		{ { { 0, "m", "b1", "k", 1, NULL }, { 23.99, "m", "b1", "k", 1, NULL } }, 2, 1 },
		{ { { 0, "m", "b1", "k", 1, NULL }, { 24, "m", "b1", "k", 1, NULL } }, 2, 2 },
		{ { { -0.01, "m", "b1", "k", 1, NULL }, { 0, "m", "b1", "k", 1, NULL } }, 2, 2 },
		{ { { 10, "m", "b1", "k", 1, NULL }, { 11, "m", "b2", "l", 1, NULL } }, 2, 2 },
		/* two kernels in turn */
		{ { { 1, "m", "b1", "k", 1, NULL },
		    { 2, "m", "b2", "l", 1, NULL },
		    { 3, "m", "b3", "k", 1, NULL },
		    { 4, "m", "b4", "l", 1, NULL } },
		  4,
		  2 },
		/* imported in another order */
		{ { { 48, "m", "b3", "k", 1, NULL },
		    { 0, "m", "b1", "k", 1, NULL },
		    { 24, "m", "b2", "k", 1, NULL } },
		  3,
		  3 },
		/* one failed: its night is there all the same */
		{ { { 0, "m", "b1", "k", 1, NULL }, { 24, "m", "b2", "k", NAN, NULL } }, 2, 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *fixture = NULL;
		struct read read = { 0 };

		assert_int_equal(fixture_setup(&fixture), 0);
		read_all(fixture, cases[i].runs, cases[i].nr, NULL, 0, &read);
		assert_int_equal(read.nights.nr, 1);
		assert_int_equal(read.nights.groups[0].nr_nights, cases[i].nr_nights);
		for (size_t k = 1; k < cases[i].nr_nights; k++)
			assert_true(read.nights.groups[0].nights[k - 1].wall_ns <
				    read.nights.groups[0].nights[k].wall_ns);
		release(&read);
		assert_int_equal(fixture_teardown(&fixture), 0);
	}
	(void)state;
}

static void runs_stand_night_by_night(void **state)
{
	static const struct given runs[] = {
		{ 25, "m", "b2", "k", 3, NULL },
		{ 1, "m", "b1", "k", 1, NULL },
		{ 2, "m", "b1", "k", NAN, NULL },
		{ 26, "m", "b2", "k", 4, NULL },
	};
	struct read read = { 0 };
	const struct zm_group *group;

	read_all(*state, runs, 4, NULL, 0, &read);
	group = &read.nights.groups[0];
	assert_int_equal(group->nr_nights, 2);
	assert_int_equal(group->nights[0].nr_ok, 1);
	assert_int_equal(group->nights[0].nr_failed, 1);
	assert_int_equal(group->nights[1].first_run, 2);
	for (size_t i = 1; i < 4; i++)
		assert_true(group->runs[i - 1].wall_ns < group->runs[i].wall_ns);
	release(&read);
}

/* --- which value --- */

static void boots_are_the_unit(void **state)
{
	/* b1 has mean 11, b2 20, b3 30: the median is b2's, though most runs are b1's. */
	static const struct given runs[] = {
		{ 1, "m", "b1", "k", 10, NULL }, { 2, "m", "b1", "k", 11, NULL },
		{ 3, "m", "b1", "k", 12, NULL }, { 4, "m", "b2", "k", 20, NULL },
		{ 5, "m", "b3", "k", 30, NULL }, { 25, "m", "b4", "k", 7, NULL },
	};
	struct zm_night_value values[2];
	struct read read = { 0 };

	read_all(*state, runs, 6, NULL, 0, &read);
	assert_int_equal(zm_line_nights(&read.nights.groups[0],
					line_of(&read, &read.nights.groups[0], "ops"), values),
			 0);
	assert_true(values[0].value == 20 && values[0].low == 10 && values[0].high == 30);
	assert_int_equal(values[0].nr_runs, 5);
	assert_true(values[1].value == 7 && values[1].low == 7 && values[1].nr_runs == 1);
	release(&read);
}

static void a_night_without_a_value_has_none(void **state)
{
	static const struct given runs[] = { { 0, "m", "b1", "k", 5, NULL },
					     { 24, "m", "b2", "k", NAN, NULL } };
	struct zm_night_value values[2];
	struct read read = { 0 };

	read_all(*state, runs, 2, NULL, 0, &read);
	assert_int_equal(
		zm_line_nights(&read.nights.groups[0], &read.nights.groups[0].lines[0], values), 0);
	assert_true(values[0].value == 5);
	assert_true(isnan(values[1].value) && isnan(values[1].low) && values[1].nr_runs == 0);
	release(&read);
}

/* --- which runs --- */

static void primary_figures_of_all_or_all_figures_of_one(void **state)
{
	static const struct given runs[] = { { 0, "m", "b1", "k", 1, NULL },
					     { 1, "n", "c1", "k", 2, NULL } };
	struct read read = { 0 };
	struct zm_nights one;
	struct zm_why why = { "" };

	read_all(*state, runs, 2, NULL, 0, &read);
	assert_int_equal(read.nights.nr, 2);
	assert_int_equal(read.nights.groups[0].nr_lines, 1);
	assert_true(read.nights.groups[0].lines[0].is_primary);
	assert_int_equal(zm_nights_read(read.store, &read.names, read.nights.groups[1].machine, 0,
					&one, &why),
			 0);
	assert_int_equal(one.nr, 1);
	assert_int_equal(one.groups[0].nr_lines, 2);
	assert_string_equal(read.names.machines[one.groups[0].machine], "n");
	assert_null(strstr(read.names.metrics[one.groups[0].lines[0].metric].name, "?"));
	zm_nights_release(&one);
	release(&read);
}

static void a_label_chooses(void **state)
{
	static const struct given run = { 0, "m", "b1", "k", 1, NULL };
	struct read read = { 0 };

	read_all(*state, &run, 1, "ba*", 0, &read); /* the fixture's is "base" */
	assert_int_equal(read.nights.nr, 1);
	release(&read);
	read_all(*state, &run, 1, "other", 0, &read);
	assert_int_equal(read.nights.nr, 0);
	release(&read);
}

/* It goes with its nights' label, and is none of them. */
static void a_confirmation_is_no_night(void **state)
{
	static const struct given runs[] = {
		{ 0, "m", "b1", "k", 1, NULL },
		{ 1, "m", "b1", "k", 9, "base confirmation" },
		{ 2, "m", "b1", "k", 8, "base confirmation" },
	};
	struct zm_night_value value;
	struct read read = { 0 };
	double values[3];
	const struct zm_group *group;

	read_all(*state, runs, 3, "bas?", 0, &read);
	group = &read.nights.groups[0];
	assert_int_equal(group->nr_runs, 3);
	assert_int_equal(group->nr_nights, 1);
	assert_int_equal(zm_line_nights(group, &group->lines[0], &value), 0);
	assert_true(value.value == 1 && value.nr_runs == 1);
	assert_int_equal(zm_line_confirming(group, &group->lines[0], group->runs[0].invocation,
					    UINT32_MAX, values),
			 2);
	assert_true(values[0] == 9 && values[1] == 8);
	assert_int_equal(
		zm_line_confirming(group, &group->lines[0], 0, group->runs[1].invocation, values),
		0);
	release(&read);
	read_all(*state, runs, 0, "base confirmation", 0, &read);
	assert_int_equal(read.nights.nr, 0);
	release(&read);
}

static void addresses_are_of_names(void **state)
{
	static const struct given runs[] = { { 0, "m", "b1", "k", 1, NULL },
					     { 1, "n", "c1", "k", 2, NULL } };
	struct read read = { 0 };
	char first[ZM_GROUP_ID], second[ZM_GROUP_ID];

	read_all(*state, runs, 2, NULL, 0, &read);
	assert_string_not_equal(zm_group_id(first, &read.names, &read.nights.groups[0]),
				zm_group_id(second, &read.names, &read.nights.groups[1]));
	assert_int_equal(strspn(first, "0123456789abcdef"), 16);
	/* for ever: a link that somebody has kept */
	assert_string_equal(first, "3e66c347badaddcb");
	release(&read);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_night_is_from_noon_to_noon_and_of_one_kernel),
		TEST(runs_stand_night_by_night),
		TEST(boots_are_the_unit),
		TEST(a_night_without_a_value_has_none),
		TEST(primary_figures_of_all_or_all_figures_of_one),
		TEST(a_label_chooses),
		TEST(a_confirmation_is_no_night),
		TEST(addresses_are_of_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
