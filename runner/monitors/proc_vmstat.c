/*
 * proc-vmstat: every counter and gauge of /proc/vmstat, by the kernel's names.
 */
#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/vmfield.h"

static const struct zm_source_rules rules = {
	.prefix = "proc-vmstat.",
	.describe = zm_vmfield_describe,
};

static int open_file(struct zm_monitor_context *context, struct zm_why *why)
{
	return zm_source_open(context->state, context, "proc/vmstat", &rules, why);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the memory management's counters, every field of /proc/vmstat",
	.needs = "/proc/vmstat",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct zm_source),
	.open = open_file,
	.read = zm_source_monitor_read,
	.close = zm_source_monitor_close,
};
