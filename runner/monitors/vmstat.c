/*
 * vmstat: the columns of vmstat(8), as raw counts and gauges.
 *
 * A row is a column; a term says which figure of which file is added to it or taken from it. The
 * report gives what vmstat(8) prints of the measured window: rates per second, shares of CPU time, and
 * the mean of what is a gauge. `r` counts running tasks without the one that reads the file.
 */
#include <errno.h>

#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/stat.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"

enum row {
	PROCS_R,
	PROCS_B,
	MEMORY_SWPD,
	MEMORY_FREE,
	MEMORY_BUFF,
	MEMORY_CACHE,
	SWAP_SI,
	SWAP_SO,
	IO_BI,
	IO_BO,
	SYSTEM_IN,
	SYSTEM_CS,
	CPU_US,
	CPU_SY,
	CPU_ID,
	CPU_WA,
	CPU_ST,
	NR_ROWS,
};

enum file {
	FILE_STAT,
	FILE_VMSTAT,
	FILE_MEMINFO,
	NR_FILES,
};

struct state {
	struct zm_sysfile files[NR_FILES];
	uint64_t tick_ns;
	bool has_file[NR_FILES];
	bool has_row[NR_ROWS];
	uint32_t series[NR_ROWS];
	struct zm_window_figure figures[NR_ROWS];
};

/* What the files said, of one reading. */
struct reading {
	uint64_t values[NR_ROWS];
	bool has[NR_ROWS];
};

static const char *const paths[NR_FILES] = { "proc/stat", "proc/vmstat", "proc/meminfo" };

struct column {
	const char *name;
	const char *unit; /* of the series */
	enum zm_kind kind;
	enum file file;
	struct zm_metric shown; /* what the report gives */
};

#define COLUMN(name_, unit_, kind_, file_, shown_unit)                                             \
	{                                                                                          \
		name_, unit_, kind_, file_,                                                        \
		{                                                                                  \
			.name = name_, .unit = shown_unit, .kind = ZM_GAUGE                        \
		}                                                                                  \
	}

static const struct column columns[NR_ROWS] = {
	[PROCS_R] = COLUMN("vmstat.procs.r", "tasks", ZM_GAUGE, FILE_STAT, "tasks"),
	[PROCS_B] = COLUMN("vmstat.procs.b", "tasks", ZM_GAUGE, FILE_STAT, "tasks"),
	[MEMORY_SWPD] = COLUMN("vmstat.memory.swpd", "kB", ZM_GAUGE, FILE_MEMINFO, "kB"),
	[MEMORY_FREE] = COLUMN("vmstat.memory.free", "kB", ZM_GAUGE, FILE_MEMINFO, "kB"),
	[MEMORY_BUFF] = COLUMN("vmstat.memory.buff", "kB", ZM_GAUGE, FILE_MEMINFO, "kB"),
	[MEMORY_CACHE] = COLUMN("vmstat.memory.cache", "kB", ZM_GAUGE, FILE_MEMINFO, "kB"),
	[SWAP_SI] = COLUMN("vmstat.swap.si", "pages", ZM_COUNT, FILE_VMSTAT, "pages/s"),
	[SWAP_SO] = COLUMN("vmstat.swap.so", "pages", ZM_COUNT, FILE_VMSTAT, "pages/s"),
	[IO_BI] = COLUMN("vmstat.io.bi", "kB", ZM_COUNT, FILE_VMSTAT, "kB/s"),
	[IO_BO] = COLUMN("vmstat.io.bo", "kB", ZM_COUNT, FILE_VMSTAT, "kB/s"),
	[SYSTEM_IN] = COLUMN("vmstat.system.in", "interrupts", ZM_COUNT, FILE_STAT, "interrupts/s"),
	[SYSTEM_CS] = COLUMN("vmstat.system.cs", "switches", ZM_COUNT, FILE_STAT, "switches/s"),
	[CPU_US] = COLUMN("vmstat.cpu.us", "ns", ZM_COUNT, FILE_STAT, "%"),
	[CPU_SY] = COLUMN("vmstat.cpu.sy", "ns", ZM_COUNT, FILE_STAT, "%"),
	[CPU_ID] = COLUMN("vmstat.cpu.id", "ns", ZM_COUNT, FILE_STAT, "%"),
	[CPU_WA] = COLUMN("vmstat.cpu.wa", "ns", ZM_COUNT, FILE_STAT, "%"),
	[CPU_ST] = COLUMN("vmstat.cpu.st", "ns", ZM_COUNT, FILE_STAT, "%"),
};

