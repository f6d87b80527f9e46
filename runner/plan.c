/*
 * plan: words -> sources (a workload and the options of its line) -> cells.
 *
 *     "quick size=64M"   words
 *     page_fault1 { mode, nr_task, idle, warmup, runtime, size }      one source per line of the
 *     page_fault2 { … }                                               matrix, the command's own
 *     page_fault1 mode=process nr_task=1 …                            options put in; then all
 *     …                                                               combinations of each
 */
#include "runner/plan.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/words.h"
#include "runner/catalogue.h"
#include "runner/matrix.h"
#include "runner/matrix_file.h"
#include "runner/schedule.h"
#include "runner/setting.h"
#include "workloads/documented.h"
#include "workloads/base/cleanup.h"

struct source {
	const struct zm_workload *workload;
	struct zm_axes axes;
	char *where;         /* "night.yaml:7"; NULL: nowhere */
	char *monitor;       /* NULL: as usual */
	bool is_passed_over; /* this kernel has not its settings: asked for, and not run */
};

struct planner {
	const struct zm_cell_context *context;
	const struct zm_workload *const *workloads;
	struct source *sources;
	size_t nr_sources;
	size_t nr_runnable; /* of them, those that are not passed over */
	bool is_in_file;
	struct zm_plan plan;
	struct zm_why *why;
	struct zm_why left_out; /* why the last cell was left out */
};

static int no_memory(const struct planner *planner)
{
	return zm_why_errno(planner->why, -ENOMEM, "planning the runs");
}

__attribute__((format(printf, 2, 3))) static int remark(struct planner *planner, const char *format,
							...);

/* --- names: of workloads and matrices --- */

static const struct zm_workload *find_workload(const struct planner *planner, const char *name)
{
	for (size_t i = 0; planner->workloads[i]; i++) {
		if (zm_workload_is_named(planner->workloads[i], name))
			return planner->workloads[i];
	}
	return NULL;
}

/* vm-scalability's name of a case with threads: "anon-cow-rand-mt". NULL: it is none. */
static const struct zm_workload *find_threaded(const struct planner *planner, const char *name)
{
	size_t length = strlen(name);
	char stem[64];

	if (length <= 3 || length >= sizeof(stem) || strcmp(name + length - 2, "mt") != 0)
		return NULL;
	(void)snprintf(stem, sizeof(stem), "%.*s", (int)length - 3, name);
	return find_workload(planner, stem);
}

static int unknown_name(const struct planner *planner, const char *name)
{
	const struct zm_workload *threaded = find_threaded(planner, name);
	const char *names[512];
	const char *nearest;
	size_t n = 0;

	if (threaded)
		return zm_why_set(planner->why, -ENOENT, "%s: here that is %s mode=thread", name,
				  threaded->name);
	for (size_t i = 0; zm_matrices[i].name && n < 500; i++)
		names[n++] = zm_matrices[i].name;
	for (size_t i = 0; planner->workloads[i] && n < 500; i++)
		names[n++] = planner->workloads[i]->name;
	names[n] = NULL;
	nearest = zm_option_nearest(name, names);
	if (nearest)
		return zm_why_set(planner->why, -ENOENT,
				  "%s: no such workload or matrix; did you mean %s?", name,
				  nearest);
	return zm_why_set(planner->why, -ENOENT,
			  "%s: no such workload or matrix; `zonemark list` shows them", name);
}

static int add_source(struct planner *planner, const struct zm_workload *workload,
		      bool is_passed_over)
{
	struct source *grown =
		realloc(planner->sources, (planner->nr_sources + 1) * sizeof(*grown));

	if (!grown)
		return no_memory(planner);
	planner->sources = grown;
	planner->sources[planner->nr_sources++] =
		(struct source){ .workload = workload, .is_passed_over = is_passed_over };
	planner->nr_runnable += !is_passed_over;
	return 0;
}

/* --- options --- */

static const struct zm_option *find_row(const struct zm_workload *workload, const char *name)
{
	const struct zm_option *row = zm_option_find(zm_run_option_rows, name);

	if (!row && workload->options)
		row = zm_option_find(workload->options, name);
	return row;
}

static bool has_option(const struct zm_workload *workload, const char *name)
{
	return find_row(workload, name) || zm_setting_is(name);
}

static size_t add_names(const struct zm_option *rows, const char **names, size_t n, size_t max)
{
	for (size_t i = 0; rows && rows[i].name && n < max; i++)
		names[n++] = rows[i].name;
	return n;
}

