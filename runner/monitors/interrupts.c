/*
 * interrupts: how often each interrupt came, of all CPUs, and the architecture's own of each CPU.
 *
 *     interrupts.RES:Rescheduling_interrupts                    scope host, and scope cpu
 *     interrupts.38:PCI-MSIX-0000:00:03.0.1-edge.virtio2-input  scope host
 *
 * Named as the robot's tables do. A device's interrupts of each CPU are left out: there are thousands on
 * a large machine, and which CPU has them is a setting.
 */
#include <stdio.h>

#include "runner/monitor.h"
#include "runner/monitors/fields.h"
#include "runner/monitors/percpu.h"

static bool is_numbered(const char *name, size_t length)
{
	uint64_t number;
	uint32_t flags;

	return zm_fields_number(name, name + length, &number, &flags);
}

/* Appends a word behind a mark; false when there is no room. */
static bool append(char *buf, size_t size, size_t *used, char mark, const char *word, size_t length)
{
	int n = snprintf(buf + *used, size - *used, "%c%.*s", mark, (int)length, word);

	if (n < 0 || (size_t)n >= size - *used)
		return false;
	*used += (size_t)n;
	return true;
}

static bool name_row(const char *name, size_t length, const char *rest, size_t rest_length,
		     char *buf, size_t size)
{
	const char between = is_numbered(name, length) ? '.' : '_';
	const char *at = rest, *end = rest + rest_length;
	const char *word;
	size_t word_length;
	char mark = ':';
	int n = snprintf(buf, size, "interrupts.%.*s", (int)length, name);
	size_t used = n > 0 ? (size_t)n : size;

	if (used >= size)
		return false;
	while (zm_fields_next_word(&at, end, &word, &word_length)) {
		if (!append(buf, size, &used, mark, word, word_length))
			return false;
		mark = between;
	}
	return true;
}

static bool has_cpus(const char *name, size_t length)
{
	return !is_numbered(name, length);
}

static const struct zm_percpu_rules rules = {
	.path = "proc/interrupts",
	.unit = "interrupts",
	.name = name_row,
	.has_cpus = has_cpus,
};

static int open_interrupts(struct zm_monitor_context *context, struct zm_why *why)
{
	return zm_percpu_open(context, &rules, why);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "interrupts by source: rescheduling, TLB shootdowns, function calls, devices",
	.needs = "/proc/interrupts",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct zm_percpu),
	.open = open_interrupts,
	.read = zm_percpu_monitor_read,
	.close = zm_percpu_monitor_close,
};
