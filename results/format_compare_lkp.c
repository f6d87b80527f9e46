/*
 * format_compare_lkp: the kernel test robot's table.
 *
 *     a rule, the parameters' names and values, the sides, then
 *     rows     failures: failed:runs on each side, how much more often in percent
 *              figures:  mean, standard deviation in percent when it is 2 or more, change
 *
 * A cell becomes a record of the kind that mails are read into, and report_form writes it: what reads
 * the robot's mails reads this, to the same figures. Where the robot's arithmetic has no answer (a base
 * of 0) the change is absolute. Rows that one side has not are left out: the form has no way to say so.
 */
#include "results/format_compare.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_fields.h"
#include "results/report_form.h"
#include "results/stat.h"
#include "workloads/base/cleanup.h"

#define MOST_STDDEV 999.0 /* that its column holds */

struct writer {
	const struct zm_compare *compare;
	const struct zm_format_compare *options;
	FILE *out;
	struct zm_pool pool;
};

/* --- parameters --- */

static const char *value_text(struct writer *writer, const json_t *value)
{
	zm_autofree char *text = json_is_string(value) ? strdup(json_string_value(value))
						       : json_dumps(value, JSON_ENCODE_ANY);

	return zm_pool_text(&writer->pool, text);
}

/* All that were given, in the order of their names; the workload is the suite's test. */
static void take_params(struct writer *writer, const struct zm_compare_cell *cell,
			struct zm_mail_pairs *ret_params)
{
	json_t *object = json_loads(cell->cell, 0, NULL);
	zm_autofree char *dumped = NULL;
	json_t *sorted, *value;
	const char *key;

	(void)json_object_del(object, "workload");
	if (object)
		(void)json_object_set_new(object, "test", json_string(cell->workload));
	dumped = object ? json_dumps(object, JSON_SORT_KEYS) : NULL;
	sorted = dumped ? json_loads(dumped, 0, NULL) : NULL;
	json_object_foreach(sorted, key, value)
	{
		const char *text = json_is_null(value) ? NULL : value_text(writer, value);

		if (text && *text)
			zm_report_fields_put(&writer->pool, ret_params,
					     zm_pool_text(&writer->pool, key), text);
	}
	json_decref(sorted);
	json_decref(object);
}

/* --- rows --- */

static struct zm_mail_cell figure(const struct zm_compare_metric *metric, size_t side)
{
	const struct zm_compare_values *values = &metric->sides[side];
	double base = zm_stat_mean(metric->sides[0].values, metric->sides[0].nr);
	double mean = zm_stat_mean(values->values, values->nr);
	double percent = 100 * zm_stat_cv(values->values, values->nr);
	struct zm_mail_cell cell = { .value = mean,
				     .stddev = percent > MOST_STDDEV ? MOST_STDDEV : percent,
				     .change = NAN };

	if (side == 0)
		return cell;
	cell.is_percent = !metric->is_share && base != 0;
	cell.change = cell.is_percent ? (mean - base) * 100 / fabs(base) : mean - base;
	return cell;
}

static void print_row(struct writer *writer, const struct zm_compare_metric *metric)
{
	struct zm_mail_cell cells[ZM_COMPARE_SIDES];
	const struct zm_mail_row row = { metric->name, false, cells };
	unsigned int nr = (unsigned int)writer->compare->nr_sides;

	for (unsigned int i = 0; i < nr; i++) {
		if (metric->sides[i].nr == 0)
			return;
		cells[i] = figure(metric, i);
	}
	zm_report_form_row(writer->out, &row, nr);
}

static struct zm_mail_cell fails(const struct zm_compare_cell *cell, size_t side)
{
	size_t base_nr = cell->sides[0].nr_ok + cell->sides[0].nr_failed;
	size_t nr = cell->sides[side].nr_ok + cell->sides[side].nr_failed;
	double base = base_nr ? (double)cell->sides[0].nr_failed / (double)base_nr : 0;
	double share = nr ? (double)cell->sides[side].nr_failed / (double)nr : 0;

	return (struct zm_mail_cell){ .value = (double)cell->sides[side].nr_failed,
				      .runs = (double)nr,
				      .stddev = NAN,
				      .is_percent = true,
				      .change = side ? (share - base) * 100 : NAN };
}

static void print_fails(struct writer *writer, const struct zm_compare_cell *cell)
{
	struct zm_mail_cell cells[ZM_COMPARE_SIDES];
	struct zm_mail_row row = { .is_fail = true, .cells = cells };
	unsigned int nr = (unsigned int)writer->compare->nr_sides;
	bool has_any = false;
	char name[256];

	(void)snprintf(name, sizeof(name), "%s.fail", cell->workload);
	row.metric = name;
	for (unsigned int i = 0; i < nr; i++) {
		has_any |= cell->sides[i].nr_failed > 0;
		cells[i] = fails(cell, i);
	}
	if (!has_any)
		return;
	zm_report_form_titles(writer->out, nr, true);
	zm_report_form_row(writer->out, &row, nr);
}

static int compare_names(const void *a, const void *b)
{
	const struct zm_compare_metric *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void print_figures(struct writer *writer, const struct zm_compare_cell *cell)
{
	const struct zm_compare_metric **rows =
		zm_pool_take(&writer->pool, (cell->nr_metrics + 1) * sizeof(*rows));
	size_t nr = 0;

	if (!rows)
		return;
	zm_report_form_titles(writer->out, (unsigned int)writer->compare->nr_sides, false);
	for (size_t i = 0; i < cell->nr_primary; i++)
		print_row(writer, &cell->metrics[i]);
	for (size_t i = cell->nr_primary; i < cell->nr_metrics; i++) {
		if (nr < writer->options->nr_explanations &&
		    zm_compare_explains(writer->compare, &cell->metrics[i]))
			rows[nr++] = &cell->metrics[i];
	}
	if (nr > 1)
		qsort(rows, nr, sizeof(*rows), compare_names);
	for (size_t i = 0; i < nr; i++)
		print_row(writer, rows[i]);
}

/* --- sides --- */

static void print_sides(struct writer *writer)
{
	const struct zm_compare *compare = writer->compare;
	struct zm_mail_commit commits[ZM_COMPARE_SIDES];
	const char *heads[ZM_COMPARE_SIDES];
	char titles[ZM_COMPARE_SIDES][256];
	unsigned int nr = (unsigned int)compare->nr_sides;

	for (unsigned int i = 0; i < nr; i++) {
		(void)snprintf(titles[i], sizeof(titles[i]), "Linux %s", compare->sides[i].kernels);
		heads[i] = compare->sides[i].name;
		commits[i] = (struct zm_mail_commit){ .name = heads[i], .title = titles[i] };
	}
	zm_report_form_commits(writer->out, commits, nr);
	zm_report_form_heads(writer->out, heads, nr);
}

static void print_cell(struct writer *writer, const struct zm_compare_cell *cell)
{
	struct zm_mail_pairs params = { 0 };

	take_params(writer, cell, &params);
	zm_report_form_keys(writer->out, &params, "zonemark");
	print_sides(writer);
	print_fails(writer, cell);
	print_figures(writer, cell);
}

int zm_format_compare_lkp(const struct zm_compare *compare, const struct zm_format_compare *options,
			  FILE *out)
{
	struct writer writer = { .compare = compare, .options = options, .out = out };
	int error;

	for (size_t i = 0; i < compare->nr_cells && !writer.pool.error; i++) {
		if (i)
			(void)fputc('\n', out);
		print_cell(&writer, &compare->cells[i]);
	}
	error = writer.pool.error;
	zm_pool_release(&writer.pool);
	return error;
}
