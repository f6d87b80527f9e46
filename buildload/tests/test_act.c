/*
 * test_act: what a process does adds up to what its step says; the same script gives the same acts, and
 * another seed others.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "buildload/act.h"
#include "buildload/tests/small_profile.h"
#include "workloads/base/random.h"

#define PROFILE ZM_SOURCE_DIR "/buildload/profiles/small.json"

static struct zm_script make_script(uint64_t seed, uint64_t page_bytes)
{
	const struct zm_script_choice choice = { .seed = seed,
						 .page_bytes = page_bytes,
						 .work_scale = 1 };
	struct zm_profile *profile = NULL;
	struct zm_script script;
	struct zm_why why;

	if (zm_profile_read(PROFILE, &profile, &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(zm_script_make(profile, &choice, &script, &why), 0);
	zm_profile_free(profile);
	return script;
}

/* What the acts of one step come to. */
struct sum {
	uint64_t of[ZM_NR_ACTS];    /* counts */
	uint64_t bytes[ZM_NR_ACTS]; /* bytes */
	uint64_t nr[ZM_NR_ACTS];    /* acts */
	uint64_t digest;
	uint64_t room;   /* pages mapped and not yet touched */
	uint64_t spread; /* units of work, after pages that are touched */
	bool is_alone;   /* no child runs */
};

static void check_order(struct sum *sum, const struct zm_act *act, uint64_t page_bytes)
{
	if (act->kind == ZM_ACT_MAP || act->kind == ZM_ACT_BRK) {
		assert_true(act->bytes > 0 && act->bytes % page_bytes == 0);
		sum->room = act->bytes / page_bytes;
	}
	if (act->kind == ZM_ACT_TOUCH || act->kind == ZM_ACT_READ_TOUCH) {
		assert_true(act->count > 0 && act->count <= sum->room);
		sum->room -= act->count;
		sum->spread += act->count * act->bytes;
	}
	if (act->kind == ZM_ACT_WINDOWS || act->kind == ZM_ACT_COPIES)
		assert_int_equal(sum->nr[ZM_ACT_IMAGES], 1);
}

static struct sum add_up(const struct zm_script *script, uint32_t index)
{
	const struct zm_script_head *head = zm_script_head(script);
	const struct zm_script_step *step = &zm_script_steps(script)[index];
	struct sum sum = { .digest = 1, .is_alone = true };
	struct zm_acts acts;
	struct zm_act act;

