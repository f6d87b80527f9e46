/*
 * sched-debug: the run queues' figures, each as mean, least, most and standard deviation over the CPUs.
 *
 *     sched_debug.cpu.nr_switches.avg        of "cpu#N" blocks
 *     sched_debug.cfs_rq:/.load_avg.max      of "cfs_rq[N]:/" blocks: the root group's
 *
 * From /sys/kernel/debug/sched/debug, before 5.13 /proc/sched_debug. The kernel prints it with one lock
 * after the other held, so it is read at phase borders only, and when asked for. Named as the robot's
 * tables do, which is why there is an underscore in the metric and none in the monitor's name.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/fields.h"
#include "runner/monitors/source.h"
#include "runner/monitors/table.h"

#define MAX_FIGURES 256
#define METRIC_SIZE 160

enum spread {
	AVG,
	MIN,
	MAX,
	STDDEV,
	NR_SPREADS,
};

/* A figure over the CPUs of one reading: running mean and sum of squared distances from it. */
struct sums {
	double mean, distances, min, max;
	unsigned int nr;
};

struct state {
	struct zm_sysfile file;
	struct zm_table table; /* group: the kind of block; series: the place in sums */
	struct sums sums[MAX_FIGURES];
	uint32_t first_series[MAX_FIGURES]; /* NR_SPREADS of them follow each other */
	uint32_t nr_figures;
};

/* Which block a line stands in. */
enum block {
	BLOCK_NONE,
	BLOCK_CPU,
	BLOCK_CFS,
	BLOCK_RT,
	BLOCK_DL,
	NR_BLOCKS,
};

static const char *const paths[] = { "sys/kernel/debug/sched/debug", "proc/sched_debug" };

static const char *const block_names[NR_BLOCKS] = { "", "cpu", "cfs_rq:/", "rt_rq:/", "dl_rq" };
static const char *const spread_names[NR_SPREADS] = { "avg", "min", "max", "stddev" };

/* --- the text ---------------------------------------------------------------------------------- */

/* Is this line a block's heading, and of which? Groups below the root are passed over. */
static bool read_heading(const char *line, size_t length, enum block *block)
{
	bool is_root = length > 3 && zm_name_is(line + length - 3, 3, "]:/");

	if (length == 0 || line[0] == ' ' || line[0] == '\t')
		return false;
	*block = BLOCK_NONE;
	if (zm_name_starts(line, length, "cpu#"))
		*block = BLOCK_CPU;
	else if (zm_name_starts(line, length, "cfs_rq[") && is_root)
		*block = BLOCK_CFS;
	else if (zm_name_starts(line, length, "rt_rq[") && (is_root || line[length - 1] == ':'))
		*block = BLOCK_RT;
	else if (zm_name_starts(line, length, "dl_rq["))
		*block = BLOCK_DL;
	return true;
}

/* "  .nr_running                    : 2"; numbers may be negative and have a fraction. */
static bool read_figure(const char *line, size_t length, const char **ret_name, size_t *ret_length,
			double *ret_value)
{
	const char *at = line, *end = line + length;
	const char *point, *word;
	size_t word_length;
	uint64_t whole, part = 0;
	uint32_t flags;
	double sign = 1, scale = 1;

	if (!zm_fields_next_word(&at, end, ret_name, ret_length) || (*ret_name)[0] != '.' ||
	    !zm_fields_next_word(&at, end, &word, &word_length) ||
	    !zm_name_is(word, word_length, ":") ||
	    !zm_fields_next_word(&at, end, &word, &word_length))
		return false;
	end = word + word_length;
	if (*word == '-') {
		sign = -1;
		word++;
	}
	point = memchr(word, '.', (size_t)(end - word));
	if (!zm_fields_number(word, point ? point : end, &whole, &flags) ||
	    (point && !zm_fields_number(point + 1, end, &part, &flags)))
		return false;
	for (const char *digit = point ? point + 1 : end; digit < end; digit++)
		scale *= 10;
	(*ret_name)++;
	(*ret_length)--;
	*ret_value = sign * ((double)whole + (double)part / scale);
	return true;
}

/* --- opening ----------------------------------------------------------------------------------- */