/* name of file, added to row (or taken from it). */
static const struct term {
	enum file file;
	enum row row;
	const char *name;
	bool is_taken;
} terms[] = {
	{ FILE_STAT, PROCS_R, "procs_running", false },
	{ FILE_STAT, PROCS_B, "procs_blocked", false },
	{ FILE_STAT, SYSTEM_IN, "intr", false },
	{ FILE_STAT, SYSTEM_CS, "ctxt", false },
	{ FILE_VMSTAT, SWAP_SI, "pswpin", false },
	{ FILE_VMSTAT, SWAP_SO, "pswpout", false },
	{ FILE_VMSTAT, IO_BI, "pgpgin", false },
	{ FILE_VMSTAT, IO_BO, "pgpgout", false },
	{ FILE_MEMINFO, MEMORY_SWPD, "SwapTotal", false },
	{ FILE_MEMINFO, MEMORY_SWPD, "SwapFree", true },
	{ FILE_MEMINFO, MEMORY_FREE, "MemFree", false },
	{ FILE_MEMINFO, MEMORY_BUFF, "Buffers", false },
	{ FILE_MEMINFO, MEMORY_CACHE, "Cached", false },
	{ FILE_MEMINFO, MEMORY_CACHE, "SReclaimable", false },
};

/* Which column a kind of CPU time belongs to; guest times are in user and nice already. */
static const enum row row_of_time[ZM_STAT_STEAL + 1] = {
	[ZM_STAT_USER] = CPU_US,    [ZM_STAT_NICE] = CPU_US,   [ZM_STAT_SYSTEM] = CPU_SY,
	[ZM_STAT_IDLE] = CPU_ID,    [ZM_STAT_IOWAIT] = CPU_WA, [ZM_STAT_IRQ] = CPU_SY,
	[ZM_STAT_SOFTIRQ] = CPU_SY, [ZM_STAT_STEAL] = CPU_ST,
};

static void apply_term(struct reading *reading, const struct term *term, uint64_t value)
{
	uint64_t *sum = &reading->values[term->row];

	reading->has[term->row] = true;
	if (!term->is_taken)
		*sum += value;
	else
		*sum = *sum > value ? *sum - value : 0;
}

static void collect_fields(struct reading *reading, enum file file, const char *text)
{
	const size_t nr_terms = sizeof(terms) / sizeof(terms[0]);
	struct zm_field field;

	while (zm_fields_next(&text, 0, &field))
		for (size_t i = 0; i < nr_terms; i++)
			if (terms[i].file == file && zm_field_is(&field, terms[i].name))
				apply_term(reading, &terms[i], field.value);
}

static void collect_times(struct reading *reading, const char *text, uint64_t tick_ns)
{
	struct zm_stat_cpu cpu;

	if (!zm_stat_next_cpu(&text, &cpu) || cpu.cpu >= 0)
		return;
	for (unsigned int i = 0; i < cpu.nr_times && i <= ZM_STAT_STEAL; i++) {
		reading->values[row_of_time[i]] += zm_stat_ns(cpu.ticks[i], tick_ns);
		reading->has[row_of_time[i]] = true;
	}
}

/* Reads one of the files; its rows are missing from the reading when it cannot be read. */
static int collect(struct state *state, enum file file, struct reading *reading, uint32_t *flags)
{
	uint32_t own = 0;
	int error = zm_source_read_file(&state->files[file], &own);

	if (error)
		return error;
	*flags |= own;
	if (file == FILE_STAT)
		collect_times(reading, state->files[file].text, state->tick_ns);
	collect_fields(reading, file, state->files[file].text);
	return 0;
}

static int declare(struct zm_monitor_context *context, const struct reading *reading)
{
	struct state *state = context->state;
	int error = 0;

	for (unsigned int row = 0; !error && row < NR_ROWS; row++) {
		const struct zm_series_desc desc = {
			.source = context->monitor->name,
			.metric = columns[row].name,
			.unit = columns[row].unit,
			.kind = columns[row].kind,
		};

		if (!reading->has[row])
			continue;
		error = zm_recorder_series(context->recorder, &desc, &state->series[row]);
		state->has_row[row] = !error;
	}
	return error;
}

