/*
 * mpstat: where the CPUs' time went, of all and of each.
 *
 *     mpstat.cpu.all.sys   ns, scope host        mpstat.cpu.sys   ns, scope cpu
 *
 * The ten kinds of time are kept apart: the kernel counts a guest's time in user time too (and
 * guest_nice in nice), which is taken out here, so that the kinds add up to the time that passed. A
 * tick (10 ms) is the resolution. The report gives shares of the measured window in percent.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/stat.h"
#include "runner/monitors/window.h"

struct state {
	struct zm_sysfile file;
	struct zm_table table; /* group 0: all; else the CPU + 1 */
	uint64_t tick_ns;
	unsigned int nr_times; /* of the line of all CPUs */
	struct zm_window_figure all[ZM_STAT_NR_TIMES];
};

static const char *const names[ZM_STAT_NR_TIMES] = { "usr", "nice", "sys",   "idle",  "iowait",
						     "irq", "soft", "steal", "guest", "gnice" };

static const struct zm_metric metrics[ZM_STAT_NR_TIMES] = {
	{ .name = "mpstat.cpu.all.usr%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.nice%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.sys%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.idle%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.iowait%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.irq%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.soft%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.steal%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.guest%", .unit = "%", .kind = ZM_GAUGE },
	{ .name = "mpstat.cpu.all.gnice%", .unit = "%", .kind = ZM_GAUGE },
};

static void take_out(uint64_t *from, uint64_t part)
{
	*from = *from > part ? *from - part : 0;
}

/* Takes the guests' times out of the ones they are counted in. */
static void disjoin(struct zm_stat_cpu *cpu)
{
	if (cpu->nr_times > ZM_STAT_GUEST)
		take_out(&cpu->ticks[ZM_STAT_USER], cpu->ticks[ZM_STAT_GUEST]);
	if (cpu->nr_times > ZM_STAT_GUEST_NICE)
		take_out(&cpu->ticks[ZM_STAT_NICE], cpu->ticks[ZM_STAT_GUEST_NICE]);
}

static uint64_t group_of(const struct zm_stat_cpu *cpu)
{
	return (uint64_t)(cpu->cpu + 1);
}

static int declare(struct zm_monitor_context *context, const struct zm_stat_cpu *cpu,
		   const char *name)
{
	struct state *state = context->state;
	bool is_all = cpu->cpu < 0;
	char metric[64];
	struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.unit = "ns",
		.kind = ZM_COUNT,
		.scope = is_all ? ZM_SCOPE_HOST : ZM_SCOPE_CPU,
		.scope_id = is_all ? 0 : (uint32_t)cpu->cpu,
	};
	uint32_t series;
	int error;

	(void)snprintf(metric, sizeof(metric), is_all ? "mpstat.cpu.all.%s" : "mpstat.cpu.%s",
		       name);
	error = zm_recorder_series(context->recorder, &desc, &series);
	if (!error)
		error = zm_table_add(&state->table, group_of(cpu), name, strlen(name), series);
	return error == -EEXIST ? 0 : error;
}

static int open_mpstat(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	struct zm_stat_cpu cpu;
	const char *text;
	int error = zm_source_open_file(&state->file, context->root, "proc/stat", why);

	if (error)
		return error;
	state->tick_ns = zm_stat_tick_ns();
	text = state->file.text;
	while (!error && zm_stat_next_cpu(&text, &cpu)) {
		if (cpu.cpu < 0)
			state->nr_times = cpu.nr_times;
		for (unsigned int i = 0; !error && i < cpu.nr_times; i++)
			error = declare(context, &cpu, names[i]);
	}
	if (error)
		return zm_why_errno(why, error, "/proc/stat cannot be read");
	if (state->nr_times == 0)
		return zm_why_set(why, -ENODATA, "/proc/stat has no line of all CPUs");
	return 0;
}

static void put_cpu(struct zm_monitor_context *context, const struct zm_stat_cpu *cpu,
		    uint64_t t_ns, uint32_t flags)
{
	struct state *state = context->state;

	for (unsigned int i = 0; i < cpu->nr_times; i++) {
		const struct zm_table_row *row =
			zm_table_find(&state->table, group_of(cpu), names[i], strlen(names[i]));
		uint64_t value_ns = zm_stat_ns(cpu->ticks[i], state->tick_ns);

		if (!row)
			continue;
		zm_recorder_put_u64(context->recorder, row->series, t_ns, value_ns, flags);
		if (cpu->cpu < 0)
			zm_window_feed(&state->all[i], context->phase, t_ns, (double)value_ns);
	}
}

static int read_mpstat(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	struct zm_stat_cpu cpu;
	const char *text;
	uint32_t flags;
	int error = zm_source_read_file(&state->file, &flags);

	if (error)
		return error;
	text = state->file.text;
	zm_table_begin(&state->table);
	while (zm_stat_next_cpu(&text, &cpu)) {
		disjoin(&cpu);
		put_cpu(context, &cpu, t_ns, flags);
	}
	return 0;
}

/* idle and iowait may go backwards by a tick; they did not pass then. */
static double passed_ns(const struct zm_window_figure *figure)
{
	double delta;

	return zm_window_delta(figure, &delta) ? delta : 0;
}

static int report_mpstat(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			 struct zm_report *report)
{
	const struct state *state = context->state;
	double total_ns = 0;
	int error = 0;

	if (!zm_window_is_whole(&state->all[0], t0_ns, t1_ns))
		return zm_window_say_absent(context);
	for (unsigned int i = 0; i < state->nr_times; i++)
		total_ns += passed_ns(&state->all[i]);
	for (unsigned int i = 0; !error && total_ns > 0 && i < state->nr_times; i++) {
		double ns = passed_ns(&state->all[i]);

		error = zm_report_add(report, &metrics[i], 100 * ns / total_ns, ns,
				      state->all[i].t1_ns - state->all[i].t0_ns);
	}
	return error;
}

static void close_mpstat(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_sysfile_release(&state->file);
	zm_table_release(&state->table);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the CPUs' time by what they did with it, of all and of each",
	.needs = "/proc/stat",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.open = open_mpstat,
	.read = read_mpstat,
	.report = report_mpstat,
	.close = close_mpstat,
};
