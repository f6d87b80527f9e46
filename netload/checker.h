/*
 * checker: the receiver's side of `verify`: does what arrives hold what was sent, in that order?
 *
 * Fed with what each receiving call brought. Where a family keeps message borders, a piece is a
 * message; on a byte stream the checker finds the messages by their stamps, wherever calls cut them.
 *
 *     reliable   each message must be the one that follows its predecessor
 *     may lose   a gap is counted as missing, a message older than one seen before as late
 *
 * A message with other content than its stamp says is an error that ends the run: its figures would
 * be about something else.
 */
#ifndef ZM_NETLOAD_CHECKER_H
#define ZM_NETLOAD_CHECKER_H

#include "netload/payload.h"

struct zm_checker {
	struct zm_payload payload;
	bool keeps_borders;
	bool may_lose;
	uint64_t mask;  /* a message whose number has none of these bits is digested */
	uint64_t cycle; /* the numbers repeat after so many messages (a file sent round and round);
			    0: never */
	uint64_t next;  /* the number due */
	struct zm_stamp stamp; /* of the message that is being read */
	size_t have;           /* bytes of it so far, stamp included */
	bool is_digesting;

	uint64_t checked; /* messages whose content was digested */
	uint64_t missing;
	uint64_t late;
	uint64_t spent_ns; /* in digesting */
};

int zm_checker_open(struct zm_checker *checker, enum zm_net_verify verify, uint64_t seed,
		    unsigned int pair, bool keeps_borders, bool may_lose, struct zm_why *why);
void zm_checker_release(struct zm_checker *checker);

/* 0; -EBADMSG with the sentence; -EIO when libcrypto fails. */
int zm_checker_feed(struct zm_checker *checker, const void *data, size_t size, struct zm_why *why);

#endif
