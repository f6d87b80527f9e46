/*
 * test_script: a script has every process of the profile's jobs, in walking order; choices make it
 * smaller; shuffling keeps the jobs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "buildload/script.h"
#include "buildload/tests/small_profile.h"

static struct zm_script script_of(const struct zm_profile *profile,
				  const struct zm_script_choice *choice)
{
	struct zm_script script;
	struct zm_why why;

	if (zm_script_make(profile, choice, &script, &why) < 0)
		fail_msg("%s", why.text);
	return script;
}

static const struct zm_script_choice plain = { .seed = 3, .page_bytes = 4096, .work_scale = 1 };

static void test_whole(void **state)
{
	struct zm_profile *profile = small_profile_make("", "");
	struct zm_script script = script_of(profile, &plain);
	const struct zm_script_head *head = zm_script_head(&script);
	const struct zm_script_job *jobs = zm_script_jobs(&script);
	const struct zm_script_stage *stages = zm_script_stages(&script);
	const struct zm_script_step *steps = zm_script_steps(&script);

	(void)state;
	assert_int_equal(head->nr_stages, 2);
	assert_int_equal(head->nr_jobs, 4);
	assert_int_equal(head->nr_steps, 4 * 4 + 2);
	assert_int_equal(head->first_make_step, 16);
	assert_int_equal(stages[0].nr_makes, 2);
	assert_int_equal(stages[1].first_job, 3);
	assert_int_equal(stages[1].max_jobs, 1);
	/* The recorded rows: 1, then 0. */
	assert_int_equal(steps[jobs[0].first_step + 1].anon_pages, 1900);
	assert_int_equal(steps[jobs[1].first_step + 1].anon_pages, 900);
	assert_int_equal(steps[0].nr_below, 4);
	assert_int_equal(steps[0].nr_children, 2);
	assert_int_equal(steps[2].flags, ZM_STEP_FORK);
	assert_int_equal(steps[3].flags, ZM_STEP_BESIDE | ZM_STEP_PIPED);
	assert_int_equal(steps[1].hops, 2);
	assert_int_equal(steps[0].hops, 0);
	assert_int_equal(steps[1].ramp[15], 65535 * 6 / 10);
	assert_int_equal(steps[1].ramp[ZM_SCRIPT_RAMP - 1], 65535);
	assert_string_equal(zm_script_classes(&script)[1].name, "cc1");
	zm_script_release(&script);
	zm_profile_free(profile);
}

/* Nodes that are recorded in the order of their start come in walking order. */
static void test_walk(void **state)
{
	/* 0 -> 1, 2;  1 -> 3;  2 -> 4, 5;  3 -> 6: a walk is 0 1 3 6 2 4 5. */
	static const int parents[] = { -1, 0, 0, 1, 2, 2, 3 };
	static const uint64_t expected[] = { 0, 1, 3, 6, 2, 4, 5 };
	static const uint32_t below[] = { 7, 3, 2, 1, 3, 1, 1 };
	struct zm_profile *profile = small_profile_make("", "");
	struct zm_profile_recipe *recipe = &profile->recipes[0];
	struct zm_script script;

	(void)state;
	free(recipe->nodes);
	recipe->nr = 7;
	recipe->nodes = calloc(recipe->nr, sizeof(*recipe->nodes));
	assert_non_null(recipe->nodes);
	for (size_t i = 0; i < recipe->nr; i++)
		recipe->nodes[i] = (struct zm_profile_node){ .class_index = i == 0,
							     .parent = parents[i],
							     .is_fork = i > 0,
							     .is_beside = i == 5,
							     .is_piped = i == 4 || i == 6 };
	script = script_of(profile, &plain);
	for (size_t i = 0; i < recipe->nr; i++) {
		const struct zm_script_step *step = &zm_script_steps(&script)[i];
		bool is_next_beside = expected[i] == 4;

		assert_int_equal(step->nr_below, below[i]);
		assert_int_equal((step->flags & ZM_STEP_BESIDE) != 0, expected[i] == 5);
		assert_int_equal((step->flags & ZM_STEP_NEXT_BESIDE) != 0, is_next_beside);
		assert_int_equal((step->flags & ZM_STEP_PIPED) != 0,
				 expected[i] == 4 || expected[i] == 6);
		assert_int_equal((step->flags & ZM_STEP_READS) != 0, expected[i] == 5);
	}
	zm_script_release(&script);
	zm_profile_free(profile);
}

/* The third job has no row of its own: its form's, whatever the seed; else one by lot. */
static void test_row_of_node(void **state)
{
	struct zm_profile *kept =
		small_profile_make("\"cc1\", \"parent\": 0", "\"cc1\", \"parent\": 0, \"row\": 1");
	struct zm_profile *drawn = small_profile_make("", "");
	struct zm_script_choice choice = plain;
	bool has_other = false;

	(void)state;
	for (choice.seed = 0; choice.seed < 64; choice.seed++) {
		struct zm_script a = script_of(kept, &choice), b = script_of(drawn, &choice);
		uint32_t at = zm_script_jobs(&a)[2].first_step + 1;

		assert_int_equal(zm_script_steps(&a)[at].anon_pages, 1900);
		has_other |= zm_script_steps(&b)[at].anon_pages != 1900;
		zm_script_release(&a);
		zm_script_release(&b);
	}
	assert_true(has_other);
	zm_profile_free(kept);
	zm_profile_free(drawn);
}

static void test_choices(void **state)
{
	struct zm_profile *profile = small_profile_make("", "");
	struct zm_script_choice choice = plain;
	struct zm_script script;

	(void)state;
	choice.stages = 1;
	choice.jobs = 1;
	script = script_of(profile, &choice);
	assert_int_equal(zm_script_head(&script)->nr_jobs, 1);
	assert_int_equal(zm_script_stages(&script)[0].nr_makes, 1);
	zm_script_release(&script);

	choice = plain;
	choice.page_bytes = 16384;
	choice.work_scale = 0.5;
	script = script_of(profile, &choice);
	assert_int_equal(zm_script_steps(&script)[1].anon_pages, 475);
	assert_int_equal(zm_script_steps(&script)[1].work, 45000);
	zm_script_release(&script);
	zm_profile_free(profile);
}

/* All jobs, by their weights, whatever the order. */
static void test_shuffled(void **state)
{
	struct zm_profile *profile = small_profile_make("[[0, 1], [0, 0], [0, -1]]",
							"[[0, 1], [0, 0], [0, 1], [0, 0], [0, 1]]");
	struct zm_script_choice choice = plain;
	struct zm_script plain_script = script_of(profile, &plain);
	bool has_moved = false;

	(void)state;
	choice.is_shuffled = true;
	for (choice.number = 0; choice.number < 20; choice.number++) {
		struct zm_script script = script_of(profile, &choice);
		uint64_t sum = 0, plain_sum = 0;

		for (size_t i = 0; i < 5; i++) {
			sum += zm_script_jobs(&script)[i].weight;
			plain_sum += zm_script_jobs(&plain_script)[i].weight;
			has_moved |= zm_script_jobs(&script)[i].weight !=
				     zm_script_jobs(&plain_script)[i].weight;
		}
		assert_true(sum == plain_sum);
		zm_script_release(&script);
	}
	assert_true(has_moved);
	zm_script_release(&plain_script);
	zm_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),       cmocka_unit_test(test_walk),
		cmocka_unit_test(test_row_of_node), cmocka_unit_test(test_choices),
		cmocka_unit_test(test_shuffled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
