/* wire: counting, the filter, and the thread that looks on. */
#include "netload/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

/* --- counting --- */

/* Sequence numbers run round in 32 bits: a comes before b when the way from a to b is the shorter. */
static bool is_before(uint32_t a, uint32_t b)
{
	return a != b && b - a <= UINT32_MAX / 2;
}

static uint32_t later(uint32_t a, uint32_t b)
{
	return is_before(a, b) ? b : a;
}

static uint32_t sooner(uint32_t a, uint32_t b)
{
	return is_before(a, b) ? a : b;
}

/* Bytes that have been jumped over, and may come late. With very many holes the oldest is given up. */
static void add_hole(struct zm_wire_count *count, uint32_t from, uint32_t to)
{
	count->holes[count->next_hole] = (struct zm_wire_hole){ .from = from, .to = to };
	count->next_hole = (count->next_hole + 1) % ZM_WIRE_HOLES;
}

/* How many bytes of [from, to) fill holes. A hole filled in its middle keeps its first part, and the
 * second becomes one of its own. */
static uint32_t fill_holes(struct zm_wire_count *count, uint32_t from, uint32_t to)
{
	uint32_t filled = 0;

	for (unsigned int i = 0; i < ZM_WIRE_HOLES; i++) {
		struct zm_wire_hole *hole = &count->holes[i];
		uint32_t first = later(from, hole->from), end = sooner(to, hole->to),
			 rest = hole->to;

		if (hole->from == hole->to || !is_before(first, end))
			continue;
		filled += end - first;
		hole->to = first;
		if (end != rest)
			add_hole(count, end, rest);
	}
	return filled;
}

/* How many of a segment's bytes had not crossed before. */
static uint32_t fresh_bytes(struct zm_wire_count *count, const struct zm_packet *packet)
{
	uint32_t from = packet->sequence, to = from + packet->payload_bytes, fresh = 0;

	if (!count->has_sequence) {
		count->has_sequence = true;
		count->next_sequence = from;
	}
	if (is_before(from, count->next_sequence))
		fresh = fill_holes(count, from, sooner(to, count->next_sequence));
	else if (from != count->next_sequence)
		add_hole(count, count->next_sequence, from);
	if (is_before(count->next_sequence, to)) {
		fresh += to - later(from, count->next_sequence);
		count->next_sequence = to;
	}
	return fresh;
}

void zm_wire_see(struct zm_wire_count *count, const struct zm_packet *packet)
{
	uint32_t fresh = packet->payload_bytes;

	if (packet->payload_bytes == 0)
		return;
	if (packet->protocol == IPPROTO_TCP) {
		fresh = fresh_bytes(count, packet);
		count->repeated += fresh < packet->payload_bytes;
	}
	if (count->packets == 0 || packet->payload_bytes < count->smallest)
		count->smallest = packet->payload_bytes;
	if (packet->payload_bytes > count->largest)
		count->largest = packet->payload_bytes;
	count->packets++;
	count->payload_bytes += fresh;
}

/* --- the filter --- */

static const char *host_of(const struct zm_net_address *address, char *buf, socklen_t size)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;

	if (address->storage.ss_family == AF_INET6)
		return inet_ntop(AF_INET6, &in6->sin6_addr, buf, size);
	return inet_ntop(AF_INET, &in->sin_addr, buf, size);
}

int zm_wire_filter(const struct zm_family *family, const struct zm_net_address *from,
		   const struct zm_net_address *to, char *buf, size_t size)
{
	char here[INET6_ADDRSTRLEN], there[INET6_ADDRSTRLEN];
	int n;

	if (!host_of(from, here, sizeof(here)) || !host_of(to, there, sizeof(there)))
		return -EINVAL;
	n = snprintf(buf, size,
		     "%s and src host %s and src port %u and dst host %s and dst port %u",
		     family->name, here, zm_net_address_port(from), there, zm_net_address_port(to));
	return n < 0 || (size_t)n >= size ? -ENOBUFS : 0;
}

#ifdef ZM_HAVE_PCAP
#include <pcap/pcap.h>

#include "workloads/base/cpuset.h"

