/*
 * engine_syscall: one call per message, the same calls as the originals'.
 *
 * On a byte stream a message that the kernel took only in part is sent to its end, so that the
 * receiver's messages begin where the sender's do.
 */
#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "netload/direct.h"
#include "netload/engine.h"
#include "netload/sctp.h"

static int check(const struct zm_family *family, const struct zm_net_options *options,
		 struct zm_why *why)
{
	(void)family;
	if (options->gso || options->zerocopy)
		return zm_why_set(why, -EINVAL, "%s=on is not what the original does; it needs %s",
				  options->gso ? "gso" : "zerocopy",
				  options->gso ? "engine=batch" : "engine=uring");
	return 0;
}

static int open_engine(struct zm_flow *flow, bool is_client, struct zm_why *why)
{
	(void)flow;
	(void)is_client;
	(void)why;
	return 0;
}

static void close_engine(struct zm_flow *flow)
{
	(void)flow;
}

static ssize_t send_sctp(const struct zm_flow *flow, void *data, size_t size)
{
	struct zm_sctp_header header;

	zm_sctp_prepare_send(&header, &flow->peer, data, size);
	return sendmsg(flow->fd, &header.msg, MSG_NOSIGNAL);
}

static ssize_t send_file(struct zm_flow *flow, size_t size)
{
	off_t at = (off_t)flow->file_at;
	ssize_t n = sendfile(flow->fd, flow->file_fd, &at, size);

	/* The file is as long as the ring: after its end, its beginning. */
	flow->file_at = (uint64_t)at >= flow->out.nr * flow->out.size ? 0 : (uint64_t)at;
	return n;
}

static ssize_t send_some(struct zm_flow *flow, void *data, size_t size)
{
	if (flow->file_fd >= 0)
		return send_file(flow, size);
	if (flow->family->call == ZM_CALL_SCTP)
		return send_sctp(flow, data, size);
	return zm_direct_send(flow, data, size);
}

__attribute__((noinline)) int zm_direct_send_rest(struct zm_flow *flow, const struct iovec *message,
						  ssize_t n, struct zm_moved *moved)
{
	char *data = message->iov_base;
	size_t left = message->iov_len;

	for (;; n = send_some(flow, data, left)) {
		if (n < 0 && zm_net_is_refusal(flow, errno)) {
			moved->refused++;
			return 0;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0 && left > 0)
			return -EIO; /* sendfile: the file was cut */
		moved->bytes += (uint64_t)n;
		data += n;
		left -= (size_t)n;
		if (left == 0)
			break;
	}
	moved->messages++;
	return 0;
}

static int send_all(struct zm_flow *flow, const struct iovec *messages, unsigned int nr,
		    struct zm_moved *moved)
{
	for (unsigned int i = 0; i < nr; i++) {
		ssize_t n = send_some(flow, messages[i].iov_base, messages[i].iov_len);

		if (n == (ssize_t)messages[i].iov_len) {
			moved->bytes += (uint64_t)n;
			moved->messages++;
		} else {
			int r = zm_direct_send_rest(flow, &messages[i], n, moved);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int recv_sctp(struct zm_flow *flow, const struct iovec *slot, struct zm_piece *piece)
{
	for (;;) {
		struct zm_sctp_header header;
		ssize_t n;

		zm_sctp_prepare_recv(&header, slot->iov_base, slot->iov_len);
		n = recvmsg(flow->fd, &header.msg, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		piece->size = (size_t)n;
		switch (zm_sctp_classify(&header.msg, slot->iov_base, (size_t)n)) {
		case ZM_SCTP_DATA:
			piece->messages = 1;
			return 1;
		case ZM_SCTP_PIECE:
			piece->messages = 0;
			return 1;
		case ZM_SCTP_OTHER:
			continue;
		case ZM_SCTP_ENDED:
			return 0;
		case ZM_SCTP_BROKEN:
			return -ECONNRESET;
		case ZM_SCTP_GARBLED:
			return -EPROTO;
		}
	}
}

static int recv_one(struct zm_flow *flow, struct zm_piece *pieces)
{
	const struct iovec *slot = zm_ring_take(&flow->in);
	ssize_t n;

	pieces->data = slot->iov_base;
	if (flow->family->call == ZM_CALL_SCTP)
		return recv_sctp(flow, slot, pieces);
	do {
		n = zm_direct_recv(flow, slot);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	pieces->size = (size_t)n;
	pieces->messages = 1;
	/* An empty datagram is a message; nothing from a stream is its end. */
	return n == 0 && !flow->family->keeps_borders ? 0 : 1;
}

const struct zm_net_engine zm_net_engine_syscall = {
	.name = "syscall",
	.check = check,
	.open = open_engine,
	.send = send_all,
	.recv = recv_one,
	.close = close_engine,
};
