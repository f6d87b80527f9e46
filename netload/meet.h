/*
 * meet: how the two ends of a pair get a stream between them, without a number that anybody chose.
 *
 *     listening end        connecting end
 *     bind, port 0
 *     BOUND ------------>  knows the address
 *                          connect
 *     accept        <----  CONNECTED
 *     CONNECTED
 *
 * UDP has no connection: both ends are BOUND, then know each other. Descriptors that have no address
 * (socketpair, pipe) are made by the listening end and handed over through a nameless rendezvous
 * socket whose address the kernel chooses.
 */
#ifndef ZM_NETLOAD_MEET_H
#define ZM_NETLOAD_MEET_H

#include <stdbool.h>
#include <stdint.h>

#include "netload/flow.h"
#include "netload/pair.h"
#include "workloads/base/why.h"

struct zm_meet {
	struct zm_pair *pair;
	unsigned int end;                   /* 0 or 1: which end this is */
	unsigned int connector;             /* the end that connects */
	const struct zm_net_address *local; /* this end's address, port 0 (inet families) */
	bool has_ask;        /* a control pipe from the receiver to the sender is wanted too */
	bool keeps_listener; /* each transaction makes a connection of its own */
};

/* Makes the flow's descriptors; returns when the stream is up on this side, and has said CONNECTED.
 * After a failure the flow's release closes what was made. */
int zm_meet(const struct zm_meet *meet, struct zm_flow *flow, uint64_t deadline_ns,
	    struct zm_why *why);

#endif
