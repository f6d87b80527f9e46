/* checker: a small machine over bytes: stamp, then body, then the next stamp. */
#include "netload/checker.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "workloads/base/clock.h"

#define SAMPLE_MASK 63

int zm_checker_open(struct zm_checker *checker, enum zm_net_verify verify, uint64_t seed,
		    unsigned int pair, bool keeps_borders, bool may_lose, struct zm_why *why)
{
	int r;

	*checker = (struct zm_checker){
		.keeps_borders = keeps_borders,
		.may_lose = may_lose,
		.mask = verify == ZM_NET_VERIFY_SAMPLE ? SAMPLE_MASK : 0,
	};
	r = zm_payload_open(&checker->payload, ZM_NET_PAYLOAD_ZERO, seed, pair, why);
	return r == 0 ? zm_payload_open_digest(&checker->payload, why) : r;
}

void zm_checker_release(struct zm_checker *checker)
{
	zm_payload_release(&checker->payload);
}

static int check_order(struct zm_checker *checker, struct zm_why *why)
{
	uint64_t number = checker->stamp.number, due = checker->next;

	if (checker->cycle)
		due %= checker->cycle;
	if (number == due) {
		checker->next++;
		return 0;
	}
	if (!checker->may_lose)
		return zm_why_set(why, -EBADMSG,
				  "verify: message %" PRIu64 " came where %" PRIu64 " was due",
				  number, due);
	if (number < due) {
		checker->late++;
		return 0;
	}
	checker->missing += number - due;
	checker->next = number + 1;
	return 0;
}

/* The stamp is complete: is it one of this pair's, and is it the next? */
static int begin_message(struct zm_checker *checker, struct zm_why *why)
{
	int r;

	if (!zm_payload_is_sealed(&checker->payload, &checker->stamp) ||
	    checker->stamp.size < sizeof(checker->stamp))
		return zm_why_set(why, -EBADMSG,
				  "verify: what came after message %" PRIu64
				  " is not a message of this pair",
				  checker->next);
	r = check_order(checker, why);
	checker->is_digesting = (checker->stamp.number & checker->mask) == 0;
	if (r == 0 && checker->is_digesting)
		r = zm_payload_digest_begin(&checker->payload);
	return r;
}

static int end_message(struct zm_checker *checker, struct zm_why *why)
{
	uint64_t digest;
	int r;

	checker->have = 0;
	if (!checker->is_digesting)
		return 0;
	r = zm_payload_digest_end(&checker->payload, &digest);
	if (r < 0)
		return r;
	checker->checked++;
	if (digest == checker->stamp.digest)
		return 0;
	return zm_why_set(why, -EBADMSG,
			  "verify: message %" PRIu64 " (%" PRIu32
			  " bytes) arrived with other content than it was sent with",
			  checker->stamp.number, checker->stamp.size);
}

static int take_stamp(struct zm_checker *checker, const unsigned char *data, size_t size,
		      size_t *ret_taken, struct zm_why *why)
{
	size_t want = sizeof(checker->stamp) - checker->have;

	*ret_taken = size < want ? size : want;
	memcpy((char *)&checker->stamp + checker->have, data, *ret_taken);
	checker->have += *ret_taken;
	return checker->have == sizeof(checker->stamp) ? begin_message(checker, why) : 0;
}

static int take_body(struct zm_checker *checker, const unsigned char *data, size_t size,
		     size_t *ret_taken)
{
	size_t want = checker->stamp.size - checker->have;
	uint64_t start_ns;
	int r;

	*ret_taken = size < want ? size : want;
	checker->have += *ret_taken;
	if (!checker->is_digesting)
		return 0;
	start_ns = zm_clock_now_ns();
	r = zm_payload_digest_add(&checker->payload, data, *ret_taken);
	checker->spent_ns += zm_clock_now_ns() - start_ns;
	return r;
}

static int check_borders(const struct zm_checker *checker, size_t size, struct zm_why *why)
{
	if (!checker->keeps_borders || checker->have == 0)
		return 0;
	return zm_why_set(why, -EBADMSG,
			  "verify: message %" PRIu64
			  " came cut: %zu bytes in one piece of a message",
			  checker->next, size);
}

int zm_checker_feed(struct zm_checker *checker, const void *data, size_t size, struct zm_why *why)
{
	const unsigned char *bytes = data;
	size_t left = size, taken;
	int r = 0;

	while (r == 0 && left > 0) {
		if (checker->have < sizeof(checker->stamp))
			r = take_stamp(checker, bytes, left, &taken, why);
		else
			r = take_body(checker, bytes, left, &taken);
		if (r == 0 && checker->have >= sizeof(checker->stamp) &&
		    checker->have == checker->stamp.size)
			r = end_message(checker, why);
		bytes += taken;
		left -= taken;
	}
	return r < 0 ? r : check_borders(checker, size, why);
}
