/* walk: against a plain model of the words that a round touches. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "faultload/walk.h"

#define UNTOUCHED UINT64_MAX

static uint64_t *make_area(uint64_t nr_words)
{
	uint64_t *area = malloc(nr_words * ZM_WORD_BYTES);

	assert_non_null(area);
	for (uint64_t i = 0; i < nr_words; i++)
		area[i] = UNTOUCHED;
	return area;
}

static const uint64_t sizes[] = { 1, 2, 3, 511, 512, 513, 4099 };
static const uint64_t chunks[] = { 1, 2, 64, 100000 };

static void test_straight(void **state)
{
	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
			uint64_t *area = make_area(sizes[s]);
			struct zm_walk walk = { .is_random = false };
			uint64_t done = 0, n;

			zm_walk_begin(&walk, area, sizes[s] * ZM_WORD_BYTES, 1);
			while ((n = zm_walk_on(&walk, chunks[c])) > 0) {
				done += n;
				assert_int_equal(walk.done, done);
				assert_int_equal(walk.last, done - 1);
				assert_int_equal(area[done - 1], done - 1);
				if (done < sizes[s])
					assert_true(area[done] == UNTOUCHED);
			}
			assert_int_equal(done, sizes[s]);
			free(area);
		}
	}
}

/* The original's draw, written down once more. */
static void test_random(void **state)
{
	(void)state;
	for (size_t s = 1; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		uint64_t *area = make_area(sizes[s]);
		uint64_t *model = make_area(sizes[s]);
		struct zm_walk walk = { .is_random = true };
		struct drand48_data random;
		uint64_t done = 0, n;

		srand48_r(77, &random);
		for (uint64_t i = 0; i < sizes[s]; i++) {
			uint64_t word;
			long drawn;

			lrand48_r(&random, &drawn);
			word = (uint64_t)((double)(sizes[s] - 1) * (double)drawn / 2147483648.0);
			model[word] = word;
		}
		zm_walk_begin(&walk, area, sizes[s] * ZM_WORD_BYTES, 77);
		while ((n = zm_walk_on(&walk, 13)) > 0)
			done += n;
		assert_int_equal(done, sizes[s]);
		assert_memory_equal(area, model, sizes[s] * ZM_WORD_BYTES);
		assert_true(area[sizes[s] - 1] == UNTOUCHED); /* the last word is never drawn */
		free(area);
		free(model);
	}
}

static void test_reading_leaves_all(void **state)
{
	(void)state;
	for (int is_random = 0; is_random < 2; is_random++) {
		uint64_t *area = make_area(4099);
		struct zm_walk walk = { .is_random = is_random, .is_read = true };

		zm_walk_begin(&walk, area, 4099 * ZM_WORD_BYTES, 5);
		assert_int_equal(zm_walk_on(&walk, 10000), 4099);
		for (uint64_t i = 0; i < 4099; i++)
			assert_true(area[i] == UNTOUCHED);
		free(area);
	}
}

/* Marking touches the same words as not marking, and ends when every page was touched. */
static void test_marks(void **state)
{
	enum { WORDS = 64 * 512 };
	uint64_t *area = make_area(WORDS);
	uint64_t *plain = make_area(WORDS);
	uint64_t marks[2] = { 0 };
	struct zm_walk walk = { .is_random = true };
	uint64_t nr_touched = 0;
	bool is_page_touched[64] = { false };

	(void)state;
	zm_walk_begin(&walk, plain, WORDS * ZM_WORD_BYTES, 9);
	while (zm_walk_on(&walk, 64) > 0)
		;
	zm_walk_begin(&walk, area, WORDS * ZM_WORD_BYTES, 9);
	assert_false(zm_walk_has_marked_all(&walk));
	zm_walk_mark(&walk, marks, 4096);
	while (zm_walk_on(&walk, 1) > 0) {
		uint64_t page = walk.last / 512;

		nr_touched += !is_page_touched[page];
		is_page_touched[page] = true;
		assert_int_equal(zm_walk_has_marked_all(&walk), nr_touched == 64);
	}
	assert_int_equal(nr_touched, 64);
	assert_memory_equal(area, plain, WORDS * ZM_WORD_BYTES);
	free(area);
	free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_straight),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_reading_leaves_all),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
