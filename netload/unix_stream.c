/*
 * unix_stream: one end writes to a stream socketpair, the other reads.
 *
 * As lmbench's bw_unix: the reader asks for 10 MiB over a control pipe and reads until it has them,
 * the writer writes 64 KiB at a time, each from one buffer. `ask` is rounded up to whole messages.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_unix,
	.form = ZM_NET_FORM_ASKED,
};

static const struct zm_option options[] = {
	ZM_NET_STREAM_ROWS("64K", "64K", "1"),
	ZM_NET_SIZE_ROW(ask, "10M", 1, "bytes that the reader asks for at a time"),
	ZM_NET_BUFFER_ROWS,
	ZM_NET_PAYLOAD_ROWS,
	ZM_NET_ENGINE_ROWS,
	ZM_NET_SHAPE_ROWS,
	ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "an AF_UNIX stream in one direction, as lmbench's bw_unix",
	.op = "byte",
	.metrics = zm_lmbench_unix_metrics,
	.report = zm_netperf_report,
};
