/*
 * engine: how the bytes of a flow are moved; one small contract, several implementations.
 *
 *     syscall   the originals' calls, one per message: what makes figures comparable
 *     batch     sendmmsg and recvmmsg, UDP segmentation: what one crossing can carry
 *     uring     io_uring
 *     tls       OpenSSL over a TCP socket, in user space or by the kernel
 *
 * An engine never looks at the stop word and keeps no counts: it moves what it is given, and says
 * what became of it. A receiving end is woken at the stop by what the sending end does then (it
 * shuts its side down, or sends empty datagrams), so no engine needs a time-out or a signal.
 */
#ifndef ZM_NETLOAD_ENGINE_H
#define ZM_NETLOAD_ENGINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "netload/flow.h"
#include "workloads/base/why.h"

/* What became of messages that were to be sent. */
struct zm_moved {
	uint64_t messages;
	uint64_t bytes;
	uint64_t refused; /* the kernel did not take them (no buffer, nobody there), and went on */
};

/* What a receiving call brought: `messages` is how many messages end in it (one, several that the
 * kernel had merged, or none where a long message comes in pieces). Valid until the next call. */
struct zm_piece {
	void *data;
	size_t size;
	unsigned int messages;
};

struct zm_net_engine {
	const char *name;

	/* Can it move this family's messages with these options on this kernel? -ENOTSUP: no;
	 * -EINVAL: the options do not fit each other. Nothing else is called then: an engine that
	 * this build lacks has nothing else. */
	int (*check)(const struct zm_family *family, const struct zm_net_options *options,
		     struct zm_why *why);

	/* The descriptors are there and the rings are filled. is_client: this end connected. */
	int (*open)(struct zm_flow *flow, bool is_client, struct zm_why *why);

	/* Sends nr messages, at most `depth` of the options, each to its end. 0 or -errno; adds to
	 * *moved either way. */
	int (*send)(struct zm_flow *flow, const struct iovec *messages, unsigned int nr,
		    struct zm_moved *moved);

	/* Waits for something. How many pieces (at most ZM_NET_MAX_DEPTH), 0 at the stream's end, or
	 * -errno; -EAGAIN when a transaction that may be lost has waited long enough. */
	int (*recv)(struct zm_flow *flow, struct zm_piece *pieces);

	/* Once or more often, also when open failed or was not called. */
	void (*close)(struct zm_flow *flow);
};

extern const struct zm_net_engine zm_net_engine_syscall;
extern const struct zm_net_engine zm_net_engine_batch;
extern const struct zm_net_engine zm_net_engine_uring;
extern const struct zm_net_engine zm_net_engine_tls; /* by `tls`, not by `engine` */

/* The engine that the options ask for. */
const struct zm_net_engine *zm_net_engine_of(const struct zm_net_options *options);

/* Is it what a kernel says of a datagram that it does not take, after which one goes on? */
bool zm_net_is_refusal(const struct zm_flow *flow, int error);

/* Messages per submission: 1, or the options' depth. */
unsigned int zm_net_engine_depth(const struct zm_net_options *options);

#endif
