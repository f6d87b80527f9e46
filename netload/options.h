/*
 * options: what a person may say about a stream, as the field names it.
 *
 * All workloads here share one struct; each lists the rows that mean something for it, by the macros
 * below, and presets its own sizes. A field without a row keeps its zero, which is always the plain
 * choice: engine=syscall, verify=none, tls=off.
 */
#ifndef ZM_NETLOAD_OPTIONS_H
#define ZM_NETLOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/option.h"

enum zm_net_ip {
	ZM_NET_IPV4,
	ZM_NET_IPV6,
};

enum zm_net_link {
	ZM_NET_LINK_LO,
	ZM_NET_LINK_VETH,
};

enum zm_net_engine_kind {
	ZM_NET_ENGINE_SYSCALL,
	ZM_NET_ENGINE_URING,
	ZM_NET_ENGINE_BATCH,
};

enum zm_net_payload {
	ZM_NET_PAYLOAD_TEXT,
	ZM_NET_PAYLOAD_RANDOM,
	ZM_NET_PAYLOAD_ZERO,
};

enum zm_net_fill {
	ZM_NET_FILL_POOL,    /* before the gate; the buffers are walked */
	ZM_NET_FILL_MESSAGE, /* each message anew, by its sender */
};

enum zm_net_verify {
	ZM_NET_VERIFY_NONE,
	ZM_NET_VERIFY_SAMPLE,
	ZM_NET_VERIFY_FULL,
};

enum zm_net_tls {
	ZM_NET_TLS_OFF,
	ZM_NET_TLS_ON, /* the kernel's where it is to be had, else the user's */
	ZM_NET_TLS_USER,
	ZM_NET_TLS_KERNEL,
};

enum zm_net_pace {
	ZM_NET_PACE_RECORDED,
	ZM_NET_PACE_MAX,
};

struct zm_net_options {
	unsigned int ip;
	unsigned int link;
	uint64_t mtu;       /* of the veth pair */
	uint64_t send_size; /* bytes per message, or per call on a byte stream */
	uint64_t recv_size; /* bytes asked for per receiving call; 0: the receive buffer's size */
	uint64_t sndbuf;    /* SO_SNDBUF; 0: left as the kernel has it */
	uint64_t rcvbuf;
	bool nodelay;
	uint64_t ring; /* buffers walked at each end; 0: as netperf, socket buffer / size + 1 */
	unsigned int engine;
	uint64_t depth; /* messages per submission with engine=batch and engine=uring */
	bool gso;
	bool zerocopy;
	unsigned int payload;
	unsigned int fill;
	unsigned int verify;
	unsigned int tls;
	char *capture;
	uint64_t capture_bytes;
	char *shape;
	unsigned int pace;
	uint64_t ask;          /* bytes the reader asks for at a time (lmbench) */
	uint64_t request_size; /* of a transaction */
	uint64_t response_size;
	char *dir; /* where tcp_sendfile's file lies */
};

extern const char *const zm_net_ips[];
extern const char *const zm_net_links[];
extern const char *const zm_net_tlss[];
extern const char *const zm_net_engines[];
extern const char *const zm_net_rr_engines[]; /* one message in flight: nothing to batch */
extern const char *const zm_net_payloads[];
extern const char *const zm_net_fills[];
extern const char *const zm_net_verifies[];
extern const char *const zm_net_paces[];

#define ZM_NET_MAX_SIZE  (UINT64_C(1) << 30)
#define ZM_NET_MAX_DEPTH 256

#define ZM_NET_OPTION(field) .name = #field, .offset = offsetof(struct zm_net_options, field)

#define ZM_NET_SIZE_ROW(field, size, least, text)                                                  \
	{                                                                                          \
		ZM_NET_OPTION(field), .type = ZM_OPTION_SIZE, .preset = size, .min = least,        \
				      .max = ZM_NET_MAX_SIZE, .help = text, .unit = "bytes"        \
	}

#define ZM_NET_CHOICE_ROW(field, first, list, text)                                                \
	{                                                                                          \
		ZM_NET_OPTION(field), .type = ZM_OPTION_CHOICE, .preset = first, .choices = list,  \
				      .help = text                                                 \
	}

/* What every inet workload takes. */
#define ZM_NET_INET_ROWS                                                                           \
	ZM_NET_CHOICE_ROW(ip, "ipv4", zm_net_ips, "internet protocol"),                            \
		ZM_NET_CHOICE_ROW(link, "lo", zm_net_links,                                        \
				  "the loopback, or a veth pair between two network namespaces"),  \
	{                                                                                          \
		ZM_NET_OPTION(mtu), .type = ZM_OPTION_U64, .preset = "1500", .min = 1280,          \
				    .max = 65535, .help = "link=veth: its largest packet",         \
				    .unit = "bytes"                                                \
	}

