/*
 * percpu: opening counts the columns and rows and declares a series for each sum, and for each cell of
 * the rows that have them; reading goes through the file once.
 */
#include "runner/monitors/percpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/monitors/fields.h"
#include "runner/monitors/source.h"
#include "workloads/base/cpuset.h"

#define METRIC_SIZE 256
#define RUN_OVER    (UINT64_C(1) << 32)

/* --- the text ---------------------------------------------------------------------------------- */

/* "CPU12" */
static bool parse_cpu(const char *word, size_t length, uint32_t *ret_cpu)
{
	uint64_t cpu;
	uint32_t flags;

	if (!zm_name_starts(word, length, "CPU") ||
	    !zm_fields_number(word + 3, word + length, &cpu, &flags) || cpu > ZM_CPUSET_MAX)
		return false;
	*ret_cpu = (uint32_t)cpu;
	return true;
}

/* Goes to the heading; false when there is none. *text moves behind it. */
static bool find_heading(const char **text, const char **ret_line, size_t *ret_length)
{
	const char *at, *word;
	size_t length;
	uint32_t cpu;

	while (zm_fields_next_line(text, ret_line, ret_length)) {
		at = *ret_line;
		if (zm_fields_next_word(&at, at + *ret_length, &word, &length) &&
		    parse_cpu(word, length, &cpu))
			return true;
	}
	return false;
}

struct row_text {
	const char *name;
	size_t length;
	const char *at, *end; /* the numbers, and what stands behind them */
};

static bool next_row(const char **text, struct row_text *ret_row)
{
	const char *line, *at, *word;
	size_t length, word_length;

	while (zm_fields_next_line(text, &line, &length)) {
		at = line;
		if (!zm_fields_next_word(&at, line + length, &word, &word_length) ||
		    word_length < 2 || word[word_length - 1] != ':')
			continue;
		*ret_row = (struct row_text){ word, word_length - 1, at, line + length };
		return true;
	}
	return false;
}

static bool next_number(struct row_text *row, uint64_t *ret_value)
{
	const char *at = row->at, *word;
	size_t length;
	uint32_t flags;

	if (!zm_fields_next_word(&at, row->end, &word, &length) ||
	    !zm_fields_number(word, word + length, ret_value, &flags))
		return false;
	row->at = at;
	return true;
}

/* How many numbers it has, up to max; moves to what stands behind them. */
static size_t skip_numbers(struct row_text *row, size_t max)
{
	size_t nr = 0;
	uint64_t value;

	while (nr < max && next_number(row, &value))
		nr++;
	return nr;
}

/* --- opening ----------------------------------------------------------------------------------- */

static int read_columns(struct zm_percpu *percpu, const char *line, size_t length)
{
	const char *at = line, *word;
	size_t word_length, nr_words = length / 2 + 1;
	uint32_t cpu;

	percpu->cpus = calloc(nr_words, sizeof(*percpu->cpus));
	percpu->now = calloc(nr_words, sizeof(*percpu->now));
	if (!percpu->cpus || !percpu->now)
		return -ENOMEM;
	while (zm_fields_next_word(&at, line + length, &word, &word_length))
		if (parse_cpu(word, word_length, &cpu) &&
		    (percpu->nr_columns == 0 || percpu->cpus[percpu->nr_columns - 1] < cpu))
			percpu->cpus[percpu->nr_columns++] = cpu;
	return 0;
}

static int declare_cpus(struct zm_monitor_context *context, struct zm_percpu_row *row,
			struct zm_series_desc *desc)
{
	const struct zm_percpu *percpu = context->state;
	uint32_t series;
	int error = 0;

	desc->scope = ZM_SCOPE_CPU;
	for (size_t i = 0; !error && i < percpu->nr_columns; i++) {
		desc->scope_id = percpu->cpus[i];
		error = zm_recorder_series(context->recorder, desc, &series);
		if (i == 0)
			row->first_cpu_series = series;
		else if (!error && series != row->first_cpu_series + i)
			error = -EPROTO;
	}
	row->has_cpus = !error;
	return error;
}

static int declare_row(struct zm_monitor_context *context, const struct zm_percpu_rules *rules,
		       struct row_text *text)
{
	struct zm_percpu *percpu = context->state;
	struct zm_percpu_row row = { 0 };
	char metric[METRIC_SIZE];
	struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.unit = rules->unit,
		.kind = ZM_COUNT,
	};
	size_t nr_numbers = skip_numbers(text, percpu->nr_columns);
	int error;

	if (nr_numbers == 0 || !rules->name(text->name, text->length, text->at,
					    (size_t)(text->end - text->at), metric, sizeof(metric)))
		return 0;
	error = zm_table_add(&percpu->table, 0, text->name, text->length,
			     (uint32_t)percpu->nr_rows);
	if (error)
		return error == -EEXIST ? 0 : error;
	error = zm_recorder_series(context->recorder, &desc, &row.sum_series);
	if (!error && nr_numbers > 1 && rules->has_cpus(text->name, text->length))
		error = declare_cpus(context, &row, &desc);
	percpu->rows[percpu->nr_rows++] = row;
	return error;
}

