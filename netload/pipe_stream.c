/*
 * pipe_stream: one end writes to a pipe, the other reads.
 *
 * As lmbench's bw_pipe: 64 KiB at a time from one buffer, into one that is not aligned to a page.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_pipe,
	.form = ZM_NET_FORM_STREAM,
	.recv_offset = 128,
};

static const struct zm_option options[] = {
	ZM_NET_STREAM_ROWS("64K", "64K", "1"),
	ZM_NET_PAYLOAD_ROWS,
	ZM_NET_ENGINE_ROWS,
	ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "a pipe in one direction, as lmbench's bw_pipe",
	.op = "byte",
	.metrics = zm_lmbench_pipe_metrics,
	.report = zm_netperf_report,
};
