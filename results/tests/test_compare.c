/* compare: what is paired with what, what a value is, and what is said beside the verdicts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "results/compare.h"
#include "results/tests/fixture.h"
#include "workloads/base/random.h"

static const struct zm_compare_options usual = {
	.judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 }
};

/* A run of a cell, on a boot, begun then, with one primary figure and one other. */
static uint64_t add_run_at(struct zm_store *store, const char *cell, const char *boot,
			   uint64_t start_ns, double value, enum zm_status status)
{
	struct zm_run_record record = fixture_record();
	struct zm_result result = { .metric = "ops",
				    .unit = "ops/s",
				    .source = "page_fault1",
				    .better = ZM_BETTER_MORE,
				    .is_primary = true,
				    .value = value };
	struct zm_recorder *recorder;
	uint64_t run;

	record.cell = cell;
	record.boot_id = boot;
	record.start_ns = start_ns;
	record.kernel = boot[0] == 'n' ? "6.19.0" : "6.18.0";
	record.inventory =
		boot[0] == 'n' ? "{\"microcode\":\"0x2\",\"a\":{\"b\":1},\"swap_used_bytes\":7}"
			       : "{\"microcode\":\"0x1\",\"a\":{\"b\":1},\"swap_used_bytes\":9}";
	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	run = zm_recorder_run_id(recorder);
	if (status == ZM_STATUS_OK) {
		assert_int_equal(zm_recorder_result(recorder, &result), 0);
		result.metric = "steal%";
		result.unit = "%";
		result.is_primary = false;
		result.value = value / 100;
		assert_int_equal(zm_recorder_result(recorder, &result), 0);
	}
	assert_int_equal(zm_recorder_end(recorder, status, "why", NULL), 0);
	return run;
}

static uint64_t add_run(struct zm_store *store, const char *cell, const char *boot, double value,
			enum zm_status status)
{
	return add_run_at(store, cell, boot, fixture_record().start_ns, value, status);
}

struct sides {
	struct zm_compare_side sides[3];
	struct zm_compare *compare;
};

static void add(struct sides *sides, size_t side, struct zm_store *store, const char *cell,
		const char *boot, double value)
{
	static const char *const names[] = { "base", "new", "newer" };

	sides->sides[side].name = names[side];
	sides->sides[side].store = store;
	assert_int_equal(zm_runset_add(&sides->sides[side].runs,
				       add_run(store, cell, boot, value, ZM_STATUS_OK)),
			 0);
}

static void add_failed(struct sides *sides, size_t side, struct zm_store *store, const char *boot)
{
	assert_int_equal(zm_runset_add(&sides->sides[side].runs,
				       add_run(store, "{}", boot, 0, ZM_STATUS_FAILED)),
			 0);
}

static void compare(struct sides *sides, size_t nr)
{
	struct zm_why why = { "" };

	if (zm_compare_make(sides->sides, nr, &usual, &sides->compare, &why))
		fail_msg("%s", why.text);
}

static void release(struct sides *sides)
{
	zm_compare_free(sides->compare);
	for (size_t i = 0; i < 3; i++)
		zm_runset_release(&sides->sides[i].runs);
}

static const struct zm_compare_metric *primary(const struct sides *sides)
{
	assert_int_equal(sides->compare->cells[0].nr_primary, 1);
	return &sides->compare->cells[0].metrics[0];
}

/* Runs of one boot agree to the last digit, boots do not: what counts is how many boots there are. */
static void a_boot_is_one_value(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct sides sides = { 0 };
	const struct zm_compare_outcome *outcome;

	for (unsigned int i = 0; i < 6; i++) {
		char boot[2][8];

		(void)snprintf(boot[0], sizeof(boot[0]), "b%u", i);
		(void)snprintf(boot[1], sizeof(boot[1]), "n%u", i);
		for (unsigned int run = 0; run < 4; run++) {
			add(&sides, 0, store, "{}", boot[0], 100 + i * 2 + run);
			add(&sides, 1, store, "{}", boot[1], 102 + i * 2 + run);
		}
	}
	compare(&sides, 2);
	outcome = &primary(&sides)->outcomes[1];
	assert_int_equal(outcome->judgement.nr_base, 6);
	assert_int_equal(outcome->judgement.nr_new, 6);
	assert_int_equal(outcome->judgement.method, ZM_METHOD_RANKS);
	assert_int_equal(outcome->verdict, ZM_VERDICT_TOO_NOISY);
	assert_false(outcome->is_between_boots);
	assert_true(outcome->nr_needed > 6);
	assert_int_equal(primary(&sides)->sides[0].nr, 6);
	assert_int_equal(primary(&sides)->sides[0].nr_runs, 24);
	assert_true(primary(&sides)->sides[0].values[0] == 101.5);
	assert_int_equal(sides.compare->sides[1].nr_boots, 6);
	assert_string_equal(sides.compare->sides[1].kernels, "6.19.0");
	release(&sides);
	zm_store_close(store);
}

