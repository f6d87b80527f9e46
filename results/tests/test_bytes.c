/* bytes: what is written is read back; what is not of the form is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/bytes.h"
#include "workloads/base/random.h"

static const uint64_t numbers[] = { 0,          1,          127,        128,
				    16383,      16384,      UINT32_MAX, 1ull << 32,
				    1ull << 62, 1ull << 63, UINT64_MAX };
#define NR_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void varints_come_back(void **state)
{
	zm_autobuf struct zm_buf buf = { 0 };
	struct zm_cursor cursor;

	(void)state;
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		zm_buf_varint(&buf, numbers[i]);
		zm_buf_zigzag(&buf, (int64_t)numbers[i]);
		zm_buf_zigzag(&buf, -(int64_t)(numbers[i] / 2));
	}
	assert_int_equal(buf.error, 0);
	cursor = zm_cursor(buf.data, buf.size);
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		assert_true(zm_cursor_varint(&cursor) == numbers[i]);
		assert_true(zm_cursor_zigzag(&cursor) == (int64_t)numbers[i]);
		assert_true(zm_cursor_zigzag(&cursor) == -(int64_t)(numbers[i] / 2));
	}
	assert_false(cursor.is_bad);
	assert_int_equal(zm_cursor_left(&cursor), 0);
}

static void small_numbers_are_short(void **state)
{
	static const struct {
		int64_t value;
		size_t size;
	} cases[] = { { 0, 1 }, { -1, 1 }, { 63, 1 }, { -64, 1 }, { 64, 2 }, { INT64_MIN, 10 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		zm_autobuf struct zm_buf buf = { 0 };

		zm_buf_zigzag(&buf, cases[i].value);
		assert_int_equal(buf.size, cases[i].size);
	}
}

static void a_varint_out_of_form_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
		{ "", 0 },
		{ "\x80", 1 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_cursor cursor = zm_cursor(cases[i].bytes, cases[i].size);

		assert_true(zm_cursor_varint(&cursor) == 0);
		assert_true(cursor.is_bad);
		assert_int_equal(zm_cursor_left(&cursor), 0);
		assert_null(zm_cursor_bytes(&cursor, 0));
	}
}

static void texts_come_back(void **state)
{
	static const char *const texts[] = { "", "pages/s", "a\nb\"c", "\xc3\xbc\xff" };
	zm_autobuf struct zm_buf buf = { 0 };
	struct zm_cursor cursor;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		zm_buf_text(&buf, texts[i]);
	cursor = zm_cursor(buf.data, buf.size);
	for (size_t i = 0; i < 4; i++) {
		char *text = zm_cursor_text(&cursor);

		assert_string_equal(text, texts[i]);
		free(text);
	}
}

static void texts_out_of_form_are_refused(void **state)
{
	static const uint8_t with_nul[] = { 3, 'a', 0, 'b' };
	static const uint8_t too_long[] = { 5, 'a', 'b', 'c' };
	struct zm_cursor cursor = zm_cursor(with_nul, sizeof(with_nul));

	(void)state;
	assert_null(zm_cursor_text(&cursor));
	assert_true(cursor.is_bad);
	cursor = zm_cursor(too_long, sizeof(too_long));
	assert_null(zm_cursor_text(&cursor));
	assert_true(cursor.is_bad);
}

static void packs_and_unpacks(struct zm_packer **packer, const uint8_t *data, size_t size)
{
	zm_autobuf struct zm_buf packed = { 0 };
	zm_autobuf struct zm_buf plain = { 0 };

	assert_int_equal(zm_pack(packer, &packed, data, size), 0);
	assert_true(packed.size <= size + 1);
	assert_int_equal(zm_unpack(packed.data, packed.size, &plain), 0);
	assert_int_equal(plain.size, size);
	if (size)
		assert_memory_equal(plain.data, data, size);
}

static void packing_never_makes_longer(void **state)
{
	struct zm_packer *packer = NULL;
	struct zm_random random;
	uint8_t *data = malloc(100000);

	(void)state;
	zm_random_init(&random, 1, 0);
	for (size_t size = 0; size < 100000; size = size * 2 + 1) {
		memset(data, 7, size);
		packs_and_unpacks(&packer, data, size);
		for (size_t i = 0; i < size; i++)
			data[i] = (uint8_t)zm_random_next(&random);
		packs_and_unpacks(&packer, data, size);
	}
	free(data);
	zm_packer_free(packer);
}

/* A frame that says it holds more than is allowed, one without a size, and ones cut short. */
static void hostile_packs_are_refused(void **state)
{
	static const uint8_t huge[] = { 1, 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0,
					0, 0,    1,    0,    0,    1,    0, 0 };
	static const uint8_t sizeless[] = { 1, 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 1, 0, 0 };
	static const uint8_t unknown[] = { 2, 'z', 'z' };
	zm_autobuf struct zm_buf packed = { 0 };
	struct zm_packer *packer = NULL;
	struct zm_buf plain = { 0 };
	uint8_t zeros[4096] = { 0 };

	(void)state;
	assert_int_equal(zm_unpack(huge, sizeof(huge), &plain), -EUCLEAN);
	assert_int_equal(zm_unpack(sizeless, sizeof(sizeless), &plain), -EUCLEAN);
	assert_int_equal(zm_unpack(unknown, sizeof(unknown), &plain), -EUCLEAN);
	assert_int_equal(zm_unpack("", 0, &plain), -EUCLEAN);
	assert_int_equal(zm_pack(&packer, &packed, zeros, sizeof(zeros)), 0);
	for (size_t size = 1; size < packed.size; size++)
		assert_int_equal(zm_unpack(packed.data, size, &plain), -EUCLEAN);
	assert_null(plain.data);
	zm_packer_free(packer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_come_back),
		cmocka_unit_test(small_numbers_are_short),
		cmocka_unit_test(a_varint_out_of_form_is_refused),
		cmocka_unit_test(texts_come_back),
		cmocka_unit_test(texts_out_of_form_are_refused),
		cmocka_unit_test(packing_never_makes_longer),
		cmocka_unit_test(hostile_packs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