static int unknown_option(const struct planner *planner, const char *name)
{
	const char *names[512];
	const char *nearest;
	size_t max = sizeof(names) / sizeof(names[0]) - 1;
	size_t n = add_names(zm_run_option_rows, names, 0, max);

	for (size_t i = 0; i < planner->nr_sources; i++)
		n = add_names(planner->sources[i].workload->options, names, n, max);
	for (size_t i = 0; zm_setting_rows[i].name && n < max; i++)
		names[n++] = zm_setting_rows[i].name;
	names[n] = NULL;
	nearest = zm_option_nearest(name, names);
	if (nearest)
		return zm_why_set(planner->why, -EINVAL, "%s: no such option; did you mean %s?",
				  name, nearest);
	return zm_why_set(
		planner->why, -EINVAL,
		"%s: neither a run, nor %s, nor the machine has such an option; `zonemark "
		"list %s` shows them",
		name, planner->sources[0].workload->name, planner->sources[0].workload->name);
}

static bool is_whole_number(const struct zm_option *row)
{
	return row && (row->type == ZM_OPTION_U64 || row->type == ZM_OPTION_AMOUNT);
}

/* Puts the option into every source from `first` on that has it. */
static int put_option(struct planner *planner, size_t first, const char *word)
{
	zm_autofree char *name = strndup(word, strcspn(word, "="));
	bool is_known = false;
	int r = name ? 0 : no_memory(planner);

	for (size_t i = first; r == 0 && i < planner->nr_sources; i++) {
		struct source *source = &planner->sources[i];
		const struct zm_option *row = find_row(source->workload, name);
		struct zm_axis axis;

		if (!has_option(source->workload, name))
			continue;
		is_known = true;
		r = zm_axis_parse(word, is_whole_number(row), &axis, planner->why);
		if (r < 0)
			break;
		/* By its own name, whichever was typed. */
		if (row && zm_axis_rename(&axis, row->name) < 0)
			r = no_memory(planner);
		if (r == 0 && zm_axes_put(&source->axes, &axis) < 0)
			r = no_memory(planner);
		if (r < 0)
			zm_axis_release(&axis);
	}
	if (r == 0 && !is_known)
		r = unknown_option(planner, name);
	return r;
}

/* Are all settings here that the line's words set? */
static bool has_settings(const struct planner *planner, const char *line)
{
	zm_autofree char *copy = planner->context->root ? strdup(line) : NULL;
	char *save = NULL;
	bool is_here = true;

	for (char *word = copy ? strtok_r(copy, " ", &save) : NULL; word && is_here;
	     word = strtok_r(NULL, " ", &save)) {
		word[strcspn(word, "=")] = '\0';
		is_here = !zm_setting_is(word) || zm_setting_is_here(planner->context->root, word);
	}
	return is_here;
}

/* A matrix's line: a workload and its options. A line whose workload is not in this build's table is as
 * good as not there; one whose settings this kernel does not have is passed over. */
static int add_line(struct planner *planner, const char *line)
{
	zm_autofree char *copy = strdup(line);
	size_t first = planner->nr_sources;
	char *save = NULL;
	const struct zm_workload *workload;
	int r;

	if (!copy)
		return no_memory(planner);
	workload = find_workload(planner, strtok_r(copy, " ", &save));
	if (!workload)
		return 0;
	r = add_source(planner, workload, !has_settings(planner, line));
	for (char *word = strtok_r(NULL, " ", &save); r == 0 && word;
	     word = strtok_r(NULL, " ", &save))
		r = put_option(planner, first, word);
	return r;
}

static int add_name(struct planner *planner, const char *name);

static int copy_text(struct planner *planner, const char *text, char **ret_copy)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return no_memory(planner);
	free(*ret_copy);
	*ret_copy = copy;
	return 0;
}

/* "default,page-latency", where this build has it. */
static const char *monitor_of(const struct zm_matrix *matrix, char *buf, size_t size)
{
	if (!matrix || !matrix->monitor || !zm_monitor_find(matrix->monitor))
		return NULL;
	(void)snprintf(buf, size, "default,%s", matrix->monitor);
	return buf;
}

