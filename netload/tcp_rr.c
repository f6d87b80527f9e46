/*
 * tcp_rr: requests and responses over one TCP connection, one in flight.
 *
 * As netperf's TCP_RR; the latency of each transaction goes into a histogram.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_tcp,
	.form = ZM_NET_FORM_RR,
};

static const struct zm_option options[] = {
	ZM_NET_RR_ROWS,     ZM_NET_INET_ROWS,    ZM_NET_CAPTURE_ROWS,  ZM_NET_BUFFER_ROWS,
	ZM_NET_NODELAY_ROW, ZM_NET_PAYLOAD_ROWS, ZM_NET_RR_ENGINE_ROW, ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "request and response over a TCP connection, as netperf's TCP_RR",
	.op = "transaction",
	.metrics = zm_netperf_rr_metrics,
	.report = zm_netperf_report,
	.hists = zm_netperf_rr_hists,
};
