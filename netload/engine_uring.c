/*
 * engine_uring: io_uring instead of one system call per message. Another workload than the
 * originals', for who asks what the machine can carry.
 *
 * Sending submits `depth` messages and waits for all of them. Where order is promised they are linked:
 * one that is taken only in part, or not, ends the chain, and the rest is sent anew behind it. UDP
 * promises none and is not linked. In a transaction the one message leaves with the next receive.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "netload/engine.h"
#include "netload/uring.h"

#ifndef ZM_HAVE_URING

static int check(const struct zm_family *family, const struct zm_net_options *options,
		 struct zm_why *why)
{
	(void)family;
	(void)options;
	return zm_why_set(
		why, -ENOTSUP,
		"engine=uring: this zonemark was built without liburing; install liburing-dev "
		"and build again");
}

const struct zm_net_engine zm_net_engine_uring = { .name = "uring", .check = check };

#else

/* --- making a ring --- */

/* From the newest way of running completions to the oldest; the first that this kernel knows. */
static int make_ring(struct io_uring *ring, unsigned int nr_entries, unsigned int nr_completions)
{
	static const unsigned int ways[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		IORING_SETUP_COOP_TASKRUN,
		0,
	};
	int r = -EINVAL;

	for (size_t i = 0; r == -EINVAL && i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct io_uring_params params = {
			.flags = ways[i] | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
			.cq_entries = nr_completions,
		};

		r = io_uring_queue_init_params(nr_entries, ring, &params);
	}
	return r;
}

int zm_uring_cannot(struct zm_why *why, int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return zm_why_set(
			why, -ENOTSUP,
			"engine=uring: io_uring is forbidden here (kernel.io_uring_disabled, or "
			"a container's filter); engine=syscall needs no permission");
	case -ENOSYS:
		return zm_why_set(why, -ENOTSUP,
				  "engine=uring: this kernel has no io_uring; take engine=syscall");
	case -ENOMEM:
		return zm_why_set(why, -ENOMEM,
				  "engine=uring: the limit of locked memory is too small: raise it "
				  "(ulimit -l), ask for a smaller depth, or take engine=syscall");
	default:
		return zm_why_errno(why, error, "engine=uring: io_uring");
	}
}

static int check_family(const struct zm_family *family, const struct zm_net_options *options,
			struct zm_why *why)
{
	if (family->call == ZM_CALL_SCTP)
		return zm_why_set(
			why, -EINVAL,
			"engine=uring cannot tell SCTP's notifications from its messages; "
			"take engine=syscall");
	if (options->gso)
		return zm_why_set(why, -EINVAL, "gso=on needs engine=batch");
	if (options->zerocopy && !family->is_inet)
		return zm_why_set(why, -EINVAL, "zerocopy=on is for UDP and TCP");
	return 0;
}

static int check(const struct zm_family *family, const struct zm_net_options *options,
		 struct zm_why *why)
{
	struct io_uring ring;
	int r = check_family(family, options, why);

	if (r < 0)
		return r;
	r = make_ring(&ring, 2, 4);
	if (r < 0)
		return zm_uring_cannot(why, r);
	io_uring_queue_exit(&ring);
	return 0;
}

/* The buffers that are sent from, once for all messages. */
static int register_buffers(struct zm_flow *flow, struct zm_why *why)
{
	struct zm_uring *uring = flow->engine_state;
	const struct iovec memory = {
		.iov_base = flow->out.memory,
		.iov_len = flow->out.memory_bytes,
	};
	int r;

	if (flow->out.nr == 0 || !(flow->options->zerocopy || flow->family == &zm_family_pipe))
		return 0;
	r = io_uring_register_buffers(&uring->ring, &memory, 1);
	if (r < 0)
		return zm_uring_cannot(why, r);
	uring->has_fixed_buffers = true;
	return 0;
}

static unsigned int completions_for(const struct zm_flow *flow)
{
	unsigned int nr = 4 * zm_net_engine_depth(flow->options) + 8;

	return flow->in.nr > nr ? 2 * flow->in.nr : nr;
}

