/*
 * tcp_crr: a TCP connection for each transaction.
 *
 * As netperf's TCP_CRR: connect, request, response, close; the connecting end closes first. When no
 * local port is free because all linger, it waits a millisecond and counts a refusal.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_tcp,
	.form = ZM_NET_FORM_CRR,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, zm_net_rr_options),
	.summary = "a TCP connection per transaction, as netperf's TCP_CRR",
	.op = "transaction",
	.metrics = zm_netperf_rr_metrics,
	.report = zm_netperf_report,
	.hists = zm_netperf_rr_hists,
};
