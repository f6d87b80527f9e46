/* codec: readings come back whatever their shape; bytes from anywhere never do harm. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/codec.h"
#include "workloads/base/random.h"

/* One way in which a series can go. */
typedef uint64_t shape(struct zm_random *random, size_t i, uint64_t before);

static uint64_t constant(struct zm_random *random, size_t i, uint64_t before)
{
	(void)random;
	return i == 0 ? 4711 : before;
}

static uint64_t counter(struct zm_random *random, size_t i, uint64_t before)
{
	(void)i;
	return before + 300000 + zm_random_below(random, 5000);
}

static uint64_t steady_counter(struct zm_random *random, size_t i, uint64_t before)
{
	(void)random, (void)i;
	return before + 100;
}

static uint64_t gauge(struct zm_random *random, size_t i, uint64_t before)
{
	return i == 0 ? 1 << 24 : before + 500 - zm_random_below(random, 1000);
}

static uint64_t anything(struct zm_random *random, size_t i, uint64_t before)
{
	(void)i, (void)before;
	return zm_random_next(random);
}

static uint64_t extremes(struct zm_random *random, size_t i, uint64_t before)
{
	static const uint64_t ends[] = { 0, 1, UINT64_MAX, 1ull << 63, (1ull << 63) - 1 };

	(void)i, (void)before;
	return ends[zm_random_below(random, 5)];
}

static uint64_t doubles(struct zm_random *random, size_t i, uint64_t before)
{
	static const double odd[] = { 0.0, -0.0, 1.5, 1e308, -1e-310, HUGE_VAL };
	double value = i % 7 ? 100 + zm_random_unit(random) : odd[i % 6];
	uint64_t bits;

	(void)before;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static shape *const shapes[] = { constant, counter,  steady_counter, gauge,
				 anything, extremes, doubles };
#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void fill(struct zm_readings *readings, shape *next, size_t nr, bool has_flags,
		 struct zm_random *random)
{
	uint64_t value = 0;

	for (size_t i = 0; i < nr; i++) {
		uint32_t flags = 0;

		if (has_flags && zm_random_below(random, 5) == 0)
			flags = (uint32_t)zm_random_next(random);
		value = next(random, i, value);
		assert_int_equal(zm_readings_add(readings, value, flags), 0);
	}
}

static void assert_same(const struct zm_readings *a, size_t from, const struct zm_readings *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		assert_true(a->values[from + i] == b->values[i]);
		assert_int_equal(a->flags ? a->flags[from + i] : 0, b->flags ? b->flags[i] : 0);
	}
}

static void values_come_back(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 17, 300 };
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 2, 0);
	for (size_t round = 0; round < NR_SHAPES * 6 * 2 * 2; round++) {
		struct zm_readings in = { .form = round / 24 % 2 ? ZM_FORM_F64 : ZM_FORM_U64 };
		struct zm_readings out = { .form = in.form };
		zm_autobuf struct zm_buf buf = { 0 };
		struct zm_cursor cursor;

		fill(&in, shapes[round % NR_SHAPES], sizes[round / NR_SHAPES % 6], round % 2,
		     &random);
		zm_codec_put_readings(&buf, &in);
		cursor = zm_cursor(buf.data, buf.size);
		assert_int_equal(zm_codec_get_readings(&cursor, in.nr, &out), 0);
		assert_int_equal(zm_cursor_left(&cursor), 0);
		assert_int_equal(out.nr, in.nr);
		assert_same(&out, 0, &in);
		zm_readings_release(&in);
		zm_readings_release(&out);
	}
}

/* Pieces that are read one after the other make the whole, with and without flags in each. */
static void pieces_append(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 3, 0);
	for (unsigned int flags = 0; flags < 8; flags++) {
		struct zm_readings whole = { .form = ZM_FORM_U64 };
		size_t from = 0;

		for (unsigned int piece = 0; piece < 3; piece++) {
			struct zm_readings in = { .form = ZM_FORM_U64 };
			zm_autobuf struct zm_buf buf = { 0 };
			struct zm_cursor cursor;

			fill(&in, counter, 11 + piece * 40, flags >> piece & 1, &random);
			zm_codec_put_readings(&buf, &in);
			cursor = zm_cursor(buf.data, buf.size);
			assert_int_equal(zm_codec_get_readings(&cursor, in.nr, &whole), 0);
			assert_same(&whole, from, &in);
			from += in.nr;
			zm_readings_release(&in);
		}
		assert_int_equal(whole.nr, from);
		zm_readings_release(&whole);
	}
}

static void times_come_back(void **state)
{
	struct zm_random random;
	uint64_t in[200], out[200];

	(void)state;
	zm_random_init(&random, 4, 0);
	for (size_t round = 0; round < 300; round++) {
		size_t nr = zm_random_below(&random, 200);
		zm_autobuf struct zm_buf buf = { 0 };
		struct zm_cursor cursor;
		uint64_t t_ns = zm_random_next(&random) >> (round % 64);

		for (size_t i = 0; i < nr; i++)
			in[i] = round % 3 ? (t_ns += 1000000000 + zm_random_below(&random, 60000))
					  : zm_random_next(&random);
		zm_codec_put_times(&buf, in, nr);
		cursor = zm_cursor(buf.data, buf.size);
		zm_codec_get_times(&cursor, nr, out);
		assert_false(cursor.is_bad);
		assert_int_equal(zm_cursor_left(&cursor), 0);
		assert_memory_equal(in, out, nr * sizeof(in[0]));
	}
}

/* The sizes that the room promises: a steady second costs a byte, a jittery one three; what does not
 * move costs nothing, however long. */
