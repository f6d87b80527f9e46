/*
 * unix_dgram: one end sends datagrams over a socketpair, the other receives.
 *
 * No original has it. AF_UNIX datagrams are never lost: a sender waits while the receiver's queue
 * (net.unix.max_dgram_qlen) or its own buffer is full.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_unix_dgram,
	.form = ZM_NET_FORM_STREAM,
};

static const struct zm_option options[] = {
	ZM_NET_STREAM_ROWS("10K", "0", "0"),
	ZM_NET_BUFFER_ROWS,
	ZM_NET_PAYLOAD_ROWS,
	ZM_NET_ENGINE_ROWS,
	ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "AF_UNIX datagrams in one direction",
	.op = "message",
	.metrics = zm_net_dgram_metrics,
	.report = zm_netperf_report,
};
