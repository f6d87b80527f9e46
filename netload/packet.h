/*
 * packet: the few fields of a captured packet that a stream is about.
 *
 * Reads Ethernet, Linux "cooked" (1 and 2), raw IP and BSD loopback frames; IPv4 and IPv6; UDP, TCP
 * and SCTP. Never reads beyond what was captured; what is not there is not said.
 */
#ifndef ZM_NETLOAD_PACKET_H
#define ZM_NETLOAD_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* pcap's link types that are read. */
enum zm_packet_link {
	ZM_PACKET_NULL = 0,
	ZM_PACKET_ETHERNET = 1,
	ZM_PACKET_RAW = 12,
	ZM_PACKET_RAW_FILE = 101, /* what the same is called in a file */
	ZM_PACKET_LOOP = 108,
	ZM_PACKET_COOKED = 113,
	ZM_PACKET_COOKED2 = 276,
};

struct zm_packet {
	uint8_t protocol; /* IPPROTO_UDP, … */
	uint16_t from_port, to_port;
	uint32_t payload_bytes; /* on the wire, behind the transport's header */
	uint32_t sequence;      /* TCP */
	bool has_ports;
	bool is_first_fragment; /* or not fragmented at all */
	bool opens;             /* TCP: SYN is set */
};

/* wire_bytes: the frame's length on the wire, of which `captured` are at data. 0; -EPROTO: not IP;
 * -ENODATA: cut before the headers end. */
int zm_packet_parse(int link, const void *data, size_t captured, size_t wire_bytes,
		    struct zm_packet *ret_packet);

#endif
