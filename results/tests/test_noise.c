/*
 * noise: the floor is the largest of the last few, of this machine and cell, and a change below it is no
 * verdict.
 *
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "results/compare.h"
#include "results/noise.h"
#include "results/tests/server.h"

#define MACHINE "0123456789abcdef"
#define CELL    "{\"nr_task\":\"2\"}"

static uint64_t add_run(struct zm_store *store, const char *boot, double value)
{
	struct zm_run_record record = fixture_record();
	const struct zm_result result = { .metric = "ops",
					  .unit = "ops/s",
					  .source = "page_fault1",
					  .better = ZM_BETTER_MORE,
					  .is_primary = true,
					  .value = value };
	struct zm_recorder *recorder;
	uint64_t run;

	record.boot_id = boot;
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	run = zm_recorder_run_id(recorder);
	assert_int_equal(zm_recorder_result(recorder, &result), 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	return run;
}

static struct zm_noise noise(const char *machine, const char *metric, double change)
{
	return (struct zm_noise){ .machine = machine,
				  .workload = "page_fault1",
				  .cell = CELL,
				  .metric = metric,
				  .change = change,
				  .nr_base = 3,
				  .nr_again = 3,
				  .kernel = "6.18.0",
				  .wall_ns = FIXTURE_WALL_NS };
}

struct seen {
	size_t nr, nr_of;
	double change;
};

static int see(void *context, const struct zm_noise_floor *floor)
{
	struct seen *seen = context;

	assert_string_equal(floor->largest.machine, MACHINE);
	assert_string_equal(floor->largest.cell, CELL);
	assert_string_equal(floor->largest.kernel, "6.18.0");
	seen->nr++;
	seen->nr_of = floor->nr;
	seen->change = floor->largest.change;
	return 0;
}

static struct seen look(struct zm_store *store)
{
	struct seen seen = { 0 };

	assert_int_equal(zm_noise_floors(store, see, &seen, NULL), 0);
	return seen;
}

static void the_last_few_are_kept(void **state)
{
	struct zm_store *store = fixture_open(*state, true);

	(void)add_run(store, "b1", 100);
	assert_int_equal(look(store).nr, 0);
	for (unsigned int i = 0; i < ZM_NOISE_KEPT + 3; i++) {
		struct zm_noise one = noise(MACHINE, "ops", i == 1 ? 0.5 : 0.01 + 0.001 * i);
		struct seen seen;

		one.wall_ns += i;
		assert_int_equal(zm_noise_add(store, &one, 1, NULL), 0);
		/* the same again changes nothing */
		assert_int_equal(zm_noise_add(store, &one, 1, NULL), 0);
		seen = look(store);
		assert_int_equal(seen.nr, 1);
		assert_int_equal(seen.nr_of, i < ZM_NOISE_KEPT ? i + 1 : ZM_NOISE_KEPT);
		/* the outlier counts until it is one of the old ones */
		if (i >= 1 && i <= ZM_NOISE_KEPT)
			assert_true(seen.change == 0.5);
		else
			assert_true(seen.change == one.change);
	}
	zm_store_close(store);
}

static void all_are_added_or_none(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_noise list[2] = { noise(MACHINE, "ops", 0.1), noise("other", "ops", 0.1) };
	struct zm_why why = { "" };

	(void)add_run(store, "b1", 100);
	assert_int_equal(zm_noise_add(store, list, 2, &why), -ENOENT);
	assert_non_null(strstr(why.text, "page_fault1"));
	assert_int_equal(look(store).nr, 0);
	zm_store_close(store);
}

/* Whatever was imported before, the newest few by their time are kept, each once; and what has no runs here
 * stays behind. */
