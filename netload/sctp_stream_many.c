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

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, zm_net_sctp_options),
	.summary = "one-to-many SCTP sockets, as netperf's SCTP_STREAM_MANY",
	.op = "message",
	.metrics = zm_netperf_stream_metrics,
	.report = zm_netperf_report,
};
