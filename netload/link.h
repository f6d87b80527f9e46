/*
 * link: what lies between the two ends of all pairs: the loopback, or a veth pair.
 *
 *     lo      both ends in this network namespace
 *     veth    each end in a namespace of its own, joined by a veth pair: packets are cut to an MTU,
 *             have checksums that may be looked at, and cross two stacks
 *
 * The namespaces have no names: they live as long as a descriptor or a task of the run does, and the
 * veth pair as long as they. So nothing is left behind, whatever dies, and there is nothing to undo.
 */
#ifndef ZM_NETLOAD_LINK_H
#define ZM_NETLOAD_LINK_H

#include <stdbool.h>

#include "netload/flow.h"
#include "netload/options.h"
#include "workloads/base/why.h"

/* Zeroed: the loopback. */
struct zm_link {
	bool is_open;
	int spaces[2]; /* descriptors of the namespaces of end 0 and end 1 */
};

/* -ENOTSUP where veth pairs cannot be made, with the sentence. Does nothing for lo. The calling
 * thread is in its own namespace again when it returns. */
int zm_link_open(struct zm_link *link, const struct zm_net_options *options, struct zm_why *why);

/* Can it be opened here? Tries it. */
int zm_link_check(const struct zm_net_options *options, struct zm_why *why);

/* Takes the calling thread to that end's place, for good. */
int zm_link_enter(const struct zm_link *link, unsigned int end, struct zm_why *why);

/* Half-built, or closed before: fine. */
void zm_link_close(struct zm_link *link);

/* That end's address, port 0, and the name of the interface that it is on. */
void zm_link_address(const struct zm_net_options *options, unsigned int end,
		     struct zm_net_address *ret_address);
const char *zm_link_interface(const struct zm_net_options *options, unsigned int end);

#endif
