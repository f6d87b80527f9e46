/*
 * softirqs: how often each kind of soft interrupt ran, of all CPUs and of each.
 *
 *     softirqs.NET_RX     scope host, and scope cpu
 */
#include <stdio.h>

#include "runner/monitor.h"
#include "runner/monitors/percpu.h"

static bool name_row(const char *name, size_t length, const char *rest, size_t rest_length,
		     char *buf, size_t size)
{
	int n = snprintf(buf, size, "softirqs.%.*s", (int)length, name);

	(void)rest;
	(void)rest_length;
	return n > 0 && (size_t)n < size;
}

static bool has_cpus(const char *name, size_t length)
{
	(void)name;
	return length > 0;
}

static const struct zm_percpu_rules rules = {
	.path = "proc/softirqs",
	.unit = "events",
	.name = name_row,
	.has_cpus = has_cpus,
};

static int open_softirqs(struct zm_monitor_context *context, struct zm_why *why)
{
	return zm_percpu_open(context, &rules, why);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "soft interrupts by kind",
	.needs = "/proc/softirqs",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct zm_percpu),
	.open = open_softirqs,
	.read = zm_percpu_monitor_read,
	.close = zm_percpu_monitor_close,
};