/* A line of a set: its name, which may be a matrix's; its options; where it stands. */
static int add_set_line(struct planner *planner, const struct zm_matrix_line *line)
{
	const struct zm_matrix *before = planner->plan.matrix;
	size_t first = planner->nr_sources;
	const char *monitor = line->monitor;
	char with[128];
	int r = add_name(planner, line->words[0]);

	/* A matrix in a set is a part of it: its table is not the set's, but its monitor is its own. */
	if (planner->plan.matrix != before && !monitor)
		monitor = monitor_of(planner->plan.matrix, with, sizeof(with));
	planner->plan.matrix = before;
	/* What cannot run here is left out of a set, and said. */
	if (r == -ENOTSUP || r == -ENOPKG)
		r = remark(planner, "left out: %s", planner->why->text);
	for (size_t i = 1; r == 0 && planner->nr_sources > first && i < line->nr_words; i++)
		r = put_option(planner, first, line->words[i]);
	if (r < 0 && line->where)
		zm_why_prefix(planner->why, "%s", line->where);
	for (size_t i = first; r == 0 && i < planner->nr_sources; i++) {
		r = copy_text(planner, line->where, &planner->sources[i].where);
		if (r == 0 && monitor)
			r = copy_text(planner, monitor, &planner->sources[i].monitor);
	}
	return r;
}

static int add_set(struct planner *planner, const struct zm_matrix_set *set)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < set->nr_remarks; i++)
		r = remark(planner, "%s", set->remarks[i]);
	for (size_t i = 0; r == 0 && i < set->nr_lines; i++)
		r = add_set_line(planner, &set->lines[i]);
	return r;
}

/* id: of one table; NULL: all of the catalogue. */
static int add_documented(struct planner *planner, const char *id)
{
	struct zm_matrix_set set;
	int r = zm_matrix_set_documented(planner->context, planner->workloads, id, &set,
					 planner->why);

	if (r < 0)
		return r;
	r = add_set(planner, &set);
	zm_matrix_set_release(&set);
	return r;
}

static int add_file(struct planner *planner, const char *path)
{
	struct zm_matrix_set set;
	int r;

	if (planner->is_in_file)
		return zm_why_set(planner->why, -EINVAL, "%s: a file within a file is not read",
				  path);
	r = zm_matrix_file_read(path, planner->context, planner->workloads, &set, planner->why);
	if (r < 0)
		return r;
	planner->is_in_file = true;
	r = add_set(planner, &set);
	planner->is_in_file = false;
	planner->plan.nr_repeats = set.nr_repeats;
	planner->plan.budget_ns = set.budget_ns;
	zm_matrix_set_release(&set);
	return r;
}

static int add_matrix(struct planner *planner, const struct zm_matrix *matrix)
{
	size_t nr_before = planner->nr_runnable;
	int r = 0;

	if (!matrix->lines)
		return add_documented(planner, NULL);
	for (size_t i = 0; r == 0 && matrix->lines[i]; i++)
		r = add_line(planner, matrix->lines[i]);
	planner->plan.matrix = matrix;
	if (r == 0 && planner->nr_runnable == nr_before)
		r = zm_why_set(planner->why, -ENOTSUP,
			       "%s: this kernel has none of the settings that its cells differ by",
			       matrix->name);
	return r;
}

static int add_name(struct planner *planner, const char *name)
{
	const struct zm_workload *workload = find_workload(planner, name);
	const struct zm_matrix *matrix = zm_matrix_find(name);

	if (workload)
		return add_source(planner, workload, false);
	if (matrix)
		return add_matrix(planner, matrix);
	if (zm_documented_find(name))
		return add_documented(planner, name);
	if (zm_matrix_file_is_named(name))
		return add_file(planner, name);
	return unknown_name(planner, name);
}

/* A list of them. */
static int add_names_of(struct planner *planner, const char *word)
{
	zm_autofree char *copy = strdup(word);
	char *rest = copy;
	int r = copy ? 0 : no_memory(planner);

	while (r == 0 && rest) {
		char *name = strsep(&rest, ",");

		r = *name ? add_name(planner, name)
			  : zm_why_set(planner->why, -EINVAL,
				       "'%s': an empty name; `zonemark list` shows what there is",
				       word);
	}
	return r;
}

/* --- cells --- */

static int remark(struct planner *planner, const char *format, ...)
{
	struct zm_plan *plan = &planner->plan;
	char **grown = realloc(plan->remarks, (plan->nr_remarks + 1) * sizeof(*grown));
	va_list list;
	int n;

	if (!grown)
		return no_memory(planner);
	plan->remarks = grown;
	va_start(list, format);
	n = vasprintf(&plan->remarks[plan->nr_remarks], format, list);
	va_end(list);
	if (n < 0)
		return no_memory(planner);
	plan->nr_remarks++;
	return 0;
}

