/*
 * numa-vmstat: every counter and gauge of each node's vmstat.
 */
#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/vmfield.h"

static const struct zm_source_rules rules = {
	.prefix = "numa-vmstat.",
	.describe = zm_vmfield_describe,
};

static int open_nodes(struct zm_monitor_context *context, struct zm_why *why)
{
	return zm_node_sources_open(context->state, context, "vmstat", &rules, why);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "each node's memory-management counters",
	.needs = "/sys/devices/system/node/node*/vmstat",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct zm_node_sources),
	.open = open_nodes,
	.read = zm_node_sources_monitor_read,
	.close = zm_node_sources_monitor_close,
};
