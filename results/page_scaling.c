/*
 * page_scaling: throughput against tasks, a curve for each side.
 *
 *     runs -> points (what but for nr_task was the same, side, tasks, figure) -> sorted -> medians
 *     -> where there are two numbers of tasks or more: a table and a picture
 */
#include "results/page.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/db.h"
#include "results/json.h"
#include "results/plot.h"
#include "results/stat.h"
#include "results/words.h"
#include "workloads/base/cleanup.h"

/* What is the same along a curve. */
struct group {
	const char *workload, *rest, *metric, *unit; /* rest: the cell without nr_task, JSON */
	const char *words;
};

struct point {
	size_t group, side;
	double tasks, value;
};

struct scaling {
	struct group *groups;
	struct point *points;
	size_t nr_groups, groups_capacity, nr_points, points_capacity;
	struct zm_pool pool;
};

static void scaling_release(struct scaling *scaling)
{
	free(scaling->groups);
	free(scaling->points);
	zm_pool_release(&scaling->pool);
}

/* --- reading --- */

static bool is_group(const struct group *group, const struct group *other)
{
	return !strcmp(group->workload, other->workload) && !strcmp(group->rest, other->rest) &&
	       !strcmp(group->metric, other->metric) && !strcmp(group->unit, other->unit);
}

static int find_group(struct scaling *scaling, const struct group *wanted, size_t *ret_group)
{
	struct group *group;
	size_t at = 0;
	int error;

	while (at < scaling->nr_groups && !is_group(&scaling->groups[at], wanted))
		at++;
	*ret_group = at;
	if (at < scaling->nr_groups)
		return 0;
	error = zm_array_grow((void **)&scaling->groups, &scaling->groups_capacity,
			      scaling->nr_groups, sizeof(*group));
	if (error)
		return error;
	group = &scaling->groups[scaling->nr_groups++];
	*group = (struct group){ .workload = zm_pool_text(&scaling->pool, wanted->workload),
				 .rest = zm_pool_text(&scaling->pool, wanted->rest),
				 .metric = zm_pool_text(&scaling->pool, wanted->metric),
				 .unit = zm_pool_text(&scaling->pool, wanted->unit) };
	return scaling->pool.error;
}

/* The cell without its number of tasks; what is no JSON object has none to leave out. */
static char *rest_of(const char *cell)
{
	json_t *object = json_loads(cell, 0, NULL);
	char *rest;

	(void)json_object_del(object, "nr_task");
	rest = object ? json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS) : strdup(cell);
	json_decref(object);
	return rest;
}

static int add_point(struct scaling *scaling, const struct zm_rows *rows, size_t side)
{
	zm_autofree char *rest = rest_of(zm_rows_text(rows, 1));
	struct group wanted = { .workload = zm_rows_text(rows, 0),
				.rest = rest,
				.metric = zm_rows_text(rows, 3),
				.unit = zm_rows_text(rows, 4) };
	struct point point = { .side = side,
			       .tasks = (double)zm_rows_int(rows, 2),
			       .value = zm_rows_real(rows, 5) };
	int error = rest ? find_group(scaling, &wanted, &point.group) : -ENOMEM;

	if (!error)
		error = zm_array_grow((void **)&scaling->points, &scaling->points_capacity,
				      scaling->nr_points, sizeof(point));
	if (!error)
		scaling->points[scaling->nr_points++] = point;
	return error;
}

static int read_run(struct scaling *scaling, const struct zm_compare_side *sides, size_t side,
		    uint64_t run, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(
		zm_store_db(sides[side].store), why, &rows,
		"SELECT workload.name, cell.json, run.nr_tasks, metric.name, metric.unit,"
		" result.value FROM run"
		" JOIN cell ON cell.id = run.cell"
		" JOIN workload ON workload.id = cell.workload"
		" JOIN result ON result.run = run.id"
		" JOIN metric ON metric.id = result.metric"
		" WHERE run.id = ?1 AND run.status = ?2 AND result.is_primary = 1",
		ZM_BIND(zm_int((int64_t)run), zm_int(ZM_STATUS_OK)));

	while (!error && zm_rows_next(&rows, why, &error))
		error = add_point(scaling, &rows, side);
	zm_rows_end(&rows);
	return error;
}