static bool was_said(const struct zm_plan *plan, const char *text)
{
	for (size_t i = 0; i < plan->nr_remarks; i++) {
		if (strcmp(plan->remarks[i], text) == 0)
			return true;
	}
	return false;
}

/* A share that is no whole number of tasks: what was made of it. */
static int remark_rounding(struct planner *planner, const struct zm_cell *cell)
{
	const struct zm_amount *asked = &cell->options.nr_task;
	unsigned int nr_cpus = planner->context->nr_cpus;
	char amount[32], text[160];

	if (!asked->is_percent ||
	    fabs(asked->value * nr_cpus / 100 - (double)cell->nr_units) < 1e-9)
		return 0;
	(void)snprintf(text, sizeof(text), "nr_task=%s of %u CPU%s: %u %s",
		       zm_units_print_amount(amount, sizeof(amount), asked), nr_cpus,
		       nr_cpus == 1 ? "" : "s", cell->nr_units,
		       cell->nr_units == 1 ? "task is used" : "tasks are used");
	return was_said(&planner->plan, text) ? 0 : remark(planner, "%s", text);
}

static const struct zm_cell *find_same(const struct zm_plan *plan, const struct zm_cell *cell)
{
	for (size_t i = 0; i < plan->nr_cells; i++) {
		if (strcmp(plan->cells[i].params, cell->params) == 0)
			return &plan->cells[i];
	}
	return NULL;
}

/* Before the cell is put into the plan, or is not. */
static int add_ask(struct planner *planner, const struct zm_cell *cell, bool is_run)
{
	struct zm_plan *plan = &planner->plan;
	struct zm_plan_ask *grown = realloc(plan->asks, (plan->nr_asks + 1) * sizeof(*grown));
	char *key = strdup(cell->key);

	if (grown)
		plan->asks = grown;
	if (!grown || !key) {
		free(key);
		return no_memory(planner);
	}
	plan->asks[plan->nr_asks++] =
		(struct zm_plan_ask){ .key = key,
				      .cost_ns = zm_schedule_cost_ns(cell),
				      .cell = is_run ? plan->nr_cells : ZM_PLAN_NO_CELL };
	return 0;
}

/* Takes the cell over. */
static int add_cell(struct planner *planner, struct zm_cell *cell)
{
	struct zm_plan *plan = &planner->plan;
	struct zm_cell *grown;
	bool is_there = find_same(plan, cell) != NULL;
	int r = remark_rounding(planner, cell);

	if (r == 0)
		r = add_ask(planner, cell, !is_there);
	if (r == 0 && is_there) {
		r = remark(planner, "%s is asked for twice here, and run once", cell->title);
		zm_cell_release(cell);
		return r;
	}
	grown = r == 0 ? realloc(plan->cells, (plan->nr_cells + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		zm_cell_release(cell);
		return r < 0 ? r : no_memory(planner);
	}
	plan->cells = grown;
	plan->cells[plan->nr_cells++] = *cell;
	return 0;
}

/* How far in the values stand that it takes, of each option: the outermost tell most. Words have no
 * order, but the one they were typed in. */
static unsigned int rank_of(const struct source *source, size_t index)
{
	unsigned int rank = 0;

	for (size_t i = source->axes.nr; i-- > 0;) {
		const struct zm_axis *axis = &source->axes.list[i];
		const struct zm_option *row = find_row(source->workload, axis->name);
		size_t place = index % axis->nr_values;

		rank += row && row->type == ZM_OPTION_CHOICE
				? (unsigned int)place
				: zm_schedule_place(place, axis->nr_values);
		index /= axis->nr_values;
	}
	return rank;
}

static int add_combination(struct planner *planner, const struct source *source, size_t index)
{
	struct zm_cell cell;
	int r = zm_cell_make(planner->context, source->workload, &source->axes, index, &cell,
			     &planner->left_out);

	if (r == -ENOTSUP)
		return was_said(&planner->plan, planner->left_out.text)
			       ? 0
			       : remark(planner, "%s", planner->left_out.text);
	if (r < 0 && source->where)
		return zm_why_set(planner->why, r, "%s: %s", source->where, planner->left_out.text);
	if (r < 0)
		return zm_why_set(planner->why, r, "%s", planner->left_out.text);
	cell.rank = rank_of(source, index);
	r = source->is_passed_over ? add_ask(planner, &cell, false)
				   : copy_text(planner, source->monitor, &cell.monitor);
	if (r < 0 || source->is_passed_over) {
		zm_cell_release(&cell);
		return r;
	}
	return add_cell(planner, &cell);
}

static int add_source_cells(struct planner *planner, const struct source *source)
{
	size_t count = zm_axes_count(&source->axes);
	int r = 0;

	if (count == 0 || count > ZM_PLAN_CELLS - planner->plan.nr_cells)
		return zm_why_set(planner->why, -ERANGE,
				  "%s: these options combine to more than %d runs; ask for fewer",
				  source->workload->name, ZM_PLAN_CELLS);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_combination(planner, source, i);
	return r;
}

/* --- all of it --- */

static int read_words(struct planner *planner, const char *const *words, size_t nr_words)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr_words; i++) {
		if (!strchr(words[i], '='))
			r = add_names_of(planner, words[i]);
	}
	if (r == 0 && planner->nr_runnable == 0)
		r = zm_why_set(planner->why, -EINVAL,
			       "no workload or matrix is named; `zonemark list` shows them");
	for (size_t i = 0; r == 0 && i < nr_words; i++) {
		if (strchr(words[i], '='))
			r = put_option(planner, 0, words[i]);
	}
	return r;
}

