/*
 * tcp_stream: one end sends over a TCP connection, the other receives.
 *
 * As netperf's TCP_STREAM: one send per message of the socket's first send buffer (16 KiB), receiving
 * calls for as much as the receive buffer holds; the connecting end sends.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_tcp,
	.form = ZM_NET_FORM_STREAM,
};

static const struct zm_option options[] = {
	ZM_NET_STREAM_ROWS("16K", "128K", "0"),
	ZM_NET_INET_ROWS,
	ZM_NET_CAPTURE_ROWS,
	ZM_NET_BUFFER_ROWS,
	ZM_NET_NODELAY_ROW,
	ZM_NET_PAYLOAD_ROWS,
	ZM_NET_ENGINE_ROWS,
	ZM_NET_SHAPE_ROWS,
	ZM_NET_TLS_ROW,
	ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "a TCP connection in one direction, as netperf's TCP_STREAM",
	.op = "byte",
	.metrics = zm_netperf_stream_metrics,
	.report = zm_netperf_report,
};
