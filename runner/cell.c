/*
 * cell: from typed text to values, and from values to the two JSON objects that name a cell.
 *
 *     key      every option as asked for ("nr_task": "50%"): the same on every machine
 *     params   every option as in effect ("nr_task": 2)
 */
#include "runner/cell.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/setting.h"
#include "workloads/base/clock.h"

#define VALUE_SIZE 4096

static const char *const modes[] = { "process", "thread", NULL };
static const enum zm_task_kind mode_kinds[] = { ZM_TASK_PROCESS, ZM_TASK_THREAD };

#define HOUR_NS    (3600 * ZM_NS_PER_S)
#define AT(member) offsetof(struct zm_run_options, member)

const struct zm_option zm_run_option_rows[] = {
	{ .name = "nr_task",
	  .type = ZM_OPTION_AMOUNT,
	  .offset = AT(nr_task),
	  .preset = "1",
	  .also = "nr_threads",
	  .help = "tasks (or pairs of them), also typed nr_threads: a number, or a share of the "
		  "CPUs that may be used" },
	{ .name = "mode",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(mode),
	  .preset = "process",
	  .choices = modes,
	  .help = "what a task is" },
	{ .name = "runtime",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(runtime_ns),
	  .preset = "5s",
	  .min = 10 * ZM_NS_PER_MS,
	  .max = 240 * HOUR_NS,
	  .help = "length of the measured window" },
	{ .name = "warmup",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(warmup_ns),
	  .preset = "5s",
	  .max = 24 * HOUR_NS,
	  .help = "longest wait for a steady throughput before the window" },
	{ .name = "idle",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(idle_ns),
	  .preset = "1s",
	  .max = 24 * HOUR_NS,
	  .help = "how long used memory is watched before the tasks are made" },
	{ .name = "drain",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(drain_ns),
	  .preset = "10s",
	  .max = 24 * HOUR_NS,
	  .help = "longest wait for used memory to come back after the tasks" },
	{ .name = "interval",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(interval_ns),
	  .preset = "250ms",
	  .min = 10 * ZM_NS_PER_MS,
	  .max = HOUR_NS,
	  .help = "between two reads of the tasks' counters" },
	{ .name = "monitor_interval",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(monitor_interval_ns),
	  .preset = "1s",
	  .min = 10 * ZM_NS_PER_MS,
	  .max = HOUR_NS,
	  .help = "between two reads of a monitor" },
	{ .name = "start",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(start_ns),
	  .preset = "5m",
	  .min = 10 * ZM_NS_PER_MS,
	  .max = 24 * HOUR_NS,
	  .help = "longest time until every task stands at the gate" },
	{ .name = "stop",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(stop_ns),
	  .preset = "5m",
	  .min = 10 * ZM_NS_PER_MS,
	  .max = 24 * HOUR_NS,
	  .help = "longest time until every task has ended" },
	{ .name = "stall",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(stall_ns),
	  .preset = "0s",
	  .max = 24 * HOUR_NS,
	  .help = "a task without a count for so long has stalled; 0: as the workload says" },
	{ .name = "seed",
	  .type = ZM_OPTION_U64,
	  .offset = AT(seed),
	  .preset = "1",
	  .help = "of the tasks' random numbers; repeat n takes seed + n" },
	{ .name = NULL },
};

/* --- from text to values --- */

static int add_setting(struct zm_cell *cell, const char *name, const char *value,
		       struct zm_why *why)
{
	struct zm_pair pair = { strdup(name), strdup(value) };
	struct zm_pair *grown = NULL;

	if (pair.name && pair.value)
		grown = realloc(cell->settings, (cell->nr_settings + 1) * sizeof(*grown));
	if (!grown) {
		free(pair.name);
		free(pair.value);
		return zm_why_errno(why, -ENOMEM, "%s", name);
	}
	cell->settings = grown;
	cell->settings[cell->nr_settings++] = pair;
	return 0;
}

