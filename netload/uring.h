/*
 * uring: the state of an end that moves its bytes with io_uring, and its receiving half.
 *
 *     engine_uring.c   check, open, close, sending
 *     uring_recv.c     receiving: one multishot request that fills provided buffers, or one request
 *                      at a time where the kernel (or the pipe) knows no other way
 *
 * Each end has a ring of its own, made by the task that uses it. Its descriptor is registered. What
 * this kernel offers is asked when the ring is made: who gets less than the newest still gets his
 * bytes moved.
 */
#ifndef ZM_NETLOAD_URING_H
#define ZM_NETLOAD_URING_H

#ifdef ZM_HAVE_URING
#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

#include "netload/engine.h"
#include "workloads/base/why.h"

/* Newer than the oldest liburing that is built with; the numbers are the kernel's interface. */
#ifndef IORING_RECVSEND_BUNDLE
#define IORING_RECVSEND_BUNDLE (1U << 4)
#endif
#define ZM_URING_FEAT_BUNDLE (1U << 14)

/* What a completion belongs to: the place of a message among those sent, or this. */
#define ZM_URING_RECV UINT64_MAX

struct zm_uring {
	struct io_uring ring;
	bool has_ring;
	bool has_fixed_buffers; /* the sending ring's memory is registered */
	bool is_transaction;    /* sends leave with the next receive: one crossing for both */
	bool is_impatient;      /* a receive gives up after a second: what is sent may be lost */
	int send_error;         /* of a send that left with a receive */
	struct iovec sent;      /* that message */
	struct msghdr sent_header;

	/* Receiving. */
	bool is_armed;
	bool is_multishot;
	bool is_bundle; /* one completion may fill several buffers */
	struct io_uring_buf_ring *provided;
	size_t provided_bytes;
	unsigned int nr_places; /* in the ring of provided buffers: a power of two */
	unsigned int nr_buffers;
	uint16_t *order; /* the buffers in the order in which the kernel will take them */
	unsigned int head, nr_queued;
	unsigned int nr_lent; /* of the oldest, given out as pieces since the last call */
	uint16_t lent[ZM_NET_MAX_DEPTH];
};

/* The sentence for what a call of io_uring came to. Returns -ENOTSUP where it is forbidden or not there,
 * otherwise `error`. */
int zm_uring_cannot(struct zm_why *why, int error);

int zm_uring_recv_open(struct zm_flow *flow, struct zm_why *why);
void zm_uring_recv_close(struct zm_flow *flow);
int zm_uring_recv(struct zm_flow *flow, struct zm_piece *pieces);

/* The next free submission; submits when there is none. */
struct io_uring_sqe *zm_uring_sqe(struct zm_uring *uring);
#endif

#endif
