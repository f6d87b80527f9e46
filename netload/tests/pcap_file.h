/*
 * pcap_file: a capture file written by hand: the classic format with nanoseconds, raw IPv4 packets.
 */
#ifndef ZM_NETLOAD_TESTS_PCAP_FILE_H
#define ZM_NETLOAD_TESTS_PCAP_FILE_H

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "workloads/base/tests/tree.h"

struct pcap_file {
	uint8_t data[1 << 16];
	size_t size;
};

static inline void pcap_put(struct pcap_file *file, const void *data, size_t size)
{
	tree_must(file->size + size <= sizeof(file->data));
	memcpy(file->data + file->size, data, size);
	file->size += size;
}

static inline void pcap_begin(struct pcap_file *file)
{
	const uint32_t header[] = { 0xa1b23c4d, 4u << 16 | 2u, 0, 0, 65535, 101 };

	file->size = 0;
	pcap_put(file, header, sizeof(header));
}

/* A UDP packet with so much payload, of which nothing is captured. */
static inline void pcap_add_udp(struct pcap_file *file, uint64_t at_ns, unsigned int payload)
{
	unsigned int total = 28 + payload, datagram = 8 + payload;
	const uint32_t header[] = { (uint32_t)(at_ns / 1000000000u),
				    (uint32_t)(at_ns % 1000000000u), 28, total };
	uint8_t packet[28] = {
		[0] = 0x45,        [2] = (uint8_t)(total >> 8),     [3] = (uint8_t)total,
		[9] = IPPROTO_UDP, [24] = (uint8_t)(datagram >> 8), [25] = (uint8_t)datagram
	};

	pcap_put(file, header, sizeof(header));
	pcap_put(file, packet, sizeof(packet));
}

#endif