/* What tells the groups of one workload apart. */
static int name_groups(struct scaling *scaling)
{
	struct zm_words *sets = calloc(scaling->nr_groups + 1, sizeof(*sets));
	int error = sets ? 0 : -ENOMEM;

	for (size_t i = 0; i < scaling->nr_groups && !error; i++) {
		sets[i].group = scaling->groups[i].workload;
		sets[i].json = scaling->groups[i].rest;
	}
	if (!error)
		error = zm_words_differing(sets, scaling->nr_groups, &scaling->pool);
	for (size_t i = 0; i < scaling->nr_groups && !error; i++)
		scaling->groups[i].words = sets[i].words;
	free(sets);
	return error;
}

/* --- medians --- */

static int by_place(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return (x->tasks > y->tasks) - (x->tasks < y->tasks);
}

static bool is_same_place(const struct point *a, const struct point *b)
{
	return a->group == b->group && a->side == b->side && !(a->tasks < b->tasks) &&
	       !(a->tasks > b->tasks);
}

/* Sorted, and one point for each number of tasks. */
static int join_points(struct scaling *scaling)
{
	double *values = calloc(scaling->nr_points + 1, sizeof(*values));
	size_t nr = 0;

	if (!values)
		return -ENOMEM;
	if (scaling->nr_points)
		qsort(scaling->points, scaling->nr_points, sizeof(*scaling->points), by_place);
	for (size_t i = 0; i < scaling->nr_points;) {
		struct point point = scaling->points[i];
		size_t nr_values = 0;

		while (i < scaling->nr_points && is_same_place(&point, &scaling->points[i]))
			values[nr_values++] = scaling->points[i++].value;
		point.value = zm_stat_median(values, nr_values);
		scaling->points[nr++] = point;
	}
	scaling->nr_points = nr;
	free(values);
	return 0;
}

/* --- a group's curves --- */

struct curves {
	struct zm_curve list[ZM_COMPARE_SIDES];
	double *x, *y;
	size_t nr; /* curves */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The different numbers of tasks of a group's points, in order. Returns how many. */
static size_t task_numbers(const struct point *points, size_t nr, double *ret_tasks)
{
	size_t nr_tasks = 0;

	for (size_t i = 0; i < nr; i++)
		ret_tasks[i] = points[i].tasks;
	qsort(ret_tasks, nr, sizeof(*ret_tasks), by_value);
	for (size_t i = 0; i < nr; i++) {
		if (i == 0 || ret_tasks[i] > ret_tasks[nr_tasks - 1])
			ret_tasks[nr_tasks++] = ret_tasks[i];
	}
	return nr_tasks;
}

static double value_at(const struct point *points, size_t nr, size_t side, double tasks)
{
	const struct point wanted = { .group = points[0].group, .side = side, .tasks = tasks };

	for (size_t i = 0; i < nr; i++) {
		if (is_same_place(&points[i], &wanted))
			return points[i].value;
	}
	return (double)NAN;
}

static void put_scaling_table(FILE *out, const char *title, const struct zm_compare_side *sides,
			      size_t nr_sides, const struct point *points, size_t nr,
			      const double *tasks, size_t nr_tasks)
{
	struct zm_column columns[ZM_COMPARE_SIDES + 1] = { { .title = "tasks", .is_right = true } };
	struct zm_page_table table;

	for (size_t i = 0; i < nr_sides; i++)
		columns[i + 1] = (struct zm_column){ .title = sides[i].name, .is_right = true };
	zm_page_table_begin(&table, out, title, columns, nr_sides + 1);
	for (size_t i = 0; i < nr_tasks; i++) {
		zm_page_figure(&table, tasks[i]);
		for (size_t side = 0; side < nr_sides; side++)
			zm_page_figure(&table, value_at(points, nr, side, tasks[i]));
	}
	zm_page_table_end(&table);
}

/* The points of one side lie beside each other, so a curve is a part of x and y. */
static int curves_make(const struct zm_compare_side *sides, const struct point *points, size_t nr,
		       struct curves *ret_curves)
{
	struct curves curves = { .x = calloc(nr, sizeof(double)), .y = calloc(nr, sizeof(double)) };

