/*
 * direct: engine=syscall's calls where nothing else is asked of an end, without an engine between: what lies
 * between two of them is a few stores.
 *
 * An engine's call and its counting cost some 90 instructions a message, two percent of a datagram of
 * 10 KiB, and more where each message wakes a CPU that has slept: then none of them is in a cache.
 */
#ifndef ZM_NETLOAD_DIRECT_H
#define ZM_NETLOAD_DIRECT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "netload/engine.h"
#include "netload/flow.h"

/* Are its messages moved by the calls below? SCTP's have headers, a file's pages a call of their own. */
static inline bool zm_direct_fits(const struct zm_flow *flow)
{
	return flow->engine == &zm_net_engine_syscall && flow->family->call != ZM_CALL_SCTP &&
	       flow->file_fd < 0;
}

/* As the call itself: -1 and errno. */
static inline ssize_t zm_direct_send(const struct zm_flow *flow, const void *data, size_t size)
{
	switch (flow->family->call) {
	case ZM_CALL_SENDTO:
		return sendto(flow->fd, data, size, 0, (const struct sockaddr *)&flow->peer.storage,
			      flow->peer.length);
	case ZM_CALL_SEND:
		return send(flow->fd, data, size, MSG_NOSIGNAL);
	default:
		return write(flow->fd, data, size);
	}
}

static inline ssize_t zm_direct_recv(const struct zm_flow *flow, const struct iovec *slot)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof(from);

	switch (flow->family->call) {
	case ZM_CALL_SENDTO:
		return recvfrom(flow->fd, slot->iov_base, slot->iov_len, 0,
				(struct sockaddr *)&from, &length);
	case ZM_CALL_SEND:
		return recv(flow->fd, slot->iov_base, slot->iov_len, 0);
	default:
		return read(flow->fd, slot->iov_base, slot->iov_len);
	}
}

/* What becomes of a message that the first call, which came to n, did not take whole. As an engine's send. */
int zm_direct_send_rest(struct zm_flow *flow, const struct iovec *message, ssize_t n,
			struct zm_moved *moved);

#endif