static void another_stores_come_along(void **state)
{
	const struct fixture *fixture = *state;
	struct fixture other = *fixture;
	struct zm_store *store = fixture_open(fixture, true), *from;
	struct zm_noise one;
	uint64_t nr = 0;

	(void)snprintf(other.path, sizeof(other.path), "%s/other.db", fixture->folder);
	from = fixture_open(&other, true);
	(void)add_run(from, "b1", 100);
	for (unsigned int i = 0; i < ZM_NOISE_KEPT; i++) {
		one = noise(MACHINE, "ops", 0.02 + 0.001 * i);
		one.wall_ns += i;
		assert_int_equal(zm_noise_add(from, &one, 1, NULL), 0);
	}
	assert_int_equal(zm_noise_import(store, from, &nr, NULL), 0);
	assert_int_equal(nr, 0);
	(void)add_run(store, "b2", 100);
	one = noise(MACHINE, "ops", 0.01);
	one.wall_ns += ZM_NOISE_KEPT; /* newer than all of them */
	assert_int_equal(zm_noise_add(store, &one, 1, NULL), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct seen seen;

		assert_int_equal(zm_noise_import(store, from, &nr, NULL), 0);
		if (i)
			assert_int_equal(nr, 0);
		seen = look(store);
		assert_int_equal(seen.nr, 1);
		assert_int_equal(seen.nr_of, ZM_NOISE_KEPT);
		assert_true(seen.change == 0.02 + 0.001 * (ZM_NOISE_KEPT - 1));
	}
	one = noise(MACHINE, "ops", 0.3);
	one.is_one_boot = true;
	assert_int_equal(zm_noise_add(store, &one, 1, NULL), 0);
	assert_int_equal(look(store).nr, 2);
	zm_store_close(from);
	zm_store_close(store);
}

static void a_change_below_it_is_no_verdict(void **state)
{
	static const struct {
		const char *metric;
		double floor;
		enum zm_verdict verdict;
	} cases[] = {
		{ NULL, 0, ZM_VERDICT_BETTER },
		{ "ops", 0.02, ZM_VERDICT_BETTER },
		{ "other", 0.2, ZM_VERDICT_BETTER },
		{ "ops", 0.054, ZM_VERDICT_TOO_NOISY }, /* the interval reaches beyond it */
		{ "ops", 0.2, ZM_VERDICT_SAME },
	};
	const struct zm_compare_options options = {
		.judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 }
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fixture *fixture = *state;
		struct zm_store *store = fixture_open(fixture, true);
		struct zm_compare_side sides[2] = { { .name = "base", .store = store },
						    { .name = "new", .store = store } };
		struct zm_compare *compare = NULL;
		struct zm_why why = { "" };

		for (unsigned int boot = 0; boot < 12; boot++) {
			char name[8];

			(void)snprintf(name, sizeof(name), "b%u", boot);
			assert_int_equal(
				zm_runset_add(&sides[boot % 2].runs,
					      add_run(store, name,
						      (boot % 2 ? 105.0 : 100.0) + boot * 0.1)),
				0);
		}
		if (cases[i].metric) {
			struct zm_noise one = noise(MACHINE, cases[i].metric, cases[i].floor);

			assert_int_equal(zm_noise_add(store, &one, 1, &why), 0);
		}
		if (zm_compare_make(sides, 2, &options, &compare, &why))
			fail_msg("%s", why.text);
		assert_int_equal(compare->cells[0].metrics[0].outcomes[1].verdict,
				 cases[i].verdict);
		assert_true(compare->judge.margin == 0.01);
		zm_compare_free(compare);
		zm_runset_release(&sides[0].runs);
		zm_runset_release(&sides[1].runs);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

ON_SERVER(the_last_few_are_kept)
ON_SERVER(all_are_added_or_none)
ON_SERVER(another_stores_come_along)

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_few_are_kept),
		TEST(all_are_added_or_none),
		TEST(another_stores_come_along),
		TEST(a_change_below_it_is_no_verdict),
		TEST_ON_SERVER(the_last_few_are_kept),
		TEST_ON_SERVER(all_are_added_or_none),
		TEST_ON_SERVER(another_stores_come_along),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