static int set_option(struct zm_cell *cell, const char *name, const char *value, struct zm_why *why)
{
	const struct zm_option *rows = cell->workload->options;
	bool is_of_run = zm_option_find(zm_run_option_rows, name) != NULL;
	bool is_own = rows && zm_option_find(rows, name);

	if (is_own && (cell->workload->units || !is_of_run))
		return zm_option_set(rows, cell->workload_options, name, value, why);
	if (is_of_run)
		return zm_option_set(zm_run_option_rows, &cell->options, name, value, why);
	return add_setting(cell, name, value, why);
}

static int set_presets(struct zm_cell *cell, struct zm_why *why)
{
	const char *const *own = cell->workload->presets;
	int r = zm_options_init(zm_run_option_rows, &cell->options, why);

	for (; r == 0 && own && own[0]; own += 2)
		r = zm_option_set(zm_run_option_rows, &cell->options, own[0], own[1], why);
	if (r < 0)
		return r;
	cell->workload_options = calloc(1, cell->workload->options_size + 1);
	if (!cell->workload_options)
		return zm_why_errno(why, -ENOMEM, "%s", cell->workload->name);
	if (!cell->workload->options)
		return 0;
	return zm_options_init(cell->workload->options, cell->workload_options, why);
}

static bool has_axis(const struct zm_axes *axes, const char *name)
{
	return zm_axes_find(axes, name) != NULL;
}

/* The mode asked for; without a word about it, the first that the workload has. */
static int choose_kind(struct zm_cell *cell, bool was_asked, struct zm_why *why)
{
	unsigned int kinds = cell->workload->kinds;

	if (!was_asked && !(kinds & (unsigned int)mode_kinds[cell->options.mode]))
		cell->options.mode = !cell->options.mode;
	cell->kind = mode_kinds[cell->options.mode];
	if (kinds & (unsigned int)cell->kind)
		return 0;
	return zm_why_set(why, -ENOTSUP, "%s has no mode=%s: it runs as %s", cell->workload->name,
			  modes[cell->options.mode], modes[!cell->options.mode]);
}

/* What the option is called that says how many units there are. */
static const char *units_name(const struct zm_cell *cell)
{
	return cell->workload->units ? cell->workload->units : "nr_task";
}

/* A workload's own option for the number of its units becomes the run's. */
static void take_units(struct zm_cell *cell)
{
	const char *name = cell->workload->units;
	const struct zm_option *row = name ? zm_option_find(cell->workload->options, name) : NULL;
	const void *at = row ? (const char *)cell->workload_options + row->offset : NULL;

	if (row && row->type == ZM_OPTION_AMOUNT)
		cell->options.nr_task = *(const struct zm_amount *)at;
	else if (row)
		cell->options.nr_task.value = (double)*(const uint64_t *)at;
}

static int count_tasks(struct zm_cell *cell, unsigned int nr_cpus, struct zm_why *why)
{
	unsigned int nr_ends = cell->workload->nr_ends ? cell->workload->nr_ends : 1;
	uint64_t units;
	char text[32];

	take_units(cell);
	units = zm_amount_of(&cell->options.nr_task, nr_cpus);
	(void)zm_units_print_amount(text, sizeof(text), &cell->options.nr_task);
	if (units == 0)
		return zm_why_set(why, -EINVAL, "%s=%s: at least one task is needed",
				  units_name(cell), text);
	if (units > ZM_CELL_TASKS / nr_ends)
		return zm_why_set(why, -ERANGE, "%s=%s: more than %u tasks", units_name(cell), text,
				  ZM_CELL_TASKS / nr_ends);
	cell->nr_units = (unsigned int)units;
	cell->nr_tasks = (unsigned int)units * nr_ends;
	return 0;
}

/* --- from values to JSON --- */

static json_t *value_of(const struct zm_option *row, const void *options)
{
	const void *at = (const char *)options + row->offset;
	char text[VALUE_SIZE];
	uint64_t number;

	switch (row->type) {
	case ZM_OPTION_BOOL:
		return json_boolean(*(const bool *)at);
	case ZM_OPTION_U64:
		number = *(const uint64_t *)at;
		if (number <= INT64_MAX)
			return json_integer((json_int_t)number);
		break;
	case ZM_OPTION_DOUBLE:
		return json_real(*(const double *)at);
	case ZM_OPTION_STRING:
		if (!*(char *const *)at)
			return json_null();
		break;
	default:
		break;
	}
	if (zm_option_print(row, options, text, sizeof(text)) < 0)
		return NULL;
	return json_string(text);
}

