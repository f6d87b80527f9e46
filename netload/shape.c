/* shape: a growing list of points, a reader that fills it from a capture, a cursor that walks it. */
#include "netload/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "netload/packet.h"

int zm_shape_add(struct zm_shape *shape, uint64_t at_ns, uint32_t size)
{
	if (shape->nr == ZM_SHAPE_MAX)
		return -ENOSPC;
	/* Grown whenever the number is a power of two. */
	if ((shape->nr & (shape->nr - 1)) == 0) {
		size_t room = shape->nr ? shape->nr * 2 : 1;
		void *points = realloc(shape->points, room * sizeof(*shape->points));

		if (!points)
			return -ENOMEM;
		shape->points = points;
	}
	/* A clock that was set back during the capture makes no gap. */
	if (shape->nr > 0 && at_ns < shape->points[shape->nr - 1].at_ns)
		at_ns = shape->points[shape->nr - 1].at_ns;
	shape->points[shape->nr++] = (struct zm_shape_point){ .at_ns = at_ns, .size = size };
	return 0;
}

void zm_shape_close(struct zm_shape *shape)
{
	uint64_t span_ns = shape->nr ? shape->points[shape->nr - 1].at_ns : 0;

	shape->lap_ns = shape->nr > 1 ? span_ns + span_ns / (shape->nr - 1) : 0;
	shape->smallest = UINT32_MAX;
	shape->largest = 0;
	for (size_t i = 0; i < shape->nr; i++) {
		uint32_t size = shape->points[i].size;

		shape->smallest = size < shape->smallest ? size : shape->smallest;
		shape->largest = size > shape->largest ? size : shape->largest;
	}
}

void zm_shape_release(struct zm_shape *shape)
{
	free(shape->points);
	*shape = (struct zm_shape){ 0 };
}

uint64_t zm_shape_due_ns(struct zm_shape_cursor *cursor, uint64_t now_ns)
{
	if (cursor->lap_start_ns == 0)
		cursor->lap_start_ns = now_ns;
	return cursor->lap_start_ns + cursor->shape->points[cursor->at].at_ns;
}

uint32_t zm_shape_next_size(struct zm_shape_cursor *cursor)
{
	uint32_t size = cursor->shape->points[cursor->at].size;

	cursor->at++;
	if (cursor->at == cursor->shape->nr) {
		cursor->at = 0;
		cursor->lap_start_ns += cursor->shape->lap_ns;
	}
	return size;
}

#ifdef ZM_HAVE_PCAP
#include <pcap/pcap.h>

static uint64_t stamp_ns(const struct pcap_pkthdr *header)
{
	return (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec;
}

/* 1 when a packet was taken, 0 when it was not one of ours, or -errno. */
static int take_packet(struct zm_shape *shape, int link, const struct pcap_pkthdr *header,
		       const unsigned char *data, uint64_t *first_ns)
{
	struct zm_packet packet;
	uint64_t at_ns = stamp_ns(header);

	if (zm_packet_parse(link, data, header->caplen, header->len, &packet) < 0 ||
	    packet.payload_bytes == 0)
		return 0;
	if (shape->nr == 0)
		*first_ns = at_ns;
	return zm_shape_add(shape, at_ns > *first_ns ? at_ns - *first_ns : 0, packet.payload_bytes);
}

static int read_packets(pcap_t *capture, const char *path, struct zm_shape *shape,
			struct zm_why *why)
{
	const unsigned char *data;
	struct pcap_pkthdr *header;
	uint64_t first_ns = 0;
	int got, r = 0;

	while (r >= 0 && (got = pcap_next_ex(capture, &header, &data)) == 1)
		r = take_packet(shape, pcap_datalink(capture), header, data, &first_ns);
	if (r == -ENOSPC) /* enough of it */
		r = 0;
	else if (r == 0 && got == PCAP_ERROR)
		return zm_why_set(why, -EINVAL, "shape=%s: %s", path, pcap_geterr(capture));
	if (r < 0)
		return zm_why_errno(why, r, "shape=%s", path);
	if (shape->nr == 0)
		return zm_why_set(why, -EINVAL, "shape=%s: no packet in it carries data", path);
	return 0;
}

static int open_capture(const char *path, pcap_t **ret_capture, struct zm_why *why)
{
	char reason[PCAP_ERRBUF_SIZE] = "";
	struct stat status;

	if (stat(path, &status) < 0 || access(path, R_OK) < 0) {
		(void)zm_why_errno(why, -errno, "shape=%s", path);
		return -EINVAL;
	}
	if (!S_ISREG(status.st_mode)) /* to open a pipe would wait for who writes to it */
		return zm_why_set(why, -EINVAL,
				  "shape=%s: not a file; it takes a pcap or pcapng file", path);
	*ret_capture =
		pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, reason);
	if (!*ret_capture)
		return zm_why_set(why, -EINVAL, "shape=%s: %s; it takes a pcap or pcapng file",
				  path, reason);
	return 0;
}

int zm_shape_check(const char *path, struct zm_why *why)
{
	pcap_t *capture;
	int r = open_capture(path, &capture, why);

	if (r == 0)
		pcap_close(capture);
	return r;
}

int zm_shape_read(const char *path, struct zm_shape *ret_shape, struct zm_why *why)
{
	struct zm_shape shape = { 0 };
	pcap_t *capture;
	int r = open_capture(path, &capture, why);

	if (r < 0)
		return r;
	r = read_packets(capture, path, &shape, why);
	pcap_close(capture);
	if (r < 0) {
		zm_shape_release(&shape);
		return r;
	}
	zm_shape_close(&shape);
	*ret_shape = shape;
	return 0;
}
#else
int zm_shape_read(const char *path, struct zm_shape *ret_shape, struct zm_why *why)
{
	(void)ret_shape;
	return zm_shape_check(path, why);
}

int zm_shape_check(const char *path, struct zm_why *why)
{
	return zm_why_set(
		why, -ENOTSUP,
		"shape=%s: this zonemark was built without libpcap; install libpcap-dev and "
		"build again",
		path);
}
#endif
