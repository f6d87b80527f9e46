/*
 * udp_stream: one end sends UDP datagrams as fast as it can, the other receives what arrives.
 *
 * As netperf's UDP_STREAM: unconnected sockets, one blocking sendto per message, SO_DONTROUTE and
 * IP_RECVERR, receiving buffers as large as the socket's. Both ends count.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_udp,
	.form = ZM_NET_FORM_STREAM,
};

static const struct zm_option options[] = {
	ZM_NET_STREAM_ROWS("65507", "0", "0"),
	ZM_NET_INET_ROWS,
	ZM_NET_CAPTURE_ROWS,
	ZM_NET_BUFFER_ROWS,
	ZM_NET_PAYLOAD_ROWS,
	ZM_NET_ENGINE_ROWS,
	ZM_NET_SHAPE_ROWS,
	{ ZM_NET_OPTION(gso), .type = ZM_OPTION_BOOL, .preset = "off",
	  .help = "engine=batch: the kernel cuts and merges messages (UDP_SEGMENT, UDP_GRO)" },
	ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "UDP datagrams in one direction, as netperf's UDP_STREAM",
	.op = "message",
	.metrics = zm_netperf_udp_metrics,
	.report = zm_netperf_report,
};
