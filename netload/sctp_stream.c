/*
 * sctp_stream: one end sends messages over a one-to-one SCTP association, the other receives.
 *
 * As netperf's SCTP_STREAM: sctp_sendmsg on stream 0, ordered, with the address given. With the
 * buffers left as they are, the loopback waits for timers: see netload.sndbuf and netload.rcvbuf.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_sctp,
	.form = ZM_NET_FORM_STREAM,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, zm_net_sctp_options),
	.summary = "a one-to-one SCTP association, as netperf's SCTP_STREAM",
	.op = "message",
	.metrics = zm_netperf_stream_metrics,
	.report = zm_netperf_report,
};
