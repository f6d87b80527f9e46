/* payload: the same seed and pair give the same bytes, in whatever portions; stamps are known again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <string.h>

#include "netload/payload.h"

#define SIZE 10000

static const enum zm_net_payload kinds[] = { ZM_NET_PAYLOAD_TEXT, ZM_NET_PAYLOAD_RANDOM,
					     ZM_NET_PAYLOAD_ZERO };

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void fill(enum zm_net_payload kind, uint64_t seed, unsigned int pair, size_t portion,
		 unsigned char *data)
{
	struct zm_payload payload;

	assert_int_equal(zm_payload_open(&payload, kind, seed, pair, NULL), 0);
	for (size_t at = 0; at < SIZE; at += portion) {
		size_t size = SIZE - at < portion ? SIZE - at : portion;

		assert_int_equal(zm_payload_fill(&payload, data + at, size), 0);
	}
	zm_payload_release(&payload);
}

static void portions_do_not_matter(void **state)
{
	static const size_t portions[] = { 1, 7, 4096, 4097, SIZE };
	unsigned char once[SIZE], again[SIZE];

	(void)state;
	for (size_t i = 0; i < NR_KINDS; i++) {
		fill(kinds[i], 42, 3, SIZE, once);
		for (size_t j = 0; j < sizeof(portions) / sizeof(portions[0]); j++) {
			fill(kinds[i], 42, 3, portions[j], again);
			assert_memory_equal(once, again, SIZE);
		}
	}
}

static void seeds_and_pairs_differ(void **state)
{
	unsigned char a[SIZE], b[SIZE], c[SIZE];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		fill(kinds[i], 42, 0, SIZE, a);
		fill(kinds[i], 43, 0, SIZE, b);
		fill(kinds[i], 42, 1, SIZE, c);
		assert_memory_not_equal(a, b, SIZE);
		assert_memory_not_equal(a, c, SIZE);
		assert_memory_not_equal(b, c, SIZE);
	}
}

/* Random bytes have no favourite; text is text; zero is zero. */
static void kinds_are_what_they_say(void **state)
{
	unsigned char data[SIZE];
	unsigned int seen[256] = { 0 };

	(void)state;
	fill(ZM_NET_PAYLOAD_RANDOM, 1, 0, SIZE, data);
	for (size_t i = 0; i < SIZE; i++)
		seen[data[i]]++;
	for (size_t i = 0; i < 256; i++)
		assert_in_range(seen[i], 10, 80); /* 39 are expected */
	fill(ZM_NET_PAYLOAD_TEXT, 1, 0, SIZE, data);
	for (size_t i = 0; i < SIZE; i++)
		assert_true(isprint(data[i]) || data[i] == '\n');
	fill(ZM_NET_PAYLOAD_ZERO, 1, 0, SIZE, data);
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(data[i], 0);
}

static uint64_t digest_in_parts(struct zm_payload *payload, const unsigned char *data, size_t size,
				size_t part)
{
	uint64_t digest = 0;

	assert_int_equal(zm_payload_digest_begin(payload), 0);
	for (size_t at = 0; at < size; at += part) {
		size_t left = size - at < part ? size - at : part;

		assert_int_equal(zm_payload_digest_add(payload, data + at, left), 0);
	}
	assert_int_equal(zm_payload_digest_end(payload, &digest), 0);
	return digest;
}

static void a_digest_sees_every_byte(void **state)
{
	static const size_t places[] = { sizeof(struct zm_stamp), 100, 4095, SIZE - 1 };
	unsigned char data[SIZE];
	struct zm_payload payload;
	size_t skip = sizeof(struct zm_stamp);
	uint64_t whole, other;

	(void)state;
	fill(ZM_NET_PAYLOAD_RANDOM, 5, 0, SIZE, data);
	assert_int_equal(zm_payload_open(&payload, ZM_NET_PAYLOAD_ZERO, 5, 0, NULL), 0);
	assert_int_equal(zm_payload_open_digest(&payload, NULL), 0);
	assert_int_equal(zm_payload_digest(&payload, data, SIZE, &whole), 0);
	for (size_t part = 1; part <= SIZE; part *= 3)
		assert_int_equal(digest_in_parts(&payload, data + skip, SIZE - skip, part), whole);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		data[places[i]] ^= 1;
		assert_int_equal(zm_payload_digest(&payload, data, SIZE, &other), 0);
		assert_true(other != whole);
		data[places[i]] ^= 1;
	}
	zm_payload_release(&payload);
}

static void a_stamp_is_of_its_pair(void **state)
{
	struct zm_payload mine, others;
	struct zm_stamp stamp;

	(void)state;
	assert_int_equal(zm_payload_open(&mine, ZM_NET_PAYLOAD_ZERO, 5, 0, NULL), 0);
	assert_int_equal(zm_payload_open(&others, ZM_NET_PAYLOAD_ZERO, 5, 1, NULL), 0);
	zm_payload_stamp(&mine, &stamp, 100, 17, 99);
	assert_true(zm_payload_is_sealed(&mine, &stamp));
	assert_false(zm_payload_is_sealed(&others, &stamp));
	for (size_t i = 0; i < sizeof(stamp) * 8; i++) {
		((unsigned char *)&stamp)[i / 8] ^= (unsigned char)(1u << i % 8);
		assert_false(zm_payload_is_sealed(&mine, &stamp));
		((unsigned char *)&stamp)[i / 8] ^= (unsigned char)(1u << i % 8);
	}
	zm_payload_release(&mine);
	zm_payload_release(&others);
	zm_payload_release(&others);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(portions_do_not_matter),
		cmocka_unit_test(seeds_and_pairs_differ),
		cmocka_unit_test(kinds_are_what_they_say),
		cmocka_unit_test(a_digest_sees_every_byte),
		cmocka_unit_test(a_stamp_is_of_its_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
