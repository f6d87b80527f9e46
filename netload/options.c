/* options: the words of the choices, in the order of their enums; the lists that workloads share. */
#include "netload/options.h"

const char *const zm_net_ips[] = { "ipv4", "ipv6", NULL };
const char *const zm_net_links[] = { "lo", "veth", NULL };
const char *const zm_net_tlss[] = { "off", "on", "user", "kernel", NULL };
const char *const zm_net_engines[] = { "syscall", "uring", "batch", NULL };
const char *const zm_net_rr_engines[] = { "syscall", "uring", NULL };
const char *const zm_net_payloads[] = { "text", "random", "zero", NULL };
const char *const zm_net_fills[] = { "pool", "message", NULL };
const char *const zm_net_verifies[] = { "none", "sample", "full", NULL };
const char *const zm_net_paces[] = { "recorded", "max", NULL };

const struct zm_option zm_net_sctp_options[] = {
	ZM_NET_STREAM_ROWS("10K", "0", "0"),
	ZM_NET_INET_ROWS,
	ZM_NET_CAPTURE_ROWS,
	ZM_NET_BUFFER_ROWS,
	ZM_NET_NODELAY_ROW,
	ZM_NET_PAYLOAD_ROWS,
	ZM_NET_END_ROW,
};

const struct zm_option zm_net_rr_options[] = {
	ZM_NET_RR_ROWS,     ZM_NET_INET_ROWS,    ZM_NET_BUFFER_ROWS,
	ZM_NET_NODELAY_ROW, ZM_NET_PAYLOAD_ROWS, ZM_NET_END_ROW,
};
