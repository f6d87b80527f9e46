/*
 * sctp_rr: requests and responses over a one-to-one SCTP association, one in flight.
 *
 * As netperf's SCTP_RR.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_sctp,
	.form = ZM_NET_FORM_RR,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, zm_net_rr_options),
	.summary = "request and response over an SCTP association, as netperf's SCTP_RR",
	.op = "transaction",
	.metrics = zm_netperf_rr_metrics,
	.report = zm_netperf_report,
	.hists = zm_netperf_rr_hists,
};