#define ZM_NET_TLS_ROW                                                                             \
	ZM_NET_CHOICE_ROW(tls, "off", zm_net_tlss,                                                 \
			  "encrypt (AES-128-GCM): by OpenSSL (user), by the kernel, or by the "    \
			  "kernel where it can (on)")

/* What has one connection for the whole run can be captured. */
#define ZM_NET_CAPTURE_ROWS                                                                        \
	{ ZM_NET_OPTION(capture), .type = ZM_OPTION_STRING,                                        \
	  .help = "keep a bounded sample of the first pair's packets in this pcap file" },         \
		ZM_NET_SIZE_ROW(capture_bytes, "16M", 4096, "largest size of the capture's file")

/* Socket buffers: everything but pipes. */
#define ZM_NET_BUFFER_ROWS                                                                         \
	ZM_NET_SIZE_ROW(sndbuf, "0", 0,                                                            \
			"SO_SNDBUF of both ends; 0 leaves it as the kernel has it"),               \
		ZM_NET_SIZE_ROW(rcvbuf, "0", 0,                                                    \
				"SO_RCVBUF of both ends; 0 leaves it as the kernel has it")

#define ZM_NET_NODELAY_ROW                                                                         \
	{                                                                                          \
		ZM_NET_OPTION(nodelay), .type = ZM_OPTION_BOOL, .preset = "off",                   \
					.help = "send at once (TCP_NODELAY, SCTP_NODELAY)"         \
	}

/* What every stream takes. */
#define ZM_NET_STREAM_ROWS(size, receive, width)                                                   \
	ZM_NET_SIZE_ROW(send_size, size, 1, "bytes per sending call"),                             \
		ZM_NET_SIZE_ROW(                                                                   \
			recv_size, receive, 0,                                                     \
			"bytes asked for per receiving call; 0: the receive buffer's size"),       \
	{                                                                                          \
		ZM_NET_OPTION(ring), .type = ZM_OPTION_U64, .preset = width, .max = 65536,         \
				     .help = "buffers walked at each end; 0: socket buffer / "     \
					     "size + 1, as netperf",                               \
				     .unit = "buffers"                                             \
	}

#define ZM_NET_PAYLOAD_ROWS                                                                        \
	ZM_NET_CHOICE_ROW(payload, "text", zm_net_payloads, "what the messages hold"),             \
		ZM_NET_CHOICE_ROW(fill, "pool", zm_net_fills,                                      \
				  "fill the buffers once before the gate, or each message anew"),  \
		ZM_NET_CHOICE_ROW(                                                                 \
			verify, "none", zm_net_verifies,                                           \
			"check content and order at the receiver: none, one message in 64, all")

#define ZM_NET_ENGINE_ROWS                                                                         \
	ZM_NET_CHOICE_ROW(engine, "syscall", zm_net_engines,                                       \
			  "the originals' calls; batches and io_uring are other workloads"),       \
		{ ZM_NET_OPTION(depth),                                                            \
		  .type = ZM_OPTION_U64,                                                           \
		  .preset = "16",                                                                  \
		  .min = 1,                                                                        \
		  .max = ZM_NET_MAX_DEPTH,                                                         \
		  .unit = "messages",                                                              \
		  .help = "messages per submission with engine=batch and engine=uring" },          \
	{                                                                                          \
		ZM_NET_OPTION(zerocopy), .type = ZM_OPTION_BOOL, .preset = "off",                  \
					 .help = "engine=uring sends with SEND_ZC"                 \
	}

#define ZM_NET_SHAPE_ROWS                                                                          \
	{ ZM_NET_OPTION(shape), .type = ZM_OPTION_STRING,                                          \
	  .help = "send the message sizes and gaps of this pcap file" },                           \
		ZM_NET_CHOICE_ROW(pace, "recorded", zm_net_paces,                                  \
				  "with shape: at the recorded speed, or as fast as possible")

/* What every transaction takes. */
#define ZM_NET_RR_ROWS                                                                             \
	ZM_NET_SIZE_ROW(request_size, "1", 1, "bytes of a request"),                               \
		ZM_NET_SIZE_ROW(response_size, "1", 1, "bytes of a response")

#define ZM_NET_RR_ENGINE_ROW                                                                       \
	ZM_NET_CHOICE_ROW(engine, "syscall", zm_net_rr_engines,                                    \
			  "the original's calls; io_uring is another workload")

/* Lists that several workloads have in common. */
extern const struct zm_option zm_net_sctp_options[]; /* both SCTP streams */
extern const struct zm_option zm_net_rr_options[];   /* transactions by system calls alone */

#define ZM_NET_END_ROW                                                                             \
	{                                                                                          \
		.name = NULL                                                                       \
	}

#endif
