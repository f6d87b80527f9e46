/*
 * engine_batch: many datagrams per crossing into the kernel: sendmmsg and recvmmsg, and with gso=on
 * one large buffer that the kernel cuts (UDP_SEGMENT) and merges (UDP_GRO).
 *
 * Not what the originals do: it says what the machine can carry.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "netload/engine.h"

/* The kernel's bounds of one segmented buffer. */
#define MAX_SEGMENTS      64
#define MAX_SEGMENT_BYTES 65507

struct batch {
	unsigned int depth;
	unsigned int nr_segments; /* messages per segmented buffer; 0: gso is off */
	struct mmsghdr *headers;
	struct iovec *slots; /* receiving */
	char (*controls)[CMSG_SPACE(sizeof(int))];
};

static int check(const struct zm_family *family, const struct zm_net_options *options,
		 struct zm_why *why)
{
	if (family != &zm_family_udp && family != &zm_family_unix_dgram)
		return zm_why_set(
			why, -EINVAL,
			"engine=batch sends datagrams; a byte stream takes larger messages "
			"instead (send_size)");
	if (options->zerocopy)
		return zm_why_set(why, -EINVAL, "zerocopy=on needs engine=uring");
	if (!options->gso)
		return 0;
	if (family != &zm_family_udp)
		return zm_why_set(why, -EINVAL, "gso=on is UDP's");
	if (options->shape)
		return zm_why_set(why, -EINVAL,
				  "gso=on sends messages of one size; a shape has many");
	if (2 * options->send_size > MAX_SEGMENT_BYTES)
		return zm_why_set(why, -EINVAL,
				  "gso=on: two messages must fit into %d bytes; send smaller ones",
				  MAX_SEGMENT_BYTES);
	return 0;
}

static unsigned int segments_of(const struct zm_net_options *options)
{
	uint64_t fit = MAX_SEGMENT_BYTES / options->send_size;

	fit = fit < MAX_SEGMENTS ? fit : MAX_SEGMENTS;
	return fit < options->depth ? (unsigned int)fit : (unsigned int)options->depth;
}

static int set_gso(const struct zm_flow *flow, struct zm_why *why)
{
	int size = (int)flow->options->send_size, on = 1;

	if (!flow->options->gso)
		return 0;
	if (setsockopt(flow->fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) < 0 ||
	    setsockopt(flow->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) < 0)
		return zm_why_errno(why, -errno, "gso=on: this kernel does not cut UDP messages");
	return 0;
}

static int open_engine(struct zm_flow *flow, bool is_client, struct zm_why *why)
{
	unsigned int depth = zm_net_engine_depth(flow->options);
	struct batch *batch = calloc(1, sizeof(*batch));

	(void)is_client;
	if (!batch)
		return zm_why_set(why, -ENOMEM, "no memory for a batch of %u messages", depth);
	flow->engine_state = batch;
	batch->depth = depth;
	batch->nr_segments = flow->options->gso ? segments_of(flow->options) : 0;
	batch->headers = calloc(depth, sizeof(*batch->headers));
	batch->slots = calloc(depth, sizeof(*batch->slots));
	batch->controls = calloc(depth, sizeof(*batch->controls));
	if (!batch->headers || !batch->slots || !batch->controls)
		return zm_why_set(why, -ENOMEM, "no memory for a batch of %u messages", depth);
	return set_gso(flow, why);
}

static void close_engine(struct zm_flow *flow)
{
	struct batch *batch = flow->engine_state;

	if (!batch)
		return;
	free(batch->headers);
	free(batch->slots);
	free(batch->controls);
	free(batch);
	flow->engine_state = NULL;
}

/* One header per `group` messages. How many headers. */
static unsigned int make_headers(struct zm_flow *flow, const struct iovec *messages,
				 unsigned int nr, unsigned int group)
{
	struct batch *batch = flow->engine_state;
	bool has_name = flow->family->call == ZM_CALL_SENDTO;
	unsigned int nr_headers = 0;

	for (unsigned int i = 0; i < nr; i += group, nr_headers++)
		batch->headers[nr_headers] = (struct mmsghdr){
			.msg_hdr = {
				.msg_name = has_name ? &flow->peer.storage : NULL,
				.msg_namelen = has_name ? flow->peer.length : 0,
				.msg_iov = (struct iovec *)(uintptr_t)&messages[i],
				.msg_iovlen = nr - i < group ? nr - i : group,
			},
		};
	return nr_headers;
}

static void count_sent(const struct mmsghdr *header, struct zm_moved *moved)
{
	moved->messages += header->msg_hdr.msg_iovlen;
	moved->bytes += header->msg_len;
}

static int send_all(struct zm_flow *flow, const struct iovec *messages, unsigned int nr,
		    struct zm_moved *moved)
{
	struct batch *batch = flow->engine_state;
	unsigned int nr_headers =
		make_headers(flow, messages, nr, batch->nr_segments ? batch->nr_segments : 1);

	for (unsigned int done = 0; done < nr_headers;) {
		int n = sendmmsg(flow->fd, batch->headers + done, nr_headers - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && zm_net_is_refusal(flow, errno)) {
			moved->refused += batch->headers[done].msg_hdr.msg_iovlen;
			done++;
			continue;
		}
		if (n < 0)
			return -errno;
		for (int i = 0; i < n; i++)
			count_sent(&batch->headers[done + (unsigned int)i], moved);
		done += (unsigned int)n;
	}
	return 0;
}

static void expect(struct zm_flow *flow)
{
	struct batch *batch = flow->engine_state;

	for (unsigned int i = 0; i < batch->depth; i++) {
		batch->slots[i] = *zm_ring_take(&flow->in);
		batch->headers[i] = (struct mmsghdr){
			.msg_hdr = { .msg_iov = &batch->slots[i], .msg_iovlen = 1 },
		};
		if (batch->nr_segments) {
			batch->headers[i].msg_hdr.msg_control = batch->controls[i];
			batch->headers[i].msg_hdr.msg_controllen = sizeof(batch->controls[i]);
		}
	}
}

/* How many datagrams the kernel has merged into this one. */
static unsigned int merged(const struct mmsghdr *header)
{
	const struct msghdr *msg = &header->msg_hdr;
	const struct cmsghdr *cmsg = msg->msg_control;
	int size = 0;

	if (msg->msg_controllen >= CMSG_LEN(sizeof(size)) && cmsg->cmsg_level == SOL_UDP &&
	    cmsg->cmsg_type == UDP_GRO)
		memcpy(&size, CMSG_DATA(cmsg), sizeof(size));
	return size > 0 ? (header->msg_len + (unsigned int)size - 1) / (unsigned int)size : 1;
}

static int recv_some(struct zm_flow *flow, struct zm_piece *pieces)
{
	struct batch *batch = flow->engine_state;
	int n;

	expect(flow);
	do {
		n = recvmmsg(flow->fd, batch->headers, batch->depth, MSG_WAITFORONE, NULL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++)
		pieces[i] = (struct zm_piece){
			.data = batch->slots[i].iov_base,
			.size = batch->headers[i].msg_len,
			.messages = merged(&batch->headers[i]),
		};
	return n;
}

const struct zm_net_engine zm_net_engine_batch = {
	.name = "batch",
	.check = check,
	.open = open_engine,
	.send = send_all,
	.recv = recv_some,
	.close = close_engine,
};
