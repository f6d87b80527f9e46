/*
 * pressure: how long tasks stood still for want of CPU, memory or I/O (PSI).
 *
 *     some avg10=0.00 avg60=0.00 avg300=0.00 total=123456     us in which at least one task waited
 *     full avg10=0.00 avg60=0.00 avg300=0.00 total=1234       us in which all of them did
 *
 * The kernel's own averages are left out: they are of other windows. The report gives the share of the
 * measured window in percent.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"

enum file {
	CPU,
	MEMORY,
	IO,
	IRQ, /* since 6.1, full only, with CONFIG_IRQ_TIME_ACCOUNTING */
	NR_FILES,
};

enum line {
	SOME,
	FULL,
	NR_LINES,
};

struct figure {
	uint32_t series;
	bool is_declared;
	struct zm_window_figure window;
};

struct state {
	struct zm_sysfile files[NR_FILES];
	bool has_file[NR_FILES];
	struct figure figures[NR_FILES][NR_LINES];
};

static const char *const paths[NR_FILES] = { "proc/pressure/cpu", "proc/pressure/memory",
					     "proc/pressure/io", "proc/pressure/irq" };

static const char *const line_names[NR_LINES] = { "some", "full" };

static const char *const names[NR_FILES][NR_LINES] = {
	{ "pressure.cpu.some", "pressure.cpu.full" },
	{ "pressure.memory.some", "pressure.memory.full" },
	{ "pressure.io.some", "pressure.io.full" },
	{ "pressure.irq.some", "pressure.irq.full" },
};

#define SHARE(of)                                                                                  \
	{                                                                                          \
		.name = of "%", .unit = "%", .kind = ZM_GAUGE                                      \
	}

static const struct zm_metric metrics[NR_FILES][NR_LINES] = {
	{ SHARE("pressure.cpu.some"), SHARE("pressure.cpu.full") },
	{ SHARE("pressure.memory.some"), SHARE("pressure.memory.full") },
	{ SHARE("pressure.io.some"), SHARE("pressure.io.full") },
	{ SHARE("pressure.irq.some"), SHARE("pressure.irq.full") },
};

/* The total of the line that begins with a word. */
static bool find_total(const char *text, const char *first, uint64_t *ret_total_us)
{
	const char *line, *at, *word;
	size_t length, word_length;
	uint32_t flags;

	while (zm_fields_next_line(&text, &line, &length)) {
		at = line;
		if (!zm_fields_next_word(&at, line + length, &word, &word_length) ||
		    !zm_name_is(word, word_length, first))
			continue;
		while (zm_fields_next_word(&at, line + length, &word, &word_length))
			if (zm_name_starts(word, word_length, "total="))
				return zm_fields_number(word + 6, word + word_length, ret_total_us,
							&flags);
	}
	return false;
}

static int declare(struct zm_monitor_context *context, enum file file)
{
	struct state *state = context->state;
	uint64_t total_us;
	int error = 0;

	for (enum line line = 0; !error && line < NR_LINES; line++) {
		struct figure *figure = &state->figures[file][line];
		const struct zm_series_desc desc = {
			.source = context->monitor->name,
			.metric = names[file][line],
			.unit = "us",
			.kind = ZM_COUNT,
		};

		if (!find_total(state->files[file].text, line_names[line], &total_us))
			continue;
		error = zm_recorder_series(context->recorder, &desc, &figure->series);
		figure->is_declared = !error;
		state->has_file[file] = !error;
	}
	return error;
}

static int open_pressure(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	bool has_any = false;
	int error = 0;

	for (enum file file = 0; !error && file < NR_FILES; file++) {
		if (zm_sysfile_open(&state->files[file], context->root, paths[file]))
			continue;
		error = declare(context, file);
		has_any |= state->has_file[file];
	}
	if (error)
		return zm_why_errno(why, error, "/proc/pressure");
	if (!has_any)
		return zm_why_set(why, -ENOTSUP,
				  "/proc/pressure cannot be read: the kernel needs CONFIG_PSI, and "
				  "psi=1 on its command line where it is off by default");
	return 0;
}

static int read_file(struct zm_monitor_context *context, enum file file, uint64_t t_ns)
{
	struct state *state = context->state;
	uint64_t total_us;
	uint32_t flags;
	int error = zm_source_read_file(&state->files[file], &flags);

	if (error)
		return error;
	for (enum line line = 0; line < NR_LINES; line++) {
		struct figure *figure = &state->figures[file][line];

		if (!figure->is_declared ||
		    !find_total(state->files[file].text, line_names[line], &total_us))
			continue;
		zm_recorder_put_u64(context->recorder, figure->series, t_ns, total_us, flags);
		zm_window_feed(&figure->window, context->phase, t_ns, (double)total_us);
	}
	return 0;
}

static int read_pressure(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	int first_error = 0;

	for (enum file file = 0; file < NR_FILES; file++) {
		int error = state->has_file[file] ? read_file(context, file, t_ns) : 0;

		if (error && !first_error)
			first_error = error;
	}
	return first_error;
}

static int report_share(const struct figure *figure, const struct zm_metric *metric,
			struct zm_report *report)
{
	uint64_t width_ns = figure->window.t1_ns - figure->window.t0_ns;
	double us;

	if (width_ns == 0 || !zm_window_delta(&figure->window, &us))
		return 0;
	return zm_report_add(report, metric, 100 * us * (double)ZM_NS_PER_US / (double)width_ns, us,
			     width_ns);
}

static int report_pressure(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			   struct zm_report *report)
{
	const struct state *state = context->state;
	int error = 0;

	for (unsigned int i = 0; !error && i < NR_FILES * NR_LINES; i++) {
		const struct figure *figure = &state->figures[i / NR_LINES][i % NR_LINES];

		if (!figure->is_declared)
			continue;
		if (!zm_window_is_whole(&figure->window, t0_ns, t1_ns))
			return zm_window_say_absent(context);
		error = report_share(figure, &metrics[i / NR_LINES][i % NR_LINES], report);
	}
	return error;
}

static void close_pressure(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	for (enum file file = 0; file < NR_FILES; file++)
		zm_sysfile_release(&state->files[file]);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "how long tasks waited for CPU, memory and I/O (PSI)",
	.needs = "/proc/pressure (CONFIG_PSI)",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.open = open_pressure,
	.read = read_pressure,
	.report = report_pressure,
	.close = close_pressure,
};
