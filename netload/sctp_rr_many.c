/*
 * sctp_rr_many: requests and responses between one-to-many SCTP sockets, one in flight.
 *
 * As netperf's SCTP_RR_MANY is meant.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_sctp_many,
	.form = ZM_NET_FORM_RR,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, zm_net_rr_options),
	.summary = "request and response, one-to-many SCTP, as netperf's SCTP_RR_MANY",
	.op = "transaction",
	.metrics = zm_netperf_rr_metrics,
	.report = zm_netperf_report,
	.hists = zm_netperf_rr_hists,
};
