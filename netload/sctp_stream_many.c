/*
 * sctp_stream_many: one end sends messages from a one-to-many SCTP socket to another.
 *
 * As netperf's SCTP_STREAM_MANY: one socket and one association per pair, made by connect; ordered
 * messages on stream 0; the other end's listening socket is the one that receives.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_sctp_many,
	.form = ZM_NET_FORM_STREAM,
};

static const struct zm_option options[] = {
	ZM_NET_STREAM_ROWS("10K", "0", "0"),
	ZM_NET_INET_ROWS,
	ZM_NET_BUFFER_ROWS,
	ZM_NET_NODELAY_ROW,
	ZM_NET_PAYLOAD_ROWS,
	ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "one-to-many SCTP sockets, as netperf's SCTP_STREAM_MANY",
	.op = "message",
	.metrics = zm_netperf_stream_metrics,
	.report = zm_netperf_report,
};