static void steady_series_are_small(void **state)
{
	struct zm_readings still = { .form = ZM_FORM_U64 };
	zm_autobuf struct zm_buf buf = { 0 };
	struct zm_random random;
	uint64_t t_ns[1000];

	(void)state;
	zm_random_init(&random, 5, 0);
	for (size_t i = 0; i < 1000; i++)
		t_ns[i] = 5000000000 + i * 1000000000;
	zm_codec_put_times(&buf, t_ns, 1000);
	assert_true(buf.size < 1020);
	fill(&still, constant, 1000, false, &random);
	buf.size = 0;
	zm_codec_put_readings(&buf, &still);
	assert_true(buf.size < 12);
	zm_readings_release(&still);
}

static void fill_hist(struct zm_hist *hist, struct zm_random *random, size_t nr)
{
	memset(hist, 0, sizeof(*hist));
	for (size_t i = 0; i < nr; i++) {
		size_t bucket = zm_random_below(random, ZM_HIST_BUCKETS);

		hist->buckets[bucket] += zm_random_next(random) >> 40;
	}
	hist->count = zm_random_next(random);
	hist->sum = zm_random_next(random);
	hist->min = zm_random_next(random);
	hist->max = zm_random_next(random);
}

static void histograms_come_back(void **state)
{
	struct zm_hist *in = calloc(5, sizeof(*in));
	struct zm_hist *out = calloc(1, sizeof(*out));
	struct zm_readings readings = { .form = ZM_FORM_HIST }, twice = { .form = ZM_FORM_HIST };
	zm_autobuf struct zm_buf buf = { 0 };
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 6, 0);
	for (size_t i = 0; i < 5; i++) {
		fill_hist(&in[i], &random, i * i * 100);
		assert_int_equal(zm_readings_add_hist(&readings, &in[i], i == 2), 0);
	}
	zm_codec_put_readings(&buf, &readings);
	for (size_t copy = 0; copy < 2; copy++) {
		struct zm_cursor cursor = zm_cursor(buf.data, buf.size);

		assert_int_equal(zm_codec_get_readings(&cursor, 5, &twice), 0);
	}
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(zm_readings_hist(&twice, i, out), 0);
		assert_memory_equal(out, &in[i % 5], sizeof(*out));
		assert_int_equal(twice.flags[i], i % 5 == 2);
	}
	zm_readings_release(&readings);
	zm_readings_release(&twice);
	free(in);
	free(out);
}

/* Whatever the bytes, decoding ends, stays within its bounds (the sanitizers watch), and what it
 * accepts can be read. */
static void decode(const uint8_t *data, size_t size, size_t nr, enum zm_form form)
{
	struct zm_readings readings = { .form = form };
	struct zm_cursor cursor = zm_cursor(data, size);
	struct zm_hist *hist = calloc(1, sizeof(*hist));
	int error = zm_codec_get_readings(&cursor, nr, &readings);

	assert_true(error == 0 || error == -EUCLEAN);
	assert_int_equal(readings.nr, error ? 0 : nr);
	if (!error && form == ZM_FORM_HIST)
		for (size_t i = 0; i < nr; i++)
			assert_int_equal(zm_readings_hist(&readings, i, hist), 0);
	zm_readings_release(&readings);
	free(hist);
}

static void noise_is_harmless(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 7, 0);
	for (size_t round = 0; round < 30000; round++) {
		uint8_t data[64];
		size_t size = zm_random_below(&random, sizeof(data));

		for (size_t i = 0; i < size; i++)
			data[i] = (uint8_t)(zm_random_next(&random) >> zm_random_below(&random, 8));
		if (size > 1 && round % 2) {
			data[0] = 0;
			data[1] = (uint8_t)(round % 5);
		}
		decode(data, size, zm_random_below(&random, 40), round % 3);
	}
}

static void damage_is_harmless(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 8, 0);
	for (size_t round = 0; round < 10000; round++) {
		struct zm_readings in = { .form = round % 2 ? ZM_FORM_F64 : ZM_FORM_U64 };
		zm_autobuf struct zm_buf buf = { 0 };
		size_t nr = 1 + zm_random_below(&random, 30);

		fill(&in, shapes[round % NR_SHAPES], nr, round % 3 == 0, &random);
		zm_codec_put_readings(&buf, &in);
		for (size_t hits = 1 + zm_random_below(&random, 3); hits; hits--)
			buf.data[zm_random_below(&random, buf.size)] ^=
				(uint8_t)(1u << zm_random_below(&random, 8));
		decode(buf.data, zm_random_below(&random, buf.size + 1), nr, in.form);
		zm_readings_release(&in);
	}
}

static void too_many_readings_are_refused(void **state)
{
	struct zm_readings readings = { .form = ZM_FORM_U64 };
	struct zm_cursor cursor = zm_cursor("\0\1\0\0", 4);

	(void)state;
	assert_int_equal(zm_codec_get_readings(&cursor, ZM_READINGS_MAX + 1, &readings),
			 -EOVERFLOW);
	assert_int_equal(zm_codec_get_readings(&cursor, SIZE_MAX, &readings), -EOVERFLOW);
	zm_readings_release(&readings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back),
		cmocka_unit_test(pieces_append),
		cmocka_unit_test(times_come_back),
		cmocka_unit_test(steady_series_are_small),
		cmocka_unit_test(histograms_come_back),
		cmocka_unit_test(noise_is_harmless),
		cmocka_unit_test(damage_is_harmless),
		cmocka_unit_test(too_many_readings_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
