/* packet: headers written by hand, every link; cut at every byte; noise. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "netload/packet.h"
#include "workloads/base/random.h"

/* A frame that is being written. */
struct frame {
	uint8_t data[512];
	size_t size;
	size_t headers; /* bytes without the payload */
};

static void put(struct frame *frame, const void *data, size_t size)
{
	memcpy(frame->data + frame->size, data, size);
	frame->size += size;
}

static void put_zeros(struct frame *frame, size_t size)
{
	memset(frame->data + frame->size, 0, size);
	frame->size += size;
}

static void put16(struct frame *frame, unsigned int value)
{
	const uint8_t bytes[] = { (uint8_t)(value >> 8), (uint8_t)value };

	put(frame, bytes, 2);
}

static void put_link(struct frame *frame, int link)
{
	static const uint8_t tags[] = { 0x81, 0, 0, 5, 0x88, 0xa8, 0, 6 };

	switch (link) {
	case ZM_PACKET_ETHERNET:
		put_zeros(frame, 12);
		put(frame, tags, sizeof(tags));
		put16(frame, 0x0800);
		break;
	case ZM_PACKET_COOKED:
		put_zeros(frame, 16);
		break;
	case ZM_PACKET_COOKED2:
		put_zeros(frame, 20);
		break;
	case ZM_PACKET_NULL:
	case ZM_PACKET_LOOP:
		put_zeros(frame, 4);
		break;
	default:
		break;
	}
}

static size_t transport_size(unsigned int protocol)
{
	return protocol == IPPROTO_UDP ? 8 : protocol == IPPROTO_TCP ? 32 : 12;
}

static void put_ip(struct frame *frame, int version, unsigned int protocol, size_t payload)
{
	size_t inner = transport_size(protocol) + payload;
	uint8_t byte;

	if (version == 4) {
		put16(frame, 0x4600); /* with 4 bytes of options */
		put16(frame, (unsigned int)(24 + inner));
		put_zeros(frame, 5);
		byte = (uint8_t)protocol;
		put(frame, &byte, 1);
		put_zeros(frame, 14);
	} else {
		put16(frame, 0x6000);
		put16(frame, 0);
		put16(frame, (unsigned int)(8 + inner)); /* with one extension header */
		put16(frame, 60 << 8);
		put_zeros(frame, 32);
		byte = (uint8_t)protocol;
		put(frame, &byte, 1);
		put_zeros(frame, 7);
	}
}

static void put_transport(struct frame *frame, unsigned int protocol)
{
	put16(frame, 1234);
	put16(frame, 4321);
	if (protocol == IPPROTO_TCP) {
		put16(frame, 0xdead);
		put16(frame, 0xbeef);
		put_zeros(frame, 4);
		put16(frame, 0x8002); /* 32 bytes, SYN */
		put_zeros(frame, 18);
	} else {
		put_zeros(frame, transport_size(protocol) - 4);
	}
}

static void make_frame(struct frame *frame, int link, int version, unsigned int protocol,
		       size_t payload)
{
	memset(frame, 0, sizeof(*frame));
	put_link(frame, link);
	put_ip(frame, version, protocol, payload);
	put_transport(frame, protocol);
	frame->headers = frame->size;
	put_zeros(frame, payload);
}

static const int links[] = { ZM_PACKET_NULL,     ZM_PACKET_ETHERNET, ZM_PACKET_RAW,
			     ZM_PACKET_RAW_FILE, ZM_PACKET_LOOP,     ZM_PACKET_COOKED,
			     ZM_PACKET_COOKED2 };
static const unsigned int protocols[] = { IPPROTO_UDP, IPPROTO_TCP, IPPROTO_SCTP };

/* On memory of exactly that size, so that a sanitizer sees a read beyond. */
static int parse(int link, const uint8_t *data, size_t captured, size_t wire,
		 struct zm_packet *ret_packet)
{
	uint8_t *copy = malloc(captured ? captured : 1);
	int r;

	memcpy(copy, data, captured);
	r = zm_packet_parse(link, copy, captured, wire, ret_packet);
	free(copy);
	return r;
}

static void try_frame(int link, int version, unsigned int protocol)
{
	struct zm_packet packet;
	struct frame frame;

	make_frame(&frame, link, version, protocol, 100);
	assert_int_equal(parse(link, frame.data, frame.size, frame.size, &packet), 0);
	assert_int_equal(packet.protocol, protocol);
	assert_true(packet.has_ports);
	assert_int_equal(packet.from_port, 1234);
	assert_int_equal(packet.to_port, 4321);
	assert_int_equal(packet.payload_bytes, 100);
	if (protocol == IPPROTO_TCP) {
		assert_int_equal(packet.sequence, 0xdeadbeef);
		assert_true(packet.opens);
	}
	/* Padding behind the packet is not payload. */
	assert_int_equal(parse(link, frame.data, frame.size, frame.size + 20, &packet), 0);
	assert_int_equal(packet.payload_bytes, 100);
	/* The payload need not be captured, the headers must. */
	for (size_t captured = 0; captured < frame.size; captured++) {
		int r = parse(link, frame.data, captured, frame.size, &packet);

		if (captured >= frame.headers)
			assert_int_equal(r, 0);
		else
			assert_true(r == 0 || r == -ENODATA || r == -EPROTO);
		if (r == 0)
			assert_int_equal(packet.payload_bytes, 100);
	}
}

static void every_link_and_protocol(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		for (size_t j = 0; j < sizeof(protocols) / sizeof(protocols[0]); j++) {
			try_frame(links[i], 4, protocols[j]);
			try_frame(links[i], 6, protocols[j]);
		}
}

static void later_fragments_have_no_ports(void **state)
{
	struct zm_packet packet;
	struct frame frame;

	(void)state;
	make_frame(&frame, ZM_PACKET_RAW, 4, IPPROTO_UDP, 100);
	frame.data[7] = 8; /* the fragment's offset */
	assert_int_equal(parse(ZM_PACKET_RAW, frame.data, frame.size, frame.size, &packet), 0);
	assert_false(packet.has_ports);
	assert_false(packet.is_first_fragment);
}

static void what_is_not_ip_is_said(void **state)
{
	static const uint8_t arp[60] = { [12] = 8, [13] = 6, [14] = 0 };
	struct zm_packet packet;

	(void)state;
	assert_int_equal(parse(ZM_PACKET_ETHERNET, arp, sizeof(arp), sizeof(arp), &packet),
			 -EPROTO);
	assert_int_equal(parse(9999, arp, sizeof(arp), sizeof(arp), &packet), -EPROTO);
	assert_int_equal(parse(ZM_PACKET_ETHERNET, arp, 0, 0, &packet), -ENODATA);
}

static void noise_is_survived(void **state)
{
	struct zm_random random;
	struct zm_packet packet;
	uint8_t data[128];

	(void)state;
	zm_random_init(&random, 3, 0);
	for (unsigned int i = 0; i < 20000; i++) {
		size_t size = zm_random_below(&random, sizeof(data));
		int link = links[zm_random_below(&random, sizeof(links) / sizeof(links[0]))];

		for (size_t j = 0; j < size; j++)
			data[j] = (uint8_t)zm_random_next(&random);
		if (parse(link, data, size, size + zm_random_below(&random, 100), &packet) == 0)
			assert_true(packet.payload_bytes <= UINT16_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_link_and_protocol),
		cmocka_unit_test(later_fragments_have_no_ports),
		cmocka_unit_test(what_is_not_ip_is_said),
		cmocka_unit_test(noise_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
