/*
 * family: what the kernel calls a kind of stream, and what its two ends may count on.
 *
 *     keeps_borders   a message arrives as one, or not at all (UDP, SCTP, AF_UNIX datagrams)
 *     may_lose        what was sent need not arrive; a loss is a count, not an error
 */
#ifndef ZM_NETLOAD_FAMILY_H
#define ZM_NETLOAD_FAMILY_H

#include <stdbool.h>

/* The call that moves one message: the originals' calls, which is what makes figures comparable. */
enum zm_net_call {
	ZM_CALL_SENDTO, /* sendto with an address, recvfrom */
	ZM_CALL_SEND,   /* send, recv */
	ZM_CALL_WRITE,  /* write, read */
	ZM_CALL_SCTP,   /* sendmsg with an address and SCTP_SNDRCV, recvmsg */
};

/* How the sending end says that nothing more will come. */
enum zm_net_ending {
	ZM_END_SHUTDOWN,
	ZM_END_CLOSE,
	ZM_END_EMPTY, /* empty datagrams, until one was seen */
};

/* How the ends meet. */
enum zm_net_meeting {
	ZM_MEET_CONNECT, /* one listens, the other connects */
	ZM_MEET_ADDRESS, /* each knows the other's address */
	ZM_MEET_MANY,    /* one-to-many SCTP: the listening socket itself receives */
	ZM_MEET_HANDED,  /* one end makes both descriptors and hands one over */
};

struct zm_family {
	const char *name;
	bool is_inet;
	int type;
	int protocol;
	enum zm_net_call call;
	enum zm_net_ending ending;
	enum zm_net_meeting meeting;
	bool keeps_borders;
	bool may_lose;
};

extern const struct zm_family zm_family_udp;
extern const struct zm_family zm_family_tcp;
extern const struct zm_family zm_family_sctp;      /* one-to-one */
extern const struct zm_family zm_family_sctp_many; /* one-to-many */
extern const struct zm_family zm_family_unix;      /* a stream socketpair */
extern const struct zm_family zm_family_unix_dgram;
extern const struct zm_family zm_family_pipe;

#endif
