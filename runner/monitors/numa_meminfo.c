/*
 * numa-meminfo: every field of each node's meminfo ("Node 0 MemFree: 1234 kB").
 *
 * MemUsed is memused's.
 */
#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/vmfield.h"

static bool describe(const struct zm_field *field, struct zm_series_desc *desc)
{
	return !zm_field_is(field, "MemUsed") && zm_vmfield_describe_meminfo(field, desc);
}

static const struct zm_source_rules rules = {
	.prefix = "numa-meminfo.",
	.skip_words = 2, /* "Node 0" */
	.describe = describe,
};

static int open_nodes(struct zm_monitor_context *context, struct zm_why *why)
{
	return zm_node_sources_open(context->state, context, "meminfo", &rules, why);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "each node's memory by use",
	.needs = "/sys/devices/system/node/node*/meminfo",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct zm_node_sources),
	.open = open_nodes,
	.read = zm_node_sources_monitor_read,
	.close = zm_node_sources_monitor_close,
};
