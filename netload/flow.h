/*
 * flow: one end of a stream: its descriptors, its buffers, and how much the kernel lets it hold.
 *
 *     init -> socket… (pair.c: the ends meet) -> learn -> rings -> engine open … close -> release
 *
 * An end has one ring of buffers to send from and one to receive into; a stream's end uses one of
 * the two, a request/response end both. Buffers are filled before the gate and walked, because a
 * single buffer would stay in the nearest cache.
 */
#ifndef ZM_NETLOAD_FLOW_H
#define ZM_NETLOAD_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "netload/family.h"
#include "netload/options.h"
#include "workloads/base/why.h"

struct zm_net_engine;

struct zm_ring {
	struct iovec *slots; /* nr buffers of size bytes */
	unsigned int nr;
	unsigned int next;
	size_t size;
	void *memory; /* one mapping holds them all */
	size_t memory_bytes;
};

/* An address as the socket calls take it. */
struct zm_net_address {
	struct sockaddr_storage storage;
	socklen_t length;
};

struct zm_flow {
	const struct zm_family *family;
	const struct zm_net_options *options;
	const struct zm_net_engine *engine;
	void *engine_state;
	int fd;         /* the data's descriptor; -1 when there is none (yet) */
	int control_fd; /* lmbench's second pipe, or a listening socket; -1 without */
	int file_fd;    /* what tcp_sendfile sends; -1 without */
	uint64_t file_at;
	struct zm_net_address peer;
	uint64_t sndbuf_bytes; /* as the kernel has them; 0 for a pipe */
	uint64_t rcvbuf_bytes;
	uint64_t
		fresh_sndbuf_bytes; /* as they were when the socket was made, for the rings: TCP's */
	uint64_t fresh_rcvbuf_bytes; /* grow by hundreds when it connects */
	bool is_tls_in_kernel;       /* what this end does most, sending or receiving */
	struct zm_ring out;
	struct zm_ring in;
};

void zm_flow_init(struct zm_flow *flow, const struct zm_family *family,
		  const struct zm_net_options *options);
void zm_flow_release(struct zm_flow *flow);

/* Makes a socket of the flow's family (not AF_UNIX, not a pipe) with the options set, and bound to
 * the local end's address and a port that the kernel chooses. `local` may be NULL: not bound. */
int zm_flow_socket(struct zm_flow *flow, const struct zm_net_address *local, int *ret_fd,
		   struct zm_why *why);

/* Sets the buffers that were asked for. What net.core.*mem_max clamps is forced where we may, and
 * is an error that says both figures where not. */
int zm_flow_set_buffers(const struct zm_flow *flow, int fd, struct zm_why *why);

/* Asks the kernel how large the buffers of fd are now. Who was not made by zm_flow_socket is fresh. */
int zm_flow_learn(struct zm_flow *flow, struct zm_why *why);

/* nr buffers of size bytes each; the first `offset` bytes from a page's start. */
int zm_ring_open(struct zm_ring *ring, unsigned int nr, size_t size, size_t offset,
		 struct zm_why *why);
void zm_ring_release(struct zm_ring *ring);

/* netperf's width of a ring: as many as the fresh socket's buffer holds and one, at least two. */
unsigned int zm_ring_width(uint64_t buffer_bytes, uint64_t size);

static inline struct iovec *zm_ring_take(struct zm_ring *ring)
{
	struct iovec *slot = &ring->slots[ring->next];

	ring->next = ring->next + 1 == ring->nr ? 0 : ring->next + 1;
	return slot;
}

/* 127.0.0.1 or ::1, port 0; other hosts' addresses: link.h. */
void zm_net_address_loopback(struct zm_net_address *address, enum zm_net_ip ip);

/* The port of an inet address, host order; 0 for others. */
unsigned int zm_net_address_port(const struct zm_net_address *address);

/* "127.0.0.1 port 4711", "[::1] port 4711"; for sentences. Returns buf. */
const char *zm_net_address_print(const struct zm_net_address *address, char *buf, size_t size);

#endif