/* Cells of different lines may differ in what a title does not say: then it does. */
static int part_titles(struct planner *planner)
{
	struct zm_plan *plan = &planner->plan;
	zm_autofree struct zm_words *sets = calloc(plan->nr_cells + 1, sizeof(*sets));
	struct zm_pool pool = { 0 };
	int r = sets ? 0 : no_memory(planner);

	for (size_t i = 0; r == 0 && i < plan->nr_cells; i++)
		sets[i] = (struct zm_words){ .group = plan->cells[i].title,
					     .json = plan->cells[i].params };
	if (r == 0 && zm_words_differing(sets, plan->nr_cells, &pool) < 0)
		r = no_memory(planner);
	for (size_t i = 0; r == 0 && i < plan->nr_cells; i++) {
		char *title = NULL;

		if (!sets[i].words || !sets[i].words[0])
			continue;
		if (asprintf(&title, "%s %s", plan->cells[i].title, sets[i].words) < 0)
			r = no_memory(planner);
		else
			sets[i].words = title;
	}
	for (size_t i = 0; r == 0 && i < plan->nr_cells; i++) {
		if (sets[i].words && sets[i].words[0]) {
			free(plan->cells[i].title);
			plan->cells[i].title = (char *)sets[i].words;
		}
	}
	zm_pool_release(&pool);
	return r;
}

static int plan_all(struct planner *planner, const char *const *words, size_t nr_words)
{
	int r = read_words(planner, words, nr_words);

	for (size_t i = 0; r == 0 && i < planner->nr_sources; i++)
		r = add_source_cells(planner, &planner->sources[i]);
	if (r == 0 && planner->plan.nr_cells == 0)
		r = zm_why_set(planner->why, -EINVAL, "%s", planner->left_out.text);
	if (r == 0 && planner->nr_runnable > 1)
		r = part_titles(planner);
	return r;
}

static void release_source(struct source *source)
{
	zm_axes_release(&source->axes);
	free(source->where);
	free(source->monitor);
}

int zm_plan_make(const struct zm_cell_context *context, const struct zm_workload *const *workloads,
		 const char *const *words, size_t nr_words, struct zm_plan *ret_plan,
		 struct zm_why *why)
{
	struct planner planner = { .context = context, .workloads = workloads, .why = why };
	int r = plan_all(&planner, words, nr_words);

	for (size_t i = 0; i < planner.nr_sources; i++)
		release_source(&planner.sources[i]);
	free(planner.sources);
	if (r < 0)
		zm_plan_release(&planner.plan);
	else
		*ret_plan = planner.plan;
	return r;
}

void zm_plan_forget_asks(struct zm_plan *plan)
{
	for (size_t i = 0; i < plan->nr_asks; i++)
		free(plan->asks[i].key);
	free(plan->asks);
	plan->asks = NULL;
	plan->nr_asks = 0;
}

void zm_plan_release(struct zm_plan *plan)
{
	for (size_t i = 0; i < plan->nr_cells; i++)
		zm_cell_release(&plan->cells[i]);
	free(plan->cells);
	zm_plan_forget_asks(plan);
	for (size_t i = 0; i < plan->nr_remarks; i++)
		free(plan->remarks[i]);
	free(plan->remarks);
	*plan = (struct zm_plan){ 0 };
}
