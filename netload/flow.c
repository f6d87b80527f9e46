/* flow: addresses, sockets with their options, rings of buffers. */
#include "netload/flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "netload/sctp.h"
#include "workloads/base/units.h"

void zm_flow_init(struct zm_flow *flow, const struct zm_family *family,
		  const struct zm_net_options *options)
{
	*flow = (struct zm_flow){
		.family = family,
		.options = options,
		.fd = -1,
		.control_fd = -1,
		.file_fd = -1,
	};
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void zm_flow_release(struct zm_flow *flow)
{
	close_fd(&flow->fd);
	close_fd(&flow->control_fd);
	close_fd(&flow->file_fd);
	zm_ring_release(&flow->out);
	zm_ring_release(&flow->in);
}

/* --- addresses --- */

void zm_net_address_loopback(struct zm_net_address *address, enum zm_net_ip ip)
{
	*address = (struct zm_net_address){ 0 };
	if (ip == ZM_NET_IPV6) {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address->storage;

		in6->sin6_family = AF_INET6;
		in6->sin6_addr = in6addr_loopback;
		address->length = sizeof(*in6);
	} else {
		struct sockaddr_in *in = (struct sockaddr_in *)&address->storage;

		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		address->length = sizeof(*in);
	}
}

unsigned int zm_net_address_port(const struct zm_net_address *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;

	switch (address->storage.ss_family) {
	case AF_INET6:
		return ntohs(in6->sin6_port);
	case AF_INET:
		return ntohs(in->sin_port);
	default:
		return 0;
	}
}

const char *zm_net_address_print(const struct zm_net_address *address, char *buf, size_t size)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	bool is_6 = address->storage.ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "?";

	(void)inet_ntop(is_6 ? AF_INET6 : AF_INET,
			is_6 ? (const void *)&in6->sin6_addr : &in->sin_addr, host, sizeof(host));
	(void)snprintf(buf, size, is_6 ? "[%s] port %u" : "%s port %u", host,
		       zm_net_address_port(address));
	return buf;
}

/* --- sockets --- */

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int get_buffer(int fd, int name, uint64_t *ret_bytes)
{
	int value;
	socklen_t length = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, name, &value, &length) < 0)
		return -errno;
	*ret_bytes = (uint64_t)(value < 0 ? 0 : value);
	return 0;
}

struct buffer_row {
	const char *option;
	const char *limit;
	int plain, force;
};

static const struct buffer_row sndbuf_row = { "sndbuf", "net.core.wmem_max", SO_SNDBUF,
					      SO_SNDBUFFORCE };
static const struct buffer_row rcvbuf_row = { "rcvbuf", "net.core.rmem_max", SO_RCVBUF,
					      SO_RCVBUFFORCE };

/* The kernel doubles what is asked, for its own book-keeping: twice the wish is the wish granted. */
static bool is_granted(uint64_t got, uint64_t asked)
{
	return got >= 2 * (asked < INT_MAX / 2 ? asked : INT_MAX / 2);
}

static int set_buffer(int fd, const struct buffer_row *row, uint64_t asked, struct zm_why *why)
{
	int value = (int)(asked < INT_MAX / 2 ? asked : INT_MAX / 2);
	char wish[32], gift[32];
	uint64_t got = 0;
	int r;

	if (asked == 0)
		return 0;
	r = set_int(fd, SOL_SOCKET, row->plain, value);
	if (r == 0)
		r = get_buffer(fd, row->plain, &got);
	if (r == 0 && !is_granted(got, asked) && set_int(fd, SOL_SOCKET, row->force, value) == 0)
		r = get_buffer(fd, row->plain, &got);
	if (r < 0)
		return zm_why_errno(why, r, "%s=%" PRIu64, row->option, asked);
	if (is_granted(got, asked))
		return 0;
	return zm_why_set(
		why, -ENOBUFS,
		"%s: %s was asked, %s was got, because %s is smaller; raise it (sysctl.%s=%" PRIu64
		"), run as root, or ask for less",
		row->option, zm_units_print_size(wish, sizeof(wish), asked),
		zm_units_print_size(gift, sizeof(gift), got / 2), row->limit, row->limit, asked);
}

int zm_flow_set_buffers(const struct zm_flow *flow, int fd, struct zm_why *why)
{
	int r = set_buffer(fd, &sndbuf_row, flow->options->sndbuf, why);

	return r == 0 ? set_buffer(fd, &rcvbuf_row, flow->options->rcvbuf, why) : r;
}