#define SNAP_BYTES    128 /* headers, and the beginning of what they carry */
#define BUFFER_BYTES  (16 << 20)
#define LOOK_MS       20
#define BUNCH         256
#define FILE_HEADER   24
#define PACKET_HEADER 16

struct zm_wire {
	pcap_t *capture;
	pcap_dumper_t *file;
	pthread_t thread;
	bool has_thread;
	_Atomic bool is_over;
	uint64_t file_bytes, most_bytes;
	struct zm_wire_count count;
};

static void free_wire(struct zm_wire *wire)
{
	if (wire->file)
		pcap_dump_close(wire->file);
	if (wire->capture)
		pcap_close(wire->capture);
	free(wire);
}

static void see_packet(unsigned char *context, const struct pcap_pkthdr *header,
		       const unsigned char *data)
{
	struct zm_wire *wire = (struct zm_wire *)(void *)context;
	struct zm_packet packet;

	if (zm_packet_parse(pcap_datalink(wire->capture), data, header->caplen, header->len,
			    &packet) == 0)
		zm_wire_see(&wire->count, &packet);
	if (wire->file_bytes + PACKET_HEADER + header->caplen > wire->most_bytes)
		return;
	wire->file_bytes += PACKET_HEADER + header->caplen;
	pcap_dump((unsigned char *)wire->file, header, data);
	wire->count.kept++;
}

/* libpcap hands packets over in blocks, a full one at once and others when their time is up. After the
 * end it goes on until that time has brought nothing. */
static void *look_on(void *argument)
{
	struct zm_wire *wire = argument;
	struct pollfd wish = { .fd = pcap_get_selectable_fd(wire->capture), .events = POLLIN };
	bool is_over = false, is_silent = false;
	int n = 0;

	while (n >= 0 && !(is_over && is_silent)) {
		is_over = atomic_load(&wire->is_over);
		is_silent = poll(&wish, 1, 2 * LOOK_MS) == 0;
		n = pcap_dispatch(wire->capture, BUNCH, see_packet, argument);
		is_silent = is_silent && n == 0;
	}
	return NULL;
}

static int refuse(struct zm_why *why, pcap_t *capture, int status, const char *interface)
{
	if (status == PCAP_ERROR_PERM_DENIED)
		return zm_why_set(
			why, -EPERM,
			"capture: looking at %s needs root (CAP_NET_RAW); leave capture out, or "
			"run as root",
			interface);
	return zm_why_set(why, -EIO, "capture: %s: %s", interface, pcap_geterr(capture));
}

static int activate(struct zm_wire *wire, const struct zm_wire_plan *plan, struct zm_why *why)
{
	char reason[PCAP_ERRBUF_SIZE] = "";
	int status;

	wire->capture = pcap_create(plan->interface, reason);
	if (!wire->capture)
		return zm_why_set(why, -EIO, "capture: %s", reason);
	(void)pcap_set_snaplen(wire->capture, SNAP_BYTES);
	(void)pcap_set_buffer_size(wire->capture, BUFFER_BYTES);
	(void)pcap_set_timeout(wire->capture, LOOK_MS);
	status = pcap_activate(wire->capture);
	if (status >= 0)
		status = pcap_setnonblock(wire->capture, 1, reason);
	return status < 0 ? refuse(why, wire->capture, status, plan->interface) : 0;
}