	*ret_curves = curves;
	if (!curves.x || !curves.y)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		curves.x[i] = points[i].tasks;
		curves.y[i] = points[i].value;
		if (i == 0 || points[i].side != points[i - 1].side)
			curves.list[curves.nr++] =
				(struct zm_curve){ .title = sides[points[i].side].name,
						   .x = curves.x + i,
						   .y = curves.y + i };
		curves.list[curves.nr - 1].nr++;
	}
	*ret_curves = curves;
	return 0;
}

static int put_picture(FILE *out, const char *title, const char *unit,
		       const struct zm_compare_side *sides, const struct point *points, size_t nr)
{
	struct curves curves;
	int error = curves_make(sides, points, nr, &curves);
	const struct zm_panel panel = { .y_label = unit,
					.curves = curves.list,
					.nr_curves = curves.nr };
	const struct zm_plot plot = { .titles = { title },
				      .x_label = "tasks",
				      .panels = &panel,
				      .nr_panels = 1,
				      .is_counted = true };
	zm_autofree char *svg = NULL;
	struct zm_why undrawn = { "" };
	size_t length = 0;

	if (!error && zm_plot_svg_text(&plot, &svg, &length, &undrawn) == 0)
		zm_page_picture(out, svg, length, title);
	else if (!error)
		zm_page_element(out, "p", undrawn.text);
	free(curves.x);
	free(curves.y);
	return error;
}

static int put_group(FILE *out, const struct scaling *scaling, const struct zm_compare_side *sides,
		     size_t nr_sides, const struct point *points, size_t nr, size_t *nr_shown)
{
	const struct group *group = &scaling->groups[points[0].group];
	zm_autofree double *tasks = calloc(nr, sizeof(*tasks));
	size_t nr_tasks = tasks ? task_numbers(points, nr, tasks) : 0;
	char title[512];

	if (!tasks)
		return -ENOMEM;
	if (nr_tasks < 2)
		return 0;
	if ((*nr_shown)++ == 0)
		zm_page_element(out, "h2", "Against tasks");
	(void)snprintf(title, sizeof(title), "%s%s%s: %s (%s) against tasks", group->workload,
		       group->words[0] ? " " : "", group->words, group->metric, group->unit);
	put_scaling_table(out, title, sides, nr_sides, points, nr, tasks, nr_tasks);
	return put_picture(out, title, group->unit, sides, points, nr);
}

static int put_groups(FILE *out, const struct scaling *scaling, const struct zm_compare_side *sides,
		      size_t nr_sides)
{
	size_t nr_shown = 0;
	int error = 0;

	for (size_t i = 0; i < scaling->nr_points && !error;) {
		const struct point *points = scaling->points + i;
		size_t nr = 0;

		while (i + nr < scaling->nr_points && points[nr].group == points[0].group)
			nr++;
		error = put_group(out, scaling, sides, nr_sides, points, nr, &nr_shown);
		i += nr;
	}
	return error;
}

int zm_page_scaling(FILE *out, const struct zm_compare_side *sides, size_t nr_sides,
		    struct zm_why *why)
{
	struct scaling scaling = { 0 };
	int error = 0;

	for (size_t i = 0; i < nr_sides; i++) {
		for (size_t k = 0; k < sides[i].runs.nr && !error; k++)
			error = read_run(&scaling, sides, i, sides[i].runs.runs[k], why);
	}
	if (!error)
		error = name_groups(&scaling);
	if (!error)
		error = join_points(&scaling);
	if (!error)
		error = put_groups(out, &scaling, sides, nr_sides);
	scaling_release(&scaling);
	return error;
}