static int set_nodelay(const struct zm_flow *flow, int fd)
{
	if (!flow->options->nodelay)
		return 0;
	if (flow->family->protocol == IPPROTO_SCTP)
		return set_int(fd, IPPROTO_SCTP, SCTP_NODELAY, 1);
	return set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

/* As netperf's: no routing, and errors of the path are told. */
static int set_udp(const struct zm_flow *flow, int fd)
{
	bool is_6 = flow->options->ip == ZM_NET_IPV6;
	int r = set_int(fd, SOL_SOCKET, SO_DONTROUTE, 1);

	if (r == 0)
		r = set_int(fd, is_6 ? IPPROTO_IPV6 : IPPROTO_IP, is_6 ? IPV6_RECVERR : IP_RECVERR,
			    1);
	return r;
}

static int set_options(const struct zm_flow *flow, int fd, struct zm_why *why)
{
	int r = zm_flow_set_buffers(flow, fd, why);

	if (r < 0)
		return r;
	r = flow->family == &zm_family_udp ? set_udp(flow, fd) : set_nodelay(flow, fd);
	return r < 0 ? zm_why_errno(why, r, "%s: setsockopt", flow->family->name) : 0;
}

static int bind_to(const struct zm_flow *flow, int fd, const struct zm_net_address *local,
		   struct zm_why *why)
{
	char text[80];

	if (!local || bind(fd, (const struct sockaddr *)&local->storage, local->length) == 0)
		return 0;
	return zm_why_errno(why, -errno, "%s: bind to %s", flow->family->name,
			    zm_net_address_print(local, text, sizeof(text)));
}

/* Once: a flow of many connections has many sockets. */
static int note_fresh(struct zm_flow *flow, int fd)
{
	int r = 0;

	if (flow->fresh_sndbuf_bytes == 0)
		r = get_buffer(fd, SO_SNDBUF, &flow->fresh_sndbuf_bytes);
	if (r == 0 && flow->fresh_rcvbuf_bytes == 0)
		r = get_buffer(fd, SO_RCVBUF, &flow->fresh_rcvbuf_bytes);
	return r;
}

static int get_fresh(struct zm_flow *flow, int fd, struct zm_why *why)
{
	int r = note_fresh(flow, fd);

	return r < 0 ? zm_why_errno(why, r, "%s: getsockopt", flow->family->name) : 0;
}

int zm_flow_socket(struct zm_flow *flow, const struct zm_net_address *local, int *ret_fd,
		   struct zm_why *why)
{
	const struct zm_family *family = flow->family;
	int domain = flow->options->ip == ZM_NET_IPV6 ? AF_INET6 : AF_INET;
	int fd = socket(domain, family->type | SOCK_CLOEXEC, family->protocol);
	int r;

	if (fd < 0)
		return zm_why_errno(why, -errno, "%s: socket", family->name);
	r = set_options(flow, fd, why);
	if (r == 0)
		r = get_fresh(flow, fd, why);
	if (r == 0)
		r = bind_to(flow, fd, local, why);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

int zm_flow_learn(struct zm_flow *flow, struct zm_why *why)
{
	int r;

	if (flow->family == &zm_family_pipe)
		return 0;
	r = get_buffer(flow->fd, SO_SNDBUF, &flow->sndbuf_bytes);
	if (r == 0)
		r = get_buffer(flow->fd, SO_RCVBUF, &flow->rcvbuf_bytes);
	if (r == 0)
		r = note_fresh(flow, flow->fd);
	return r < 0 ? zm_why_errno(why, r, "%s: getsockopt", flow->family->name) : 0;
}

/* --- rings --- */

static size_t round_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Small buffers share pages, but never a cache line. */
static size_t spacing_of(size_t size, size_t offset)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return size + offset >= page ? round_up(size + offset, page) : round_up(size + offset, 64);
}

unsigned int zm_ring_width(uint64_t buffer_bytes, uint64_t size)
{
	uint64_t width = buffer_bytes / (size ? size : 1) + 1;

	if (width < 2)
		return 2;
	return width < 65536 ? (unsigned int)width : 65536;
}

int zm_ring_open(struct zm_ring *ring, unsigned int nr, size_t size, size_t offset,
		 struct zm_why *why)
{
	size_t spacing = spacing_of(size, offset), bytes;

	*ring = (struct zm_ring){ .size = size };
	if (__builtin_mul_overflow(spacing, nr, &bytes))
		return zm_why_set(why, -EOVERFLOW, "%u buffers of %zu bytes are too many", nr,
				  size);
	ring->slots = calloc(nr, sizeof(*ring->slots));
	ring->memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring->memory == MAP_FAILED)
		ring->memory = NULL;
	if (!ring->slots || !ring->memory) {
		zm_ring_release(ring);
		return zm_why_set(why, -ENOMEM, "no memory for %u buffers of %zu bytes", nr, size);
	}
	ring->memory_bytes = bytes;
	ring->nr = nr;
	for (unsigned int i = 0; i < nr; i++)
		ring->slots[i] = (struct iovec){
			.iov_base = (char *)ring->memory + i * spacing + offset,
			.iov_len = size,
		};
	return 0;
}

void zm_ring_release(struct zm_ring *ring)
{
	if (ring->memory)
		(void)munmap(ring->memory, ring->memory_bytes);
	free(ring->slots);
	*ring = (struct zm_ring){ 0 };
}