static int open_ring(struct zm_flow *flow, struct zm_why *why)
{
	struct zm_uring *uring = flow->engine_state;
	unsigned int depth = zm_net_engine_depth(flow->options);
	int r = make_ring(&uring->ring, depth + 2, completions_for(flow));

	if (r < 0)
		return zm_uring_cannot(why, r);
	uring->has_ring = true;
	r = io_uring_register_files(&uring->ring, &flow->fd, 1);
	return r < 0 ? zm_uring_cannot(why, r) : 0;
}

static int open_engine(struct zm_flow *flow, bool is_client, struct zm_why *why)
{
	struct zm_uring *uring = calloc(1, sizeof(*uring));
	int r;

	(void)is_client;
	if (!uring)
		return zm_why_set(why, -ENOMEM, "no memory for io_uring's state");
	flow->engine_state = uring;
	uring->is_transaction = flow->in.nr > 0 && flow->out.nr > 0;
	uring->is_impatient = uring->is_transaction && is_client && flow->family->may_lose;
	r = open_ring(flow, why);
	if (r == 0)
		r = register_buffers(flow, why);
	if (r == 0 && flow->in.nr > 0)
		r = zm_uring_recv_open(flow, why);
	return r;
}

static void close_engine(struct zm_flow *flow)
{
	struct zm_uring *uring = flow->engine_state;

	if (!uring)
		return;
	if (uring->has_ring)
		io_uring_queue_exit(&uring->ring);
	zm_uring_recv_close(flow);
	free(uring);
	flow->engine_state = NULL;
}

struct io_uring_sqe *zm_uring_sqe(struct zm_uring *uring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);

	if (!sqe) {
		(void)io_uring_submit(&uring->ring);
		sqe = io_uring_get_sqe(&uring->ring);
	}
	return sqe;
}

/* --- sending --- */

/* One burst under way: which messages, how far. */
struct burst {
	const struct iovec *messages;
	unsigned int nr;
	unsigned int at; /* the first that is not settled */
	size_t done;     /* bytes of it that have gone */
	struct msghdr headers[ZM_NET_MAX_DEPTH];
	int results[ZM_NET_MAX_DEPTH];
};

static void prepare_datagram(struct zm_flow *flow, struct io_uring_sqe *sqe, struct burst *burst,
			     unsigned int i)
{
	burst->headers[i] = (struct msghdr){
		.msg_name = &flow->peer.storage,
		.msg_namelen = flow->peer.length,
		.msg_iov = (struct iovec *)(uintptr_t)&burst->messages[i],
		.msg_iovlen = 1,
	};
	io_uring_prep_sendmsg(sqe, 0, &burst->headers[i], 0);
}

static void prepare_send(struct zm_flow *flow, struct io_uring_sqe *sqe, struct burst *burst,
			 unsigned int i)
{
	const struct zm_uring *uring = flow->engine_state;
	size_t skip = i == burst->at ? burst->done : 0;
	char *data = (char *)burst->messages[i].iov_base + skip;
	size_t size = burst->messages[i].iov_len - skip;
	bool is_datagram = flow->family->call == ZM_CALL_SENDTO;
	int flags = MSG_NOSIGNAL | (flow->family->keeps_borders ? 0 : MSG_WAITALL);

	if (flow->options->zerocopy) {
		io_uring_prep_send_zc_fixed(sqe, 0, data, size, flags, 0, 0);
		if (is_datagram)
			io_uring_prep_send_set_addr(sqe,
						    (const struct sockaddr *)&flow->peer.storage,
						    (uint16_t)flow->peer.length);
	} else if (flow->family == &zm_family_pipe) {
		if (uring->has_fixed_buffers)
			io_uring_prep_write_fixed(sqe, 0, data, (unsigned int)size, 0, 0);
		else
			io_uring_prep_write(sqe, 0, data, (unsigned int)size, 0);
	} else if (is_datagram) {
		prepare_datagram(flow, sqe, burst, i);
	} else {
		io_uring_prep_send(sqe, 0, data, size, flags);
	}
	sqe->flags |= IOSQE_FIXED_FILE;
	io_uring_sqe_set_data64(sqe, i);
}

/* -EBUSY would mean that the queue is too short, which its size forbids. */
static int queue_burst(struct zm_flow *flow, struct burst *burst)
{
	struct zm_uring *uring = flow->engine_state;

	for (unsigned int i = burst->at; i < burst->nr; i++) {
		struct io_uring_sqe *sqe = zm_uring_sqe(uring);

		if (!sqe)
			return -EBUSY;
		prepare_send(flow, sqe, burst, i);
		if (!flow->family->may_lose && i + 1 < burst->nr)
			sqe->flags |= IOSQE_IO_LINK;
	}
	return 0;
}

