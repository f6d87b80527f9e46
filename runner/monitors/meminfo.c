/*
 * meminfo: every field of /proc/meminfo, by the kernel's names.
 *
 * MemTotal is memused's, which reads it ten times a second together with the used memory.
 */
#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/vmfield.h"

static bool describe(const struct zm_field *field, struct zm_series_desc *desc)
{
	return !zm_field_is(field, "MemTotal") && zm_vmfield_describe_meminfo(field, desc);
}

static const struct zm_source_rules rules = {
	.prefix = "meminfo.",
	.describe = describe,
};

static int open_file(struct zm_monitor_context *context, struct zm_why *why)
{
	return zm_source_open(context->state, context, "proc/meminfo", &rules, why);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "memory by use, every field of /proc/meminfo",
	.needs = "/proc/meminfo",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct zm_source),
	.open = open_file,
	.read = zm_source_monitor_read,
	.close = zm_source_monitor_close,
};