/* Whose turn it is: two sides of one boot that drifts by a tenth a pair, ten times what the sides differ by. */
static void neighbours_in_time_are_pairs(void **state)
{
	static const struct {
		const char *turns;
		enum zm_method method;
		enum zm_verdict verdict;
	} cases[] = {
		{ "abbaabbaabbaabba", ZM_METHOD_PAIRS, ZM_VERDICT_BETTER },
		{ "abababababababab", ZM_METHOD_PAIRS, ZM_VERDICT_BETTER },
		{ "baabab", ZM_METHOD_PAIRS_T, ZM_VERDICT_BETTER },
		{ "abab", ZM_METHOD_WELCH,
		  ZM_VERDICT_TOO_NOISY }, /* of two pairs nothing is gained */
		{ "aaaaabbbbb", ZM_METHOD_RANKS,
		  ZM_VERDICT_BETTER }, /* what is taken for a change */
		{ "abaabbab", ZM_METHOD_WELCH, ZM_VERDICT_TOO_NOISY },
		{ "aabbbaab", ZM_METHOD_WELCH, ZM_VERDICT_TOO_NOISY },
		{ "abaab", ZM_METHOD_WELCH, ZM_VERDICT_TOO_NOISY },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fixture *fixture = *state;
		struct zm_store *store = fixture_open(fixture, true);
		struct sides sides = { 0 };
		const struct zm_compare_outcome *outcome;

		for (size_t k = 0; cases[i].turns[k]; k++) {
			size_t side = cases[i].turns[k] == 'b';
			double drift = pow(1.1, (double)(k / 2));

			sides.sides[side].name = side ? "b" : "a";
			sides.sides[side].store = store;
			assert_int_equal(zm_runset_add(&sides.sides[side].runs,
						       add_run_at(store, "{}", "b1", 100 + k,
								  drift * (side ? 102 : 100) +
									  0.1 * (double)(k % 3),
								  ZM_STATUS_OK)),
					 0);
		}
		compare(&sides, 2);
		outcome = &primary(&sides)->outcomes[1];
		if (outcome->judgement.method != cases[i].method ||
		    outcome->verdict != cases[i].verdict)
			fail_msg("%s: %s, %s", cases[i].turns,
				 zm_method_name(outcome->judgement.method),
				 zm_verdict_name(outcome->verdict));
		assert_true(outcome->is_within_boots && !outcome->is_between_boots);
		release(&sides);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

/* Boots differ by more than the sides, which have the same ones, in whatever order they came. */
static void the_same_boots_are_pairs(void **state)
{
	static const struct {
		unsigned int nr, nr_shared;
		enum zm_method method;
	} cases[] = {
		{ 2, 2, ZM_METHOD_WELCH }, { 3, 3, ZM_METHOD_PAIRS_T }, { 8, 8, ZM_METHOD_PAIRS },
		{ 8, 7, ZM_METHOD_RANKS }, { 8, 0, ZM_METHOD_RANKS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fixture *fixture = *state;
		struct zm_store *store = fixture_open(fixture, true);
		struct sides sides = { 0 };
		const struct zm_compare_outcome *outcome;

		for (unsigned int k = 0; k < 2 * cases[i].nr; k++) {
			unsigned int nr = k / 2, boot = nr;
			char name[8];

			if (k % 2) /* the other way round */
				boot = cases[i].nr - 1 - nr;
			(void)snprintf(name, sizeof(name), "b%u",
				       boot + (k % 2 && boot >= cases[i].nr_shared ? 50 : 0));
			add(&sides, k % 2, store, "{}", name,
			    (k % 2 ? 102 : 100) * (1 + 0.05 * boot) + 0.1 * (nr % 3));
		}
		compare(&sides, 2);
		outcome = &primary(&sides)->outcomes[1];
		assert_int_equal(outcome->judgement.method, cases[i].method);
		assert_int_equal(outcome->verdict, zm_method_is_paired(cases[i].method)
							   ? ZM_VERDICT_BETTER
							   : ZM_VERDICT_TOO_NOISY);
		assert_int_equal(outcome->is_within_boots, zm_method_is_paired(cases[i].method));
		release(&sides);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

static void two_single_boots_are_told(void **state)
{
	static const struct {
		const char *boot;
		bool is_between_boots;
	} cases[] = { { "n1", true }, { "b1", false } };

	for (size_t i = 0; i < 2; i++) {
		const struct fixture *fixture = *state;
		struct zm_store *store = fixture_open(fixture, true);
		struct sides sides = { 0 };

		for (unsigned int run = 0; run < 4; run++) {
			add(&sides, 0, store, "{}", "b1", 100 + run * 0.1);
			add(&sides, 1, store, "{}", cases[i].boot, 110 + run * 0.1);
		}
		compare(&sides, 2);
		assert_int_equal(primary(&sides)->outcomes[1].judgement.nr_base, 4);
		assert_int_equal(primary(&sides)->outcomes[1].verdict, ZM_VERDICT_BETTER);
		assert_int_equal(primary(&sides)->outcomes[1].is_between_boots,
				 cases[i].is_between_boots);
		release(&sides);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

/* A single new boot stands against the spread of the base's boots; two of them are not enough. */
static void one_boot_against_many(void **state)
{
	for (unsigned int nr = 2; nr < 6; nr++) {
		const struct fixture *fixture = *state;
		struct zm_store *store = fixture_open(fixture, true);
		struct sides sides = { 0 };
		char boot[8];

		for (unsigned int i = 0; i < nr; i++) {
			(void)snprintf(boot, sizeof(boot), "b%u", i);
			add(&sides, 0, store, "{}", boot, 100 + i * 0.1);
		}
		for (unsigned int run = 0; run < 4; run++)
			add(&sides, 1, store, "{}", "n1", 90 + run);
		compare(&sides, 2);
		assert_int_equal(primary(&sides)->outcomes[1].judgement.nr_new, 1);
		assert_int_equal(primary(&sides)->outcomes[1].verdict,
				 nr < 3 ? ZM_VERDICT_NOT_ENOUGH : ZM_VERDICT_WORSE);
		release(&sides);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

/* The same p is a verdict by itself and none among many. */
static void verdicts_are_corrected_for_their_number(void **state)
{
	static const double base[] = { 100, 101, 102 }, new[] = { 104, 104.6, 105.4 };

	for (unsigned int nr_cells = 1; nr_cells < 12; nr_cells += 10) {
		const struct fixture *fixture = *state;
		struct zm_store *store = fixture_open(fixture, true);
		struct sides sides = { 0 };

		for (unsigned int cell = 0; cell < nr_cells; cell++) {
			char json[32], boot[8];

			(void)snprintf(json, sizeof(json), "{\"nr_task\":%u}", cell);
			for (unsigned int i = 0; i < 3; i++) {
				(void)snprintf(boot, sizeof(boot), "b%u", i);
				add(&sides, 0, store, json, boot, base[i]);
				(void)snprintf(boot, sizeof(boot), "n%u", i);
				add(&sides, 1, store, json, boot, cell ? base[i] : new[i]);
			}
		}
		compare(&sides, 2);
		assert_int_equal(sides.compare->nr_cells, nr_cells);
		assert_int_equal(sides.compare->nr_verdicts, nr_cells);
		assert_true(primary(&sides)->outcomes[1].judgement.p < 0.05);
		assert_int_equal(primary(&sides)->outcomes[1].verdict,
				 nr_cells == 1 ? ZM_VERDICT_BETTER : ZM_VERDICT_TOO_NOISY);
		assert_string_equal(sides.compare->cells[0].words,
				    nr_cells == 1 ? "" : "nr_task=0");
		release(&sides);
		zm_store_close(store);
		assert_int_equal(unlink(fixture->path), 0);
	}
}

static void failures_have_their_own_denominators(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct sides sides = { 0 };

	for (unsigned int i = 0; i < 8; i++) {
		add(&sides, 0, store, "{}", "b1", 100);
		if (i < 2)
			add(&sides, 1, store, "{}", "n1", 100);
		else
			add_failed(&sides, 1, store, "n1");
	}
	compare(&sides, 2);
	assert_int_equal(sides.compare->cells[0].sides[0].nr_ok, 8);
	assert_int_equal(sides.compare->cells[0].sides[1].nr_failed, 6);
	/* 0 of 8 against 6 of 8: C(8,6) / C(16,6) = 28 / 8008, two-sided twice that */
	assert_true(fabs(sides.compare->cells[0].sides[1].p - 56.0 / 8008) < 1e-9);
	assert_int_equal(primary(&sides)->sides[1].nr_runs, 2);
	release(&sides);
	zm_store_close(store);
}

static void the_environment_is_compared(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct sides sides = { 0 };

	add(&sides, 0, store, "{}", "b1", 100);
	add(&sides, 1, store, "{}", "n1", 100);
	compare(&sides, 2);
	assert_int_equal(sides.compare->nr_differences, 1);
	assert_string_equal(sides.compare->differences[0].key, "microcode");
	assert_string_equal(sides.compare->differences[0].values[0], "0x1");
	assert_string_equal(sides.compare->differences[0].values[1], "0x2");
	release(&sides);
	zm_store_close(store);
}

static void shares_are_compared_in_points(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct sides sides = { 0 };
	const struct zm_compare_metric *steal;

	for (unsigned int i = 0; i < 3; i++) {
		add(&sides, 0, store, "{}", "b1", 100);
		add(&sides, 1, store, "{}", "n1", 300);
	}
	compare(&sides, 2);
	assert_int_equal(sides.compare->cells[0].nr_metrics, 2);
	steal = &sides.compare->cells[0].metrics[1];
	assert_true(steal->is_share && !steal->is_primary);
	assert_true(fabs(steal->outcomes[1].judgement.change - 2) < 1e-12);
	assert_false(steal->outcomes[1].judgement.is_ratio);
	release(&sides);
	zm_store_close(store);
}

static void what_only_one_side_has_is_left_out(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct sides sides = { 0 };
	struct zm_why why = { "" };

	add(&sides, 0, store, "{\"a\":1}", "b1", 100);
	add(&sides, 1, store, "{\"a\":2}", "n1", 100);
	assert_int_equal(zm_compare_make(sides.sides, 2, &usual, &sides.compare, &why), -ENODATA);
	assert_non_null(strstr(why.text, "same parameters"));
	add(&sides, 1, store, "{\"a\":1}", "n1", 100);
	compare(&sides, 2);
	assert_int_equal(sides.compare->nr_cells, 1);
	assert_int_equal(sides.compare->nr_lone, 1);
	release(&sides);
	zm_store_close(store);
}

/* Sides may lie in different stores, where the same things have other numbers. */
static void stores_are_compared(void **state)
{
	struct fixture other = *(const struct fixture *)*state;
	struct zm_store *store = fixture_open(*state, true), *second;
	struct sides sides = { 0 };

	(void)snprintf(other.path, sizeof(other.path), "%s/other.db", other.folder);
	second = fixture_open(&other, true);
	(void)add_run(second, "{\"x\":1}", "b9", 5, ZM_STATUS_OK);
	for (unsigned int i = 0; i < 3; i++) {
		add(&sides, 0, store, "{}", "b1", 100 + i * 0.1);
		add(&sides, 1, second, "{}", "n1", 80 + i * 0.1);
		add(&sides, 2, store, "{}", "n2", 100 + i * 0.1);
	}
	compare(&sides, 3);
	assert_int_equal(primary(&sides)->outcomes[1].verdict, ZM_VERDICT_WORSE);
	assert_int_equal(primary(&sides)->outcomes[2].verdict, ZM_VERDICT_SAME);
	assert_int_equal(sides.compare->nr_of[ZM_VERDICT_WORSE], 1);
	assert_int_equal(sides.compare->nr_of[ZM_VERDICT_SAME], 1);
	release(&sides);
	zm_store_close(second);
	zm_store_close(store);
}

/* Nothing changed but what a boot brings, 1.5 % up or down: with boots as the unit the alarms stay at
 * their level, however many runs each boot has. */
static void boots_raise_no_false_alarms(void **state)
{
	const struct fixture *fixture = *state;
	const unsigned int nr_trials = 150;
	unsigned int nr_alarms = 0;
	struct zm_random random;
	struct zm_store *store = fixture_open(fixture, true);

	zm_random_init(&random, 2024, 0);
	assert_int_equal(zm_db_script(zm_store_db(store), NULL, "PRAGMA synchronous = OFF"), 0);
	for (unsigned int trial = 0; trial < nr_trials; trial++) {
		struct sides sides = { 0 };
		char cell[32];

		(void)snprintf(cell, sizeof(cell), "{\"trial\":%u}", trial);
		for (unsigned int boot = 0; boot < 6; boot++) {
			double shift = 1 + 0.03 * (zm_random_unit(&random) - 0.5);
			char name[8];

			(void)snprintf(name, sizeof(name), "%c%u", boot % 2 ? 'n' : 'b', boot);
			for (unsigned int run = 0; run < 3; run++)
				add(&sides, boot % 2, store, cell, name,
				    100 * shift + zm_random_unit(&random) * 0.1);
		}
		compare(&sides, 2);
		nr_alarms += primary(&sides)->outcomes[1].judgement.p <= 0.05;
		release(&sides);
	}
	/* 5 % of 150, and three and a half times the root of its variance */
	assert_in_range(nr_alarms, 0, 16);
	zm_store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_boot_is_one_value),
		TEST(neighbours_in_time_are_pairs),
		TEST(the_same_boots_are_pairs),
		TEST(two_single_boots_are_told),
		TEST(one_boot_against_many),
		TEST(verdicts_are_corrected_for_their_number),
		TEST(failures_have_their_own_denominators),
		TEST(the_environment_is_compared),
		TEST(shares_are_compared_in_points),
		TEST(what_only_one_side_has_is_left_out),
		TEST(stores_are_compared),
		TEST(boots_raise_no_false_alarms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
