/*
 * tcp_sendfile: one end sends the pages of a file over a TCP connection, the other receives.
 *
 * As netperf's TCP_SENDFILE: sendfile instead of send, so that the page cache's pages are what the
 * socket holds. The file is the sender's own, unlinked, as long as its ring of buffers would be.
 */
#include "netload/net.h"
#include "netload/netperf.h"

static const struct zm_net_kind kind = {
	.family = &zm_family_tcp,
	.form = ZM_NET_FORM_STREAM,
	.sends_file = true,
};

static const struct zm_option options[] = {
	ZM_NET_STREAM_ROWS("10K", "128K", "0"),
	ZM_NET_INET_ROWS,
	ZM_NET_CAPTURE_ROWS,
	ZM_NET_BUFFER_ROWS,
	ZM_NET_NODELAY_ROW,
	ZM_NET_PAYLOAD_ROWS,
	{ ZM_NET_OPTION(dir), .type = ZM_OPTION_STRING,
	  .help = "directory of the file; else $TMPDIR, else /tmp" },
	ZM_NET_END_ROW,
};

const struct zm_workload ZM_WORKLOAD = {
	ZM_NET_WORKLOAD(kind, options),
	.summary = "a file's pages over a TCP connection, as netperf's TCP_SENDFILE",
	.op = "byte",
	.metrics = zm_netperf_stream_metrics,
	.report = zm_netperf_report,
};