	zm_acts_begin(&acts, head, &zm_script_classes(script)[step->class_index], step);
	for (zm_acts_next(&acts, &act); act.kind != ZM_ACT_END; zm_acts_next(&acts, &act)) {
		check_order(&sum, &act, head->page_bytes);
		sum.nr[act.kind]++;
		sum.of[act.kind] += act.count;
		sum.bytes[act.kind] += act.bytes;
		sum.digest =
			sum.digest * 31 + (uint64_t)act.kind * 1000003 + act.count * 17 + act.bytes;
		if (act.kind == ZM_ACT_CHILD) {
			assert_true(act.count > 0 && act.count < step->nr_below);
			zm_acts_child(&acts, step + act.count);
			sum.is_alone = false;
		}
		if (act.kind == ZM_ACT_WAIT)
			sum.is_alone = true;
		assert_true(sum.nr[act.kind] < 1000000);
	}
	zm_acts_next(&acts, &act);
	assert_int_equal(act.kind, ZM_ACT_END);
	return sum;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void check_sums(const struct zm_script_step *step, const struct zm_script_class *class,
		       const struct sum *sum)
{
	uint64_t heap = sum->of[ZM_ACT_TOUCH] + sum->of[ZM_ACT_READ_TOUCH];
	uint64_t faults = ZM_ACT_BASE_FAULTS + heap + sum->of[ZM_ACT_READ_TOUCH] +
			  sum->of[ZM_ACT_COPIES] + sum->of[ZM_ACT_WINDOWS];

	assert_int_equal(heap + sum->of[ZM_ACT_COPIES], above(step->anon_pages, ZM_ACT_BASE_PAGES));
	assert_int_equal(sum->of[ZM_ACT_READ_TOUCH],
			 step->zero_reads < heap ? step->zero_reads : heap);
	if (sum->of[ZM_ACT_WINDOWS] > 0)
		assert_int_equal(faults, step->faults);
	else
		assert_true(faults >= step->faults || class->nr_images == 0);
	assert_int_equal(sum->of[ZM_ACT_WORK] + sum->spread, step->work);
	assert_int_equal(sum->nr[ZM_ACT_OPEN], step->opens);
	assert_int_equal(sum->bytes[ZM_ACT_OPEN], step->opens ? step->read_bytes : 0);
	assert_int_equal(sum->of[ZM_ACT_MISS], step->opens_missing);
	assert_int_equal(sum->bytes[ZM_ACT_WRITE], step->write_bytes);
	assert_int_equal(sum->bytes[ZM_ACT_SAY], step->pipe_bytes);
	assert_int_equal(sum->nr[ZM_ACT_HEAR], (step->flags & ZM_STEP_READS) != 0);
	assert_int_equal(sum->nr[ZM_ACT_CHILD], step->nr_children);
	assert_true(sum->is_alone);
	assert_true(sum->bytes[ZM_ACT_UNMAP] * 1000000 <=
		    sum->bytes[ZM_ACT_MAP] * class->unmap_ppm);
}

static void test_sums(void **state)
{
	static const uint64_t pages[] = { 4096, 16384, 65536 };

	(void)state;
	for (uint64_t i = 0; i < 3 * 20; i++) {
		struct zm_script script = make_script(i, pages[i % 3]);

		for (uint32_t j = 0; j < zm_script_head(&script)->nr_steps; j++) {
			const struct zm_script_step *step = &zm_script_steps(&script)[j];
			struct sum sum = add_up(&script, j);

			check_sums(step, &zm_script_classes(&script)[step->class_index], &sum);
		}
		zm_script_release(&script);
	}
}

static void test_same(void **state)
{
	struct zm_script a = make_script(7, 4096), b = make_script(7, 4096);
	struct zm_script other = make_script(8, 4096);
	uint32_t nr_different = 0;

	(void)state;
	assert_int_equal(a.bytes, b.bytes);
	assert_memory_equal(a.data, b.data, a.bytes);
	for (uint32_t i = 0; i < zm_script_head(&a)->nr_steps; i++) {
		struct sum first = add_up(&a, i), second = add_up(&b, i);
		struct sum third = add_up(&other, i);

		assert_true(first.digest == second.digest);
		nr_different += first.digest != third.digest;
	}
	assert_true(nr_different > 0);
	zm_script_release(&a);
	zm_script_release(&b);
	zm_script_release(&other);
}

/* Steps of any size: sums hold, nothing runs for ever. */
static void test_any(void **state)
{
	struct zm_script script = make_script(1, 4096);
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 11, 0);
	for (size_t i = 0; i < 300; i++) {
		struct zm_script_step *step = (struct zm_script_step *)zm_script_steps(&script) +
					      zm_random_below(&random, 3);
		struct sum sum;

		if (step->nr_children > 0)
			continue;
		step->anon_pages =
			zm_random_below(&random, UINT64_C(1) << zm_random_below(&random, 17));
		step->faults =
			zm_random_below(&random, UINT64_C(1) << zm_random_below(&random, 18));
		step->zero_reads = zm_random_below(&random, 2000);
		step->work = zm_random_below(&random, UINT64_C(1) << zm_random_below(&random, 30));
		step->opens = zm_random_below(&random, 1000);
		step->read_bytes = zm_random_below(&random, 10000000);
		step->write_bytes = zm_random_below(&random, 1000000);
		step->pipe_bytes = zm_random_below(&random, 100000);
		sum = add_up(&script, (uint32_t)(step - zm_script_steps(&script)));
		check_sums(step, &zm_script_classes(&script)[step->class_index], &sum);
	}
	zm_script_release(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