static int declare_all(struct zm_monitor_context *context, const struct zm_percpu_rules *rules,
		       const char *text)
{
	struct zm_percpu *percpu = context->state;
	const char *count = text;
	struct row_text row;
	size_t nr_rows = 0;
	int error = 0;

	while (next_row(&count, &row))
		nr_rows++;
	percpu->rows = calloc(nr_rows + 1, sizeof(*percpu->rows));
	percpu->cells = calloc(nr_rows * percpu->nr_columns + 1, sizeof(*percpu->cells));
	if (!percpu->rows || !percpu->cells)
		return -ENOMEM;
	while (!error && next_row(&text, &row))
		error = declare_row(context, rules, &row);
	return error;
}

int zm_percpu_open(struct zm_monitor_context *context, const struct zm_percpu_rules *rules,
		   struct zm_why *why)
{
	struct zm_percpu *percpu = context->state;
	const char *text, *line;
	size_t length;
	int error = zm_source_open_file(&percpu->file, context->root, rules->path, why);

	if (error)
		return error;
	text = percpu->file.text;
	if (!find_heading(&text, &line, &length))
		return zm_why_set(why, -ENODATA, "/%s has no heading of CPUs", rules->path);
	error = read_columns(percpu, line, length);
	if (!error)
		error = declare_all(context, rules, text);
	if (error)
		return zm_why_errno(why, error, "/%s", rules->path);
	if (percpu->nr_rows == 0)
		return zm_why_set(why, -ENODATA, "/%s has no row with a number", rules->path);
	return 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

/* Which of the first columns each column of this reading is; at most as many as were there first. */
static size_t map_columns(struct zm_percpu *percpu, const char *line, size_t length)
{
	const char *at = line, *word;
	size_t word_length, nr = 0, column = 0;
	bool is_there;
	uint32_t cpu;

	while (nr < percpu->nr_columns &&
	       zm_fields_next_word(&at, line + length, &word, &word_length)) {
		if (!parse_cpu(word, word_length, &cpu))
			continue;
		while (column < percpu->nr_columns && percpu->cpus[column] < cpu)
			column++;
		/* each column once, whatever the heading says */
		is_there = column < percpu->nr_columns && percpu->cpus[column] == cpu;
		percpu->now[nr++] = (uint32_t)(is_there ? column++ : percpu->nr_columns);
	}
	return nr;
}

static uint64_t advance(struct zm_percpu_cell *cell, uint64_t value)
{
	if (value < cell->last && cell->last < RUN_OVER && cell->last - value > RUN_OVER / 2)
		cell->base += RUN_OVER;
	cell->last = value;
	return cell->base + value;
}

static void read_row(struct zm_monitor_context *context, size_t place, struct row_text *text,
		     size_t nr_now, uint64_t t_ns, uint32_t flags)
{
	struct zm_percpu *percpu = context->state;
	const struct zm_percpu_row *row = &percpu->rows[place];
	struct zm_percpu_cell *cells = &percpu->cells[place * percpu->nr_columns];
	uint64_t value, sum = 0;

	for (size_t i = 0; i < nr_now && next_number(text, &value); i++) {
		size_t column = percpu->now[i];

		if (column == percpu->nr_columns)
			continue;
		value = advance(&cells[column], value);
		if (row->has_cpus)
			zm_recorder_put_u64(context->recorder,
					    row->first_cpu_series + (uint32_t)column, t_ns, value,
					    flags);
	}
	/* of a CPU that has gone, what it had counted stays in the sum */
	for (size_t column = 0; column < percpu->nr_columns; column++)
		sum += cells[column].base + cells[column].last;
	zm_recorder_put_u64(context->recorder, row->sum_series, t_ns, sum, flags);
}

int zm_percpu_monitor_read(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct zm_percpu *percpu = context->state;
	const struct zm_table_row *row;
	const char *text, *line;
	struct row_text row_text;
	size_t length, nr_now;
	uint32_t flags;
	int error = zm_source_read_file(&percpu->file, &flags);

	if (error)
		return error;
	text = percpu->file.text;
	if (!find_heading(&text, &line, &length))
		return -ENODATA;
	nr_now = map_columns(percpu, line, length);
	zm_table_begin(&percpu->table);
	while (next_row(&text, &row_text)) {
		row = zm_table_find(&percpu->table, 0, row_text.name, row_text.length);
		if (row)
			read_row(context, row->series, &row_text, nr_now, t_ns, flags);
	}
	return 0;
}

void zm_percpu_monitor_close(struct zm_monitor_context *context)
{
	struct zm_percpu *percpu = context->state;

	zm_sysfile_release(&percpu->file);
	zm_table_release(&percpu->table);
	free(percpu->cpus);
	free(percpu->now);
	free(percpu->rows);
	free(percpu->cells);
}
