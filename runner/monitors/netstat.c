/*
 * netstat: the network stack's counters, and where it dropped what was sent.
 *
 * Every counter of /proc/net/snmp, netstat, snmp6, sctp/snmp and softnet_stat is a series under its
 * kernel name; the report gives what explains a stream's loss, as counts of the measured window. When
 * the tasks live in network namespaces of their own, theirs are counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netload/stack.h"
#include "runner/monitor.h"
#include "runner/monitors/window.h"

/* What the report gives. A counter that this kernel does not have is left out. */
#define ROW(counter, of, what)                                                                     \
	{                                                                                          \
		.name = "netstat." counter, .unit = of, .kind = ZM_GAUGE,                          \
		.better = ZM_BETTER_NEITHER, .summary = what                                       \
	}

static const struct zm_metric shown[] = {
	ROW("Udp.RcvbufErrors", "datagrams", "UDP: the receiver's buffer was full"),
	ROW("Udp.SndbufErrors", "datagrams", "UDP: the sender's buffer was full"),
	ROW("Udp.MemErrors", "datagrams", "UDP: net.ipv4.udp_mem was used up"),
	ROW("Udp.NoPorts", "datagrams", "UDP: nobody was there"),
	ROW("Udp6RcvbufErrors", "datagrams", "UDP over IPv6: the receiver's buffer was full"),
	ROW("Udp6MemErrors", "datagrams", "UDP over IPv6: net.ipv4.udp_mem was used up"),
	ROW("Tcp.RetransSegs", "segments", "TCP: sent again"),
	ROW("TcpExt.TCPBacklogDrop", "segments", "TCP: a busy receiver's backlog was full"),
	ROW("TcpExt.TCPRcvQDrop", "segments", "TCP: the receiver's queue was full"),
	ROW("TcpExt.TCPTimeouts", "timeouts", "TCP: retransmission timers that ran out"),
	ROW("TcpExt.ListenDrops", "connections", "TCP: a listener's queue was full"),
	ROW("softnet.dropped", "packets", "a CPU's queue of received packets was full"),
	ROW("softnet.time_squeeze", "times", "a CPU had more packets than its share of time"),
	ROW("SctpT3Retransmits", "chunks", "SCTP: sent again by a timer"),
	ROW("SctpFastRetransmits", "chunks", "SCTP: sent again at once"),
	ROW("SctpInPktDiscards", "packets", "SCTP: thrown away on arrival"),
};

#define NR_SHOWN (sizeof(shown) / sizeof(shown[0]))

struct state {
	struct zm_stack stack;
	uint32_t *series; /* of each counter */
	struct zm_window_figure figures[NR_SHOWN];
	size_t places[NR_SHOWN]; /* of its counter */
	bool has[NR_SHOWN];
};

static int declare(struct zm_monitor_context *context, size_t place)
{
	struct state *state = context->state;
	char metric[ZM_STACK_NAME + 16];
	const struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.unit = "events",
		.kind = ZM_COUNT,
	};

	(void)snprintf(metric, sizeof(metric), "netstat.%s", state->stack.counters[place].name);
	for (size_t i = 0; i < NR_SHOWN; i++)
		if (strcmp(shown[i].name, metric) == 0) {
			state->places[i] = place;
			state->has[i] = true;
		}
	return zm_recorder_series(context->recorder, &desc, &state->series[place]);
}

static int open_netstat(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int r = zm_stack_open(&state->stack, context->root, why);

	if (r < 0)
		return r;
	state->series = calloc(state->stack.nr_counters, sizeof(*state->series));
	if (!state->series)
		return zm_why_errno(why, -ENOMEM, "%zu series", state->stack.nr_counters);
	for (size_t i = 0; r == 0 && i < state->stack.nr_counters; i++)
		r = declare(context, i);
	return r < 0 ? zm_why_errno(why, r, "a counter's series") : 0;
}

/* Pairs lie beside each other: the first two tasks are both ends of the first. */
static int attach_netstat(struct zm_monitor_context *context, const struct zm_target *target,
			  struct zm_why *why)
{
	struct state *state = context->state;
	unsigned int nr = target->nr_tasks < ZM_STACK_SPACES ? target->nr_tasks : ZM_STACK_SPACES;
	int r = zm_stack_follow(&state->stack, target->tids, nr);

	return r < 0 ? zm_why_errno(why, r, "the counters of the tasks' network namespaces") : 0;
}

static int read_netstat(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	const struct zm_stack_counter *counters = state->stack.counters;
	int r = zm_stack_read(&state->stack);
	uint32_t flags = r < 0 ? (uint32_t)ZM_FLAG_PARTIAL : 0;

	for (size_t i = 0; i < state->stack.nr_counters; i++)
		zm_recorder_put_u64(context->recorder, state->series[i], t_ns, counters[i].total,
				    flags);
	for (size_t i = 0; i < NR_SHOWN; i++)
		if (state->has[i])
			zm_window_feed(&state->figures[i], context->phase, t_ns,
				       (double)counters[state->places[i]].total);
	return r;
}

static int report_netstat(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			  struct zm_report *report)
{
	const struct state *state = context->state;
	int r = 0;

	for (size_t i = 0; r == 0 && i < NR_SHOWN; i++) {
		const struct zm_window_figure *figure = &state->figures[i];
		double delta;

		if (!state->has[i])
			continue;
		if (!zm_window_is_whole(figure, t0_ns, t1_ns))
			return zm_window_say_absent(context);
		if (zm_window_delta(figure, &delta))
			r = zm_report_add(report, &shown[i], delta, delta,
					  figure->t1_ns - figure->t0_ns);
	}
	return r;
}

static void close_netstat(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_stack_release(&state->stack);
	free(state->series);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the network stack's counters, and where it dropped what was sent",
	.needs = "/proc/net/snmp",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.open = open_netstat,
	.attach = attach_netstat,
	.read = read_netstat,
	.report = report_netstat,
	.close = close_netstat,
};