static int declare(struct zm_monitor_context *context, enum block block, const char *name,
		   size_t length)
{
	struct state *state = context->state;
	char metric[METRIC_SIZE];
	struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.unit = "",
		.kind = ZM_GAUGE,
		.is_float = true,
	};
	uint32_t series;
	int error;

	if (state->nr_figures == MAX_FIGURES)
		return 0;
	error = zm_table_add(&state->table, block, name, length, state->nr_figures);
	if (error)
		return error == -EEXIST ? 0 : error;
	for (unsigned int i = 0; !error && i < NR_SPREADS; i++) {
		(void)snprintf(metric, sizeof(metric), "sched_debug.%s.%.*s.%s", block_names[block],
			       (int)length, name, spread_names[i]);
		error = zm_recorder_series(context->recorder, &desc, &series);
		if (i == 0)
			state->first_series[state->nr_figures] = series;
		else if (!error && series != state->first_series[state->nr_figures] + i)
			error = -EPROTO;
	}
	state->nr_figures++;
	return error;
}

static int declare_all(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	const char *text = state->file.text;
	enum block block = BLOCK_NONE;
	const char *line, *name;
	size_t length, name_length;
	double value;
	int error = 0;

	while (!error && zm_fields_next_line(&text, &line, &length)) {
		if (read_heading(line, length, &block) || block == BLOCK_NONE)
			continue;
		if (read_figure(line, length, &name, &name_length, &value))
			error = declare(context, block, name, name_length);
	}
	return error;
}

static int open_debug(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int error = -ENOENT;

	for (unsigned int i = 0; error && i < sizeof(paths) / sizeof(paths[0]); i++)
		error = zm_sysfile_open(&state->file, context->root, paths[i]);
	if (error == -ENOENT)
		return zm_why_set(why, -ENOTSUP,
				  "/sys/kernel/debug/sched/debug is not there: mount debugfs "
				  "(mount -t debugfs none /sys/kernel/debug); the kernel needs "
				  "CONFIG_SCHED_DEBUG");
	if (!error)
		error = declare_all(context);
	if (error)
		return zm_why_errno(why, error, "/sys/kernel/debug/sched/debug cannot be read");
	if (state->nr_figures == 0)
		return zm_why_set(why, -ENODATA, "/sys/kernel/debug/sched/debug has no run queues");
	return 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

static void add(struct sums *sums, double value)
{
	double before = value - sums->mean;

	if (sums->nr == 0 || value < sums->min)
		sums->min = value;
	if (sums->nr == 0 || value > sums->max)
		sums->max = value;
	sums->nr++;
	sums->mean += before / sums->nr;
	sums->distances += before * (value - sums->mean);
}

static void collect(struct state *state)
{
	const char *text = state->file.text;
	enum block block = BLOCK_NONE;
	const struct zm_table_row *row;
	const char *line, *name;
	size_t length, name_length;
	double value;

	memset(state->sums, 0, sizeof(state->sums));
	while (zm_fields_next_line(&text, &line, &length)) {
		if (read_heading(line, length, &block)) {
			zm_table_begin(&state->table);
			continue;
		}
		if (block == BLOCK_NONE || !read_figure(line, length, &name, &name_length, &value))
			continue;
		row = zm_table_find(&state->table, block, name, name_length);
		if (row)
			add(&state->sums[row->series], value);
	}
}

static int read_debug(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint32_t flags;
	int error = zm_source_read_file(&state->file, &flags);

	if (error)
		return error;
	collect(state);
	for (uint32_t i = 0; i < state->nr_figures; i++) {
		const struct sums *sums = &state->sums[i];
		double deviation = sums->nr ? sqrt(sums->distances / sums->nr) : 0;
		const double spreads[NR_SPREADS] = { sums->mean, sums->min, sums->max, deviation };

		for (unsigned int k = 0; sums->nr && k < NR_SPREADS; k++)
			zm_recorder_put_f64(context->recorder, state->first_series[i] + k, t_ns,
					    spreads[k], flags);
	}
	return 0;
}

static void close_debug(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_sysfile_release(&state->file);
	zm_table_release(&state->table);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the scheduler's run queues, spread over the CPUs",
	.needs = "/sys/kernel/debug/sched/debug (debugfs)",
	.rate = ZM_RATE_BORDERS,
	.is_extra = true,
	.state_bytes = sizeof(struct state),
	.open = open_debug,
	.read = read_debug,
	.close = close_debug,
};