static int add_rows(json_t *object, const struct zm_option *rows, const void *options)
{
	for (size_t i = 0; rows && rows[i].name; i++) {
		if (json_object_set_new(object, rows[i].name, value_of(&rows[i], options)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_pairs(json_t *object, const struct zm_pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (json_object_set_new(object, pairs[i].name, json_string(pairs[i].value)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int fill_key(json_t *object, const struct zm_cell_context *context,
		    const struct zm_cell *cell)
{
	if (json_object_set_new(object, "workload", json_string(cell->workload->name)) < 0 ||
	    add_rows(object, zm_run_option_rows, &cell->options) < 0 ||
	    add_rows(object, cell->workload->options, cell->workload_options) < 0 ||
	    add_pairs(object, cell->settings, cell->nr_settings) < 0 ||
	    add_pairs(object, context->extras, context->nr_extras) < 0)
		return -ENOMEM;
	return 0;
}

static int name_cell(const struct zm_cell_context *context, struct zm_cell *cell,
		     struct zm_why *why)
{
	json_t *object = json_object();

	if (object && fill_key(object, context, cell) == 0) {
		cell->key = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
		if (json_object_set_new(object, "nr_task", json_integer(cell->nr_units)) == 0)
			cell->params = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
	}
	json_decref(object);
	if (!cell->key || !cell->params)
		return zm_why_set(why, -ENOMEM, "%s: an option's value is not UTF-8 text",
				  cell->workload->name);
	return 0;
}

/* "page_fault1 mode=process nr_task=2", and every other option that takes several values. */
static int title_cell(const struct zm_axes *axes, size_t index, struct zm_cell *cell)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return -ENOMEM;
	(void)fprintf(out, "%s mode=%s %s=%u", cell->workload->name, modes[cell->options.mode],
		      units_name(cell), cell->nr_units);
	for (size_t i = 0; i < axes->nr; i++) {
		const char *name = axes->list[i].name;

		if (axes->list[i].nr_values > 1 && strcmp(name, "mode") != 0 &&
		    strcmp(name, units_name(cell)) != 0)
			(void)fprintf(out, " %s=%s", name, zm_axes_value(axes, index, i));
	}
	if (fclose(out) != 0) {
		free(text);
		return -ENOMEM;
	}
	cell->title = text;
	return 0;
}

static int fill_cell(const struct zm_cell_context *context, const struct zm_axes *axes,
		     size_t index, struct zm_cell *cell, struct zm_why *why)
{
	int r = set_presets(cell, why);

	for (size_t i = 0; r == 0 && i < axes->nr; i++)
		r = set_option(cell, axes->list[i].name, zm_axes_value(axes, index, i), why);
	if (r == 0)
		r = choose_kind(cell, has_axis(axes, "mode"), why);
	if (r == 0)
		r = count_tasks(cell, context->nr_cpus, why);
	if (r == 0)
		r = name_cell(context, cell, why);
	if (r == 0 && title_cell(axes, index, cell) < 0)
		r = zm_why_errno(why, -ENOMEM, "%s", cell->workload->name);
	return r;
}

int zm_cell_make(const struct zm_cell_context *context, const struct zm_workload *workload,
		 const struct zm_axes *axes, size_t index, struct zm_cell *ret_cell,
		 struct zm_why *why)
{
	struct zm_cell cell = { .workload = workload };
	int r = fill_cell(context, axes, index, &cell, why);

	if (r < 0)
		zm_cell_release(&cell);
	else
		*ret_cell = cell;
	return r;
}

void zm_cell_release(struct zm_cell *cell)
{
	if (cell->workload_options && cell->workload->options)
		zm_options_release(cell->workload->options, cell->workload_options);
	free(cell->workload_options);
	for (size_t i = 0; i < cell->nr_settings; i++) {
		free(cell->settings[i].name);
		free(cell->settings[i].value);
	}
	free(cell->settings);
	free(cell->monitor);
	free(cell->title);
	free(cell->key);
	free(cell->params);
	*cell = (struct zm_cell){ 0 };
}
