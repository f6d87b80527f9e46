/* packet: link header, then IP's, then the transport's; each knows where the next begins. */
#include "netload/packet.h"

#include <errno.h>
#include <netinet/in.h>

/* What is left to read: at most `captured` bytes, of `wire` on the wire. */
struct view {
	const uint8_t *data;
	size_t captured;
	size_t wire;
};

static uint16_t get16(const struct view *view, size_t at)
{
	return (uint16_t)(view->data[at] << 8 | view->data[at + 1]);
}

static uint32_t get32(const struct view *view, size_t at)
{
	return (uint32_t)get16(view, at) << 16 | get16(view, at + 2);
}

static int skip(struct view *view, size_t bytes)
{
	if (view->captured < bytes || view->wire < bytes)
		return -ENODATA;
	view->data += bytes;
	view->captured -= bytes;
	view->wire -= bytes;
	return 0;
}

/* Ethernet padding makes a frame longer than its packet. */
static void cut(struct view *view, size_t bytes)
{
	if (view->wire > bytes)
		view->wire = bytes;
	if (view->captured > bytes)
		view->captured = bytes;
}

static int skip_ethernet(struct view *view)
{
	size_t header = 14;

	/* 802.1Q and 802.1ad tags stand before the type. */
	while (view->captured >= header &&
	       (get16(view, header - 2) == 0x8100 || get16(view, header - 2) == 0x88a8))
		header += 4;
	return skip(view, header);
}

static int skip_link(int link, struct view *view)
{
	switch (link) {
	case ZM_PACKET_ETHERNET:
		return skip_ethernet(view);
	case ZM_PACKET_COOKED:
		return skip(view, 16);
	case ZM_PACKET_COOKED2:
		return skip(view, 20);
	case ZM_PACKET_NULL:
	case ZM_PACKET_LOOP:
		return skip(view, 4);
	case ZM_PACKET_RAW:
	case ZM_PACKET_RAW_FILE:
		return 0;
	default:
		return -EPROTO;
	}
}

static int parse_ipv4(struct view *view, struct zm_packet *packet)
{
	size_t header, total;

	if (view->captured < 20)
		return -ENODATA;
	header = (view->data[0] & 15u) * 4u;
	total = get16(view, 2);
	if (header < 20)
		return -EPROTO;
	packet->protocol = view->data[9];
	packet->is_first_fragment = (get16(view, 6) & 0x1fff) == 0;
	if (total >= header) /* 0 where the card segments: the frame's length says it */
		cut(view, total);
	return skip(view, header);
}

static bool is_extension(uint8_t next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS ||
	       next == IPPROTO_FRAGMENT;
}

static int parse_ipv6(struct view *view, struct zm_packet *packet)
{
	uint8_t next;
	size_t payload;

	if (view->captured < 40)
		return -ENODATA;
	next = view->data[6];
	payload = get16(view, 4);
	packet->is_first_fragment = true;
	(void)skip(view, 40);
	if (payload > 0)
		cut(view, payload);
	while (is_extension(next)) {
		size_t header;

		if (view->captured < 8)
			return -ENODATA;
		header = next == IPPROTO_FRAGMENT ? 8 : (view->data[1] + 1u) * 8u;
		if (next == IPPROTO_FRAGMENT)
			packet->is_first_fragment = (get16(view, 2) & 0xfff8) == 0;
		next = view->data[0];
		if (skip(view, header) < 0)
			return -ENODATA;
	}
	packet->protocol = next;
	return 0;
}

static int parse_tcp(struct view *view, struct zm_packet *packet)
{
	size_t header;

	if (view->captured < 20)
		return -ENODATA;
	header = (view->data[12] >> 4) * 4u;
	packet->sequence = get32(view, 4);
	packet->opens = view->data[13] & 2;
	packet->payload_bytes = view->wire > header ? (uint32_t)(view->wire - header) : 0;
	return header < 20 ? -EPROTO : 0;
}

static int parse_transport(struct view *view, struct zm_packet *packet)
{
	packet->payload_bytes = (uint32_t)view->wire;
	if (!packet->is_first_fragment)
		return 0;
	if (packet->protocol != IPPROTO_UDP && packet->protocol != IPPROTO_TCP &&
	    packet->protocol != IPPROTO_SCTP)
		return 0;
	if (view->captured < 8)
		return -ENODATA;
	packet->has_ports = true;
	packet->from_port = get16(view, 0);
	packet->to_port = get16(view, 2);
	if (packet->protocol == IPPROTO_TCP)
		return parse_tcp(view, packet);
	size_t header = packet->protocol == IPPROTO_UDP ? 8 : 12;

	packet->payload_bytes = view->wire > header ? (uint32_t)(view->wire - header) : 0;
	/* A datagram says itself how long it is, in the first of its fragments too. */
	if (packet->protocol == IPPROTO_UDP && get16(view, 4) >= 8)
		packet->payload_bytes = get16(view, 4) - 8u;
	return 0;
}

int zm_packet_parse(int link, const void *data, size_t captured, size_t wire_bytes,
		    struct zm_packet *ret_packet)
{
	struct view view = { .data = data, .captured = captured, .wire = wire_bytes };
	struct zm_packet packet = { 0 };
	int r = skip_link(link, &view);

	if (r == 0 && view.captured < 1)
		r = -ENODATA;
	if (r < 0)
		return r;
	switch (view.data[0] >> 4) {
	case 4:
		r = parse_ipv4(&view, &packet);
		break;
	case 6:
		r = parse_ipv6(&view, &packet);
		break;
	default:
		return -EPROTO;
	}
	if (r == 0)
		r = parse_transport(&view, &packet);
	if (r == 0)
		*ret_packet = packet;
	return r;
}
