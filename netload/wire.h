/*
 * wire: what crossed the interface between the first pair's ends, seen by libpcap.
 *
 * A thread beside the first receiver counts the packets from the sending end to the receiving one for
 * the whole run, and keeps the first of them (their headers) in a file of bounded size. The filter is
 * built from the pair's own addresses, so no other traffic is ever looked at. It costs: a tenth of the
 * throughput or more. What it counted is compared with what the tasks counted, and shown beside it.
 */
#ifndef ZM_NETLOAD_WIRE_H
#define ZM_NETLOAD_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "netload/flow.h"
#include "netload/packet.h"
#include "workloads/base/why.h"

#define ZM_WIRE_HOLES 32

/* Sequence numbers [from, to); empty when they are the same. */
struct zm_wire_hole {
	uint32_t from, to;
};

struct zm_wire_count {
	bool is_there;    /* there was a capture */
	uint64_t packets; /* with data in them */
	uint64_t
		payload_bytes; /* behind the transport's header; TCP: without what was sent again */
	uint64_t repeated;     /* TCP segments whose bytes had crossed before */
	uint64_t kept;         /* packets in the file */
	uint64_t lost;         /* that libpcap did not get */
	int file_error;        /* -errno: the file could not be written */
	uint32_t smallest, largest; /* payload of a packet */
	/* For counting. */
	uint32_t next_sequence;
	bool has_sequence;
	struct zm_wire_hole holes[ZM_WIRE_HOLES];
	unsigned int next_hole;
};

/* One packet from the sending end. */
void zm_wire_see(struct zm_wire_count *count, const struct zm_packet *packet);

/* The filter that lets this stream's packets through, from one end to the other. -ENOBUFS. */
int zm_wire_filter(const struct zm_family *family, const struct zm_net_address *from,
		   const struct zm_net_address *to, char *buf, size_t size);

struct zm_wire_plan {
	const struct zm_family *family;
	const struct zm_net_address *from, *to;
	const char *interface;
	const char *path;    /* of the file */
	uint64_t most_bytes; /* of the file */
	pid_t roamer;        /* the task whose CPUs the thread may use: it is not the pinned one */
};

struct zm_wire;

/* Is `path` a file that can be written, or can be made? What is there and is no file is refused, as
 * opening it for a capture would empty it. -ENOTSUP: built without libpcap. Changes nothing. */
int zm_wire_check(const char *path, struct zm_why *why);

/* -ENOTSUP: built without libpcap; -EPERM: not allowed to capture; what the file's system says. */
int zm_wire_start(const struct zm_wire_plan *plan, struct zm_wire **ret_wire, struct zm_why *why);

/* Takes what is under way, ends the thread, closes the file. NULL is fine and counts nothing. */
void zm_wire_stop(struct zm_wire *wire, struct zm_wire_count *ret_count);

#endif