/* /proc/stat must be there; the columns of the others are absent, with the reason, without them. */
static int open_files(struct zm_monitor_context *context, struct reading *reading,
		      struct zm_why *why)
{
	struct state *state = context->state;
	uint32_t flags = 0;
	int error = 0;

	for (enum file file = 0; !error && file < NR_FILES; file++) {
		error = zm_source_open_file(&state->files[file], context->root, paths[file], why);
		state->has_file[file] = !error;
		if (!error)
			error = collect(state, file, reading, &flags);
		else if (file != FILE_STAT)
			error = zm_recorder_absent(context->recorder, context->monitor->name,
						   why->text);
	}
	return error;
}

static int open_vmstat(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	struct zm_why reason = { "" };
	struct reading reading = { 0 };
	int error;

	state->tick_ns = zm_stat_tick_ns();
	error = open_files(context, &reading, &reason);
	if (!error)
		error = declare(context, &reading);
	if (error && reason.text[0])
		return zm_why_set(why, error, "%s", reason.text);
	if (error)
		return zm_why_errno(why, error, "/proc/stat cannot be read");
	if (!state->has_row[SYSTEM_CS])
		return zm_why_set(why, -ENODATA, "/proc/stat has no line ctxt");
	return 0;
}

static int read_vmstat(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	struct reading reading = { 0 };
	uint32_t flags = 0;
	int first_error = 0;

	for (enum file file = 0; file < NR_FILES; file++) {
		int error = 0;

		if (state->has_file[file])
			error = collect(state, file, &reading, &flags);
		if (error && !first_error)
			first_error = error;
	}
	for (unsigned int row = 0; row < NR_ROWS; row++) {
		if (!reading.has[row] || !state->has_row[row])
			continue;
		zm_recorder_put_u64(context->recorder, state->series[row], t_ns,
				    reading.values[row], flags);
		zm_window_feed(&state->figures[row], context->phase, t_ns,
			       (double)reading.values[row]);
	}
	return first_error;
}

static double delta_of(const struct state *state, enum row row)
{
	double delta;

	return zm_window_delta(&state->figures[row], &delta) ? delta : 0;
}

/* What vmstat(8) prints of a row: *ret_count is the raw figure it comes from. */
static double shown_value(const struct state *state, enum row row, double cpu_ns, double *ret_count)
{
	const struct zm_window_figure *figure = &state->figures[row];
	double seconds = (double)(figure->t1_ns - figure->t0_ns) / (double)ZM_NS_PER_S;
	double mean;

	if (columns[row].kind == ZM_GAUGE) {
		mean = *ret_count = zm_window_mean(figure);
		return row == PROCS_R && mean >= 1 ? mean - 1 : mean;
	}
	*ret_count = delta_of(state, row);
	if (row >= CPU_US)
		return cpu_ns > 0 ? 100 * *ret_count / cpu_ns : 0;
	return seconds > 0 ? *ret_count / seconds : 0;
}

static int report_vmstat(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			 struct zm_report *report)
{
	const struct state *state = context->state;
	double cpu_ns = 0, count, value;
	int error = 0;

	if (!zm_window_is_whole(&state->figures[SYSTEM_CS], t0_ns, t1_ns))
		return zm_window_say_absent(context);
	for (enum row row = CPU_US; row < NR_ROWS; row++)
		cpu_ns += delta_of(state, row);
	for (enum row row = 0; !error && row < NR_ROWS; row++) {
		const struct zm_window_figure *figure = &state->figures[row];

		if (!zm_window_is_whole(figure, t0_ns, t1_ns))
			continue;
		value = shown_value(state, row, cpu_ns, &count);
		error = zm_report_add(report, &columns[row].shown, value, count,
				      figure->t1_ns - figure->t0_ns);
	}
	return error;
}

static void close_vmstat(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	for (enum file file = 0; file < NR_FILES; file++)
		zm_sysfile_release(&state->files[file]);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary =
		"the columns of vmstat(8): switches, interrupts, running tasks, swap and block I/O",
	.needs = "/proc/stat, /proc/vmstat, /proc/meminfo",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.open = open_vmstat,
	.read = read_vmstat,
	.report = report_vmstat,
	.close = close_vmstat,
};