static int set_filter(struct zm_wire *wire, const struct zm_wire_plan *plan, struct zm_why *why)
{
	struct bpf_program program;
	char filter[256];
	int r = zm_wire_filter(plan->family, plan->from, plan->to, filter, sizeof(filter));

	if (r < 0)
		return zm_why_errno(why, r, "capture: the filter");
	/* lo shows each packet twice, going out and coming in. */
	if (pcap_setdirection(wire->capture, PCAP_D_IN) < 0 ||
	    pcap_compile(wire->capture, &program, filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
		return refuse(why, wire->capture, PCAP_ERROR, plan->interface);
	r = pcap_setfilter(wire->capture, &program);
	pcap_freecode(&program);
	return r < 0 ? refuse(why, wire->capture, PCAP_ERROR, plan->interface) : 0;
}

static int open_file(struct zm_wire *wire, const struct zm_wire_plan *plan, struct zm_why *why)
{
	wire->file = pcap_dump_open(wire->capture, plan->path);
	if (!wire->file)
		return zm_why_set(why, -EIO, "capture: %s", pcap_geterr(wire->capture));
	wire->most_bytes = plan->most_bytes;
	wire->file_bytes = FILE_HEADER;
	return 0;
}

static int start_thread(struct zm_wire *wire, const struct zm_wire_plan *plan, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset mine = { 0 };
	zm_autocpuset struct zm_cpuset wide = { 0 };
	bool is_pinned = zm_cpuset_get_affinity(0, &mine) == 0 &&
			 zm_cpuset_get_affinity(plan->roamer, &wide) == 0;
	int r;

	/* A thread is born with its maker's CPUs. */
	if (is_pinned)
		(void)zm_cpuset_set_affinity(0, &wide);
	r = pthread_create(&wire->thread, NULL, look_on, wire);
	if (is_pinned)
		(void)zm_cpuset_set_affinity(0, &mine);
	if (r != 0)
		return zm_why_errno(why, -r, "capture: a thread");
	wire->has_thread = true;
	return 0;
}

int zm_wire_start(const struct zm_wire_plan *plan, struct zm_wire **ret_wire, struct zm_why *why)
{
	struct zm_wire *wire = calloc(1, sizeof(*wire));
	int r;

	if (!wire)
		return zm_why_errno(why, -ENOMEM, "capture");
	r = activate(wire, plan, why);
	if (r == 0)
		r = set_filter(wire, plan, why);
	if (r == 0)
		r = open_file(wire, plan, why);
	if (r == 0)
		r = start_thread(wire, plan, why);
	if (r < 0) {
		free_wire(wire);
		return r;
	}
	*ret_wire = wire;
	return 0;
}

/* Once, for a disk that was full for any of the packets. */
static int file_error(pcap_dumper_t *file)
{
	errno = 0;
	if (pcap_dump_flush(file) < 0 || ferror(pcap_dump_file(file)))
		return errno ? -errno : -EIO;
	return 0;
}

void zm_wire_stop(struct zm_wire *wire, struct zm_wire_count *ret_count)
{
	struct pcap_stat stat = { 0 };

	if (!wire)
		return;
	atomic_store(&wire->is_over, true);
	if (wire->has_thread)
		(void)pthread_join(wire->thread, NULL);
	if (pcap_stats(wire->capture, &stat) == 0)
		wire->count.lost = stat.ps_drop;
	wire->count.file_error = file_error(wire->file);
	wire->count.is_there = true;
	*ret_count = wire->count;
	free_wire(wire);
}

/* The folder in which a file of this path stands, or will. */
static int check_folder(const char *path, struct zm_why *why)
{
	const char *slash = strrchr(path, '/');
	zm_autofree char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	if (!folder)
		return -ENOMEM;
	if (access(folder, W_OK | X_OK) < 0)
		return zm_why_errno(why, -errno, "capture=%s: cannot be written", path);
	return 0;
}

int zm_wire_check(const char *path, struct zm_why *why)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return errno == ENOENT ? check_folder(path, why)
				       : zm_why_errno(why, -errno, "capture=%s", path);
	if (!S_ISREG(status.st_mode))
		return zm_why_set(why, -EINVAL, "capture=%s: is there, and is no file", path);
	if (access(path, W_OK) < 0)
		return zm_why_errno(why, -errno, "capture=%s: cannot be written", path);
	return 0;
}
#else
int zm_wire_check(const char *path, struct zm_why *why)
{
	return zm_why_set(
		why, -ENOTSUP,
		"capture=%s: this zonemark was built without libpcap; install libpcap-dev and "
		"build again",
		path);
}

int zm_wire_start(const struct zm_wire_plan *plan, struct zm_wire **ret_wire, struct zm_why *why)
{
	(void)ret_wire;
	return zm_wire_check(plan->path, why);
}

void zm_wire_stop(struct zm_wire *wire, struct zm_wire_count *ret_count)
{
	(void)wire;
	(void)ret_count;
}
#endif
