/*
 * memused: the used-memory curve, MemTotal - MemFree of one file at one instant.
 *
 * Read ten times a second, so that what a short load takes and gives back is seen. MemTotal stands
 * beside it, since it grows while the kernel is still initialising memory. Each node's used memory is
 * the kernel's own MemUsed.
 *
 * The report gives the mean and the peak of the measured window, and two levels to judge them by: the
 * idle one before any task was there, and the last one, after the tasks had gone; and each of them
 * above the idle one.
 */
#include <errno.h>

#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/vmfield.h"
#include "runner/monitors/window.h"

struct state {
	struct zm_sysfile file;
	uint32_t used_series;
	uint32_t total_series;
	struct zm_node_sources nodes;
	struct zm_window_figure used;
	double idle_kB, last_kB;
	bool has_idle, has_last;
};

static const struct zm_metric metrics[] = {
	{ .name = "meminfo.Memused", .unit = "kB", .kind = ZM_GAUGE },
	{ .name = "meminfo.max_used_kB", .unit = "kB", .kind = ZM_GAUGE },
	{ .name = "meminfo.idle_used_kB", .unit = "kB", .kind = ZM_GAUGE },
	{ .name = "meminfo.drained_used_kB", .unit = "kB", .kind = ZM_GAUGE },
	{ .name = "meminfo.mean_above_idle_kB", .unit = "kB", .kind = ZM_GAUGE },
	{ .name = "meminfo.max_above_idle_kB", .unit = "kB", .kind = ZM_GAUGE },
	{ .name = "meminfo.drained_above_idle_kB", .unit = "kB", .kind = ZM_GAUGE },
};

/* Total and free of the text that was read last. */
static bool find_memory(const char *text, uint64_t *ret_total, uint64_t *ret_free)
{
	bool has_total = false, has_free = false;
	uint64_t total = 0, free = 0;
	struct zm_field field;

	while (!(has_total && has_free) && zm_fields_next(&text, 0, &field)) {
		if (zm_field_is(&field, "MemTotal")) {
			total = field.value;
			has_total = true;
		} else if (zm_field_is(&field, "MemFree")) {
			free = field.value;
			has_free = true;
		}
	}
	if (!has_total || !has_free || free > total)
		return false;
	*ret_total = total;
	*ret_free = free;
	return true;
}

static bool describe_node(const struct zm_field *field, struct zm_series_desc *desc)
{
	return zm_field_is(field, "MemUsed") && zm_vmfield_describe_meminfo(field, desc);
}

static const struct zm_source_rules node_rules = {
	.prefix = "numa-meminfo.",
	.skip_words = 2, /* "Node 0" */
	.describe = describe_node,
};

static int declare(struct zm_monitor_context *context, const char *metric, uint32_t *ret_series)
{
	const struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.unit = "kB",
		.kind = ZM_GAUGE,
	};

	return zm_recorder_series(context->recorder, &desc, ret_series);
}

/* Each node's used memory where there are nodes; a machine without them still has its own. */
static int open_nodes(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	struct zm_why reason = { "" };
	int error = zm_node_sources_open(&state->nodes, context, "meminfo", &node_rules, &reason);

	if (error == 0 || error == -ENOMEM)
		return error;
	return zm_recorder_absent(context->recorder, context->monitor->name, reason.text);
}

static int open_memused(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	uint64_t total, free;
	uint32_t flags;
	int error = zm_source_open_file(&state->file, context->root, "proc/meminfo", why);

	if (error)
		return error;
	error = zm_source_read_file(&state->file, &flags);
	if (!error && !find_memory(state->file.text, &total, &free))
		return zm_why_set(why, -ENODATA, "/proc/meminfo has no MemTotal and MemFree");
	if (!error)
		error = declare(context, "meminfo.Memused", &state->used_series);
	if (!error)
		error = declare(context, "meminfo.MemTotal", &state->total_series);
	if (!error)
		error = open_nodes(context);
	if (error)
		return zm_why_errno(why, error, "used memory of /proc/meminfo");
	return 0;
}

/* Keeps what the report will need. */
static void remember(struct state *state, enum zm_phase phase, uint64_t t_ns, double used_kB)
{
	zm_window_feed(&state->used, phase, t_ns, used_kB);
	if (phase == ZM_PHASE_IDLE) {
		state->idle_kB = used_kB;
		state->has_idle = true;
	}
	state->last_kB = used_kB;
	state->has_last = phase > ZM_PHASE_STOP;
}

static int read_memused(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint64_t total, free;
	uint32_t flags;
	int error = zm_source_read_file(&state->file, &flags);

	if (!error && !find_memory(state->file.text, &total, &free))
		error = -ENODATA;
	if (!error) {
		zm_recorder_put_u64(context->recorder, state->used_series, t_ns, total - free,
				    flags);
		zm_recorder_put_u64(context->recorder, state->total_series, t_ns, total, flags);
		remember(state, context->phase, t_ns, (double)(total - free));
	}
	if (state->nodes.nr_sources) {
		int node_error = zm_node_sources_read(&state->nodes, context->recorder, t_ns);

		error = error ? error : node_error;
	}
	return error;
}

/* The same levels, each without what was used before. */
static int report_above_idle(const struct state *state, bool has_window, struct zm_report *report)
{
	const double levels[] = { zm_window_mean(&state->used), state->used.max, state->last_kB };
	const bool is_known[] = { has_window, has_window, state->has_last };
	int error = 0;

	for (size_t i = 0; !error && state->has_idle && i < 3; i++) {
		double above = levels[i] - state->idle_kB;

		if (is_known[i])
			error = zm_report_add(report, &metrics[4 + i], above, above, 0);
	}
	return error;
}

static int report_memused(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			  struct zm_report *report)
{
	const struct state *state = context->state;
	const struct zm_window_figure *used = &state->used;
	uint64_t width_ns = used->t1_ns - used->t0_ns;
	double mean = zm_window_mean(used);
	int error;

	if (!zm_window_is_whole(used, t0_ns, t1_ns)) {
		error = zm_window_say_absent(context);
	} else {
		error = zm_report_add(report, &metrics[0], mean, mean, width_ns);
		if (!error)
			error = zm_report_add(report, &metrics[1], used->max, used->max, width_ns);
	}
	if (!error && state->has_idle)
		error = zm_report_add(report, &metrics[2], state->idle_kB, state->idle_kB, 0);
	if (!error && state->has_last)
		error = zm_report_add(report, &metrics[3], state->last_kB, state->last_kB, 0);
	return error ? error
		     : report_above_idle(state, zm_window_is_whole(used, t0_ns, t1_ns), report);
}

static void close_memused(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_sysfile_release(&state->file);
	zm_node_sources_release(&state->nodes);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary =
		"used memory (MemTotal - MemFree) ten times a second, of the machine and each node",
	.needs = "/proc/meminfo",
	.rate = ZM_RATE_FAST,
	.state_bytes = sizeof(struct state),
	.open = open_memused,
	.read = read_memused,
	.report = report_memused,
	.close = close_memused,
};
