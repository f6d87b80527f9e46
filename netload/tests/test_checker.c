/* checker: finds messages wherever calls cut them; sees content, order, gaps; forgives what may be lost. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "netload/checker.h"
#include "workloads/base/random.h"

#define NR    100
#define LARGE 5000

/* A stream of NR stamped messages of odd sizes. */
struct stream {
	unsigned char *data;
	size_t at[NR + 1]; /* where each begins; the last: the end */
};

static size_t size_of(unsigned int i)
{
	return sizeof(struct zm_stamp) + (i * 997) % LARGE;
}

static void stream_init(struct stream *stream, unsigned int first)
{
	struct zm_payload payload;

	stream->data = malloc(NR * (LARGE + sizeof(struct zm_stamp)));
	stream->at[0] = 0;
	assert_int_equal(zm_payload_open(&payload, ZM_NET_PAYLOAD_RANDOM, 7, 2, NULL), 0);
	assert_int_equal(zm_payload_open_digest(&payload, NULL), 0);
	for (unsigned int i = 0; i < NR; i++) {
		unsigned char *message = stream->data + stream->at[i];
		uint64_t digest;

		assert_int_equal(zm_payload_fill(&payload, message, size_of(i)), 0);
		assert_int_equal(zm_payload_digest(&payload, message, size_of(i), &digest), 0);
		zm_payload_stamp(&payload, message, size_of(i), first + i, digest);
		stream->at[i + 1] = stream->at[i] + size_of(i);
	}
	zm_payload_release(&payload);
}

static void open_checker(struct zm_checker *checker, enum zm_net_verify verify, bool borders,
			 bool lossy)
{
	assert_int_equal(zm_checker_open(checker, verify, 7, 2, borders, lossy, NULL), 0);
}

static int feed_message(struct zm_checker *checker, const struct stream *stream, unsigned int i,
			struct zm_why *why)
{
	return zm_checker_feed(checker, stream->data + stream->at[i], size_of(i), why);
}

static void any_cut_will_do(void **state)
{
	struct zm_random random;
	struct stream stream;

	(void)state;
	stream_init(&stream, 0);
	zm_random_init(&random, 1, 0);
	for (unsigned int round = 0; round < 20; round++) {
		uint64_t most = 1 + zm_random_below(&random, round < 10 ? 50 : 20000);
		struct zm_checker checker;

		open_checker(&checker, ZM_NET_VERIFY_FULL, false, false);
		for (size_t at = 0; at < stream.at[NR];) {
			size_t part = 1 + zm_random_below(&random, most);

			if (part > stream.at[NR] - at)
				part = stream.at[NR] - at;
			assert_int_equal(zm_checker_feed(&checker, stream.data + at, part, NULL),
					 0);
			at += part;
		}
		assert_int_equal(checker.checked, NR);
		assert_int_equal(checker.have, 0);
		zm_checker_release(&checker);
	}
	free(stream.data);
}

static void a_sample_is_one_in_64(void **state)
{
	struct zm_checker checker;
	struct stream stream;

	(void)state;
	stream_init(&stream, 0);
	open_checker(&checker, ZM_NET_VERIFY_SAMPLE, false, false);
	assert_int_equal(zm_checker_feed(&checker, stream.data, stream.at[NR], NULL), 0);
	assert_int_equal(checker.checked, 2); /* 0 and 64 */
	zm_checker_release(&checker);
	free(stream.data);
}

static void a_changed_bit_is_seen(void **state)
{
	struct stream stream;

	(void)state;
	stream_init(&stream, 0);
	for (size_t at = 0; at < stream.at[10]; at += 61) {
		struct zm_checker checker;
		struct zm_why why = { 0 };

		stream.data[at] ^= 0x10;
		open_checker(&checker, ZM_NET_VERIFY_FULL, false, false);
		assert_int_equal(zm_checker_feed(&checker, stream.data, stream.at[NR], &why),
				 -EBADMSG);
		assert_non_null(strstr(why.text, "verify: "));
		zm_checker_release(&checker);
		stream.data[at] ^= 0x10;
	}
	free(stream.data);
}

static void order_is_strict_where_nothing_may_be_lost(void **state)
{
	static const unsigned int wrong[][3] = {
		{ 0, 2, 1 }, { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }
	};
	struct stream stream;

	(void)state;
	stream_init(&stream, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct zm_checker checker;
		int r = 0;

		open_checker(&checker, ZM_NET_VERIFY_FULL, true, false);
		for (unsigned int j = 0; r == 0 && j < 3; j++)
			r = feed_message(&checker, &stream, wrong[i][j], NULL);
		assert_int_equal(r, -EBADMSG);
		zm_checker_release(&checker);
	}
	free(stream.data);
}

static void gaps_and_laggards_are_counted(void **state)
{
	static const unsigned int order[] = { 0, 1, 5, 3, 6, 6, 9 };
	struct zm_checker checker;
	struct stream stream;

	(void)state;
	stream_init(&stream, 0);
	open_checker(&checker, ZM_NET_VERIFY_FULL, true, true);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		assert_int_equal(feed_message(&checker, &stream, order[i], NULL), 0);
	assert_int_equal(checker.missing, 3 + 2);
	assert_int_equal(checker.late, 2);
	assert_int_equal(checker.checked, 7);
	zm_checker_release(&checker);
	free(stream.data);
}

static void a_cut_datagram_is_seen(void **state)
{
	struct zm_checker checker;
	struct stream stream;

	(void)state;
	stream_init(&stream, 0);
	open_checker(&checker, ZM_NET_VERIFY_FULL, true, true);
	assert_int_equal(feed_message(&checker, &stream, 0, NULL), 0);
	assert_int_equal(
		zm_checker_feed(&checker, stream.data + stream.at[1], size_of(1) - 1, NULL),
		-EBADMSG);
	zm_checker_release(&checker);
	free(stream.data);
}

static void a_file_goes_round(void **state)
{
	struct zm_checker checker;
	struct stream stream;

	(void)state;
	stream_init(&stream, 0);
	open_checker(&checker, ZM_NET_VERIFY_FULL, false, false);
	checker.cycle = NR;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(zm_checker_feed(&checker, stream.data, stream.at[NR], NULL), 0);
	assert_int_equal(checker.checked, 3 * NR);
	assert_int_equal(feed_message(&checker, &stream, 1, NULL), -EBADMSG);
	zm_checker_release(&checker);
	free(stream.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_cut_will_do),
		cmocka_unit_test(a_sample_is_one_in_64),
		cmocka_unit_test(a_changed_bit_is_seen),
		cmocka_unit_test(order_is_strict_where_nothing_may_be_lost),
		cmocka_unit_test(gaps_and_laggards_are_counted),
		cmocka_unit_test(a_cut_datagram_is_seen),
		cmocka_unit_test(a_file_goes_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
