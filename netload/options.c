/* options: the words of the choices, in the order of their enums. */
#include "netload/options.h"

const char *const zm_net_ips[] = { "ipv4", "ipv6", NULL };
const char *const zm_net_links[] = { "lo", "veth", NULL };
const char *const zm_net_engines[] = { "syscall", "uring", "batch", NULL };
const char *const zm_net_rr_engines[] = { "syscall", "uring", NULL };
const char *const zm_net_payloads[] = { "text", "random", "zero", NULL };
const char *const zm_net_fills[] = { "pool", "message", NULL };
const char *const zm_net_verifies[] = { "none", "sample", "full", NULL };
const char *const zm_net_tlss[] = { "off", "on", "kernel", NULL };
const char *const zm_net_paces[] = { "recorded", "max", NULL };