/* Takes completions until every message of the burst has its result, and, with zero copy, the kernel
 * has let go of the memory. */
static int await_burst(struct zm_flow *flow, struct burst *burst)
{
	struct zm_uring *uring = flow->engine_state;
	unsigned int nr_left = burst->nr - burst->at;

	while (nr_left > 0) {
		struct io_uring_cqe *cqe;
		int r = io_uring_submit_and_wait(&uring->ring, 1);

		if (r < 0 && r != -EINTR)
			return r;
		while (nr_left > 0 && io_uring_peek_cqe(&uring->ring, &cqe) == 0) {
			uint64_t i = io_uring_cqe_get_data64(cqe);

			if (!(cqe->flags & IORING_CQE_F_NOTIF))
				burst->results[i] = cqe->res;
			if (!(cqe->flags & IORING_CQE_F_MORE))
				nr_left--;
			io_uring_cqe_seen(&uring->ring, cqe);
		}
	}
	return 0;
}

static bool is_to_repeat(int result)
{
	return result == -ECANCELED || result == -EINTR || result == -EAGAIN;
}

/* The results in the messages' order, up to the first that must be sent anew. */
static int settle_burst(const struct zm_flow *flow, struct burst *burst, struct zm_moved *moved)
{
	while (burst->at < burst->nr) {
		size_t left = burst->messages[burst->at].iov_len - burst->done;
		int result = burst->results[burst->at];

		if (result < 0 && zm_net_is_refusal(flow, -result)) {
			moved->refused++;
			burst->at++;
			continue;
		}
		if (is_to_repeat(result))
			return 0;
		if (result < 0)
			return result;
		moved->bytes += (uint64_t)result;
		if ((size_t)result < left) {
			burst->done += (size_t)result;
			return 0;
		}
		moved->messages++;
		burst->at++;
		burst->done = 0;
	}
	return 0;
}

static int send_burst(struct zm_flow *flow, const struct iovec *messages, unsigned int nr,
		      struct zm_moved *moved)
{
	struct burst burst;
	int r = 0;

	burst.messages = messages;
	burst.nr = nr;
	burst.at = 0;
	burst.done = 0;
	while (r == 0 && burst.at < nr) {
		r = queue_burst(flow, &burst);
		if (r == 0)
			r = await_burst(flow, &burst);
		if (r == 0)
			r = settle_burst(flow, &burst, moved);
	}
	return r;
}

/* A transaction's message is one, and small: it is taken whole or not at all. */
static int send_later(struct zm_flow *flow, const struct iovec *message, struct zm_moved *moved)
{
	struct zm_uring *uring = flow->engine_state;
	struct io_uring_sqe *sqe = zm_uring_sqe(uring);

	if (uring->send_error < 0)
		return uring->send_error;
	if (!sqe)
		return -EBUSY;
	uring->sent = *message;
	uring->sent_header = (struct msghdr){
		.msg_name = flow->family->call == ZM_CALL_SENDTO ? &flow->peer.storage : NULL,
		.msg_namelen = flow->family->call == ZM_CALL_SENDTO ? flow->peer.length : 0,
		.msg_iov = &uring->sent,
		.msg_iovlen = 1,
	};
	io_uring_prep_sendmsg(sqe, 0, &uring->sent_header,
			      MSG_NOSIGNAL | (flow->family->keeps_borders ? 0 : MSG_WAITALL));
	sqe->flags |= IOSQE_FIXED_FILE;
	io_uring_sqe_set_data64(sqe, 0);
	moved->messages++;
	moved->bytes += message->iov_len;
	return 0;
}

static int send_all(struct zm_flow *flow, const struct iovec *messages, unsigned int nr,
		    struct zm_moved *moved)
{
	const struct zm_uring *uring = flow->engine_state;

	if (uring->is_transaction)
		return send_later(flow, messages, moved);
	return send_burst(flow, messages, nr, moved);
}

const struct zm_net_engine zm_net_engine_uring = {
	.name = "uring",
	.check = check,
	.open = open_engine,
	.send = send_all,
	.recv = zm_uring_recv,
	.close = close_engine,
};
#endif
