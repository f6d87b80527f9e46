/*
 * compare_read: the runs of all sides as samples.
 *
 *     run -> cell (by workload and what was asked for) -> figures -> metric (by name) -> sample
 *                                                      -> series in the window, when asked for
 *
 * What others measured comes last, so that it finds the cells and metrics that are zonemark's own.
 */
#include "results/compare_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/query.h"
#include "results/series.h"
#include "workloads/base/cleanup.h"

struct reading {
	struct zm_compare *compare;
	struct zm_read *read;
	size_t side;
	bool with_series;
	struct zm_why *why;

	struct zm_read_cell *cell; /* of the run under way */
	uint32_t boot;
	uint64_t start_ns;
	const struct zm_run_view *view;
	const struct zm_phase_row *window;
};

/* Of the run under way. */
static int add_sample(const struct reading *reading, struct zm_samples *samples, double value)
{
	int error = zm_array_grow((void **)&samples->samples, &samples->capacity, samples->nr,
				  sizeof(*samples->samples));

	if (!error)
		samples->samples[samples->nr++] =
			(struct zm_sample){ reading->start_ns, reading->boot, value };
	return error;
}

/* --- cells and metrics --- */

static int find_cell(struct reading *reading, const struct zm_run_info *info)
{
	struct zm_read *read = reading->read;
	struct zm_pool *pool = &reading->compare->pool;
	int error;

	for (size_t i = 0; i < read->nr_cells; i++) {
		reading->cell = &read->cells[i];
		if (!strcmp(reading->cell->cell, info->cell) &&
		    !strcmp(reading->cell->workload, info->workload))
			return 0;
	}
	error = zm_array_grow((void **)&read->cells, &read->capacity, read->nr_cells,
			      sizeof(*read->cells));
	if (error)
		return error;
	reading->cell = &read->cells[read->nr_cells];
	*reading->cell = (struct zm_read_cell){ .workload = zm_pool_text(pool, info->workload),
						.cell = zm_pool_text(pool, info->cell),
						.params = zm_pool_text(pool, info->params) };
	if (pool->error)
		return pool->error;
	read->nr_cells++;
	return 0;
}

static size_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ hash >> 32);
}

static void put_slot(struct zm_read_cell *cell, size_t metric)
{
	size_t at = hash_of(cell->metrics[metric].name) & (cell->nr_slots - 1);

	while (cell->slots[at])
		at = (at + 1) & (cell->nr_slots - 1);
	cell->slots[at] = (uint32_t)metric + 1;
}

static int grow_slots(struct zm_read_cell *cell)
{
	size_t wanted = cell->nr_slots ? cell->nr_slots * 2 : 64;
	uint32_t *slots;

	if ((cell->nr_metrics + 1) * 2 <= cell->nr_slots)
		return 0;
	slots = calloc(wanted, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(cell->slots);
	cell->slots = slots;
	cell->nr_slots = wanted;
	for (size_t i = 0; i < cell->nr_metrics; i++)
		put_slot(cell, i);
	return 0;
}

static struct zm_read_metric *look_up(const struct zm_read_cell *cell, const char *name)
{
	size_t at;

	if (!cell->nr_slots)
		return NULL;
	at = hash_of(name) & (cell->nr_slots - 1);
	for (; cell->slots[at]; at = (at + 1) & (cell->nr_slots - 1)) {
		struct zm_read_metric *metric = &cell->metrics[cell->slots[at] - 1];

		if (!strcmp(metric->name, name))
			return metric;
	}
	return NULL;
}

static int add_metric(struct reading *reading, const struct zm_read_metric *like,
		      struct zm_read_metric **ret_metric)
{
	struct zm_read_cell *cell = reading->cell;
	struct zm_pool *pool = &reading->compare->pool;
	int error = zm_array_grow((void **)&cell->metrics, &cell->capacity, cell->nr_metrics,
				  sizeof(*cell->metrics));

	if (!error)
		error = grow_slots(cell);
	if (error)
		return error;
	*ret_metric = &cell->metrics[cell->nr_metrics];
	**ret_metric = *like;
	(*ret_metric)->name = zm_pool_text(pool, like->name);
	(*ret_metric)->unit = zm_pool_text(pool, like->unit);
	(*ret_metric)->source = zm_pool_text(pool, like->source);
	if (pool->error)
		return pool->error;
	put_slot(cell, cell->nr_metrics++);
	return 0;
}

static int add_value(struct reading *reading, const struct zm_read_metric *like, double value)
{
	struct zm_read_metric *metric = look_up(reading->cell, like->name);
	int error = metric ? 0 : add_metric(reading, like, &metric);

	return error ? error : add_sample(reading, &metric->sides[reading->side], value);
}

/* --- series --- */

/* A count as its rate, a gauge as its mean over time; of several CPUs or nodes, each by itself. Derived
 * figures of the same name are there already. */
static int add_series(void *context, const struct zm_series *series)
{
	struct reading *reading = context;
	const struct zm_phase_row *window = reading->window;
	char name[320], unit[96];
	struct zm_read_metric like = { .name = name,
				       .unit = unit,
				       .source = series->desc.source,
				       .better = series->desc.better };
	uint64_t covered_ns = 1;
	double value;

	if (series->desc.kind == ZM_HIST || series->desc.scope == ZM_SCOPE_TASK ||
	    zm_run_view_result(reading->view, series->desc.metric))
		return 0;
	(void)snprintf(name, sizeof(name), "%s", series->desc.metric);
	if (series->desc.scope != ZM_SCOPE_HOST && series->desc.scope != ZM_SCOPE_ZONE &&
	    series->desc.scope != ZM_SCOPE_NODE)
		(void)snprintf(name, sizeof(name), "%s.%s%u", series->desc.metric,
			       zm_scope_name(series->desc.scope), series->desc.scope_id);
	(void)snprintf(unit, sizeof(unit), "%s%s", series->desc.unit,
		       series->desc.kind == ZM_COUNT ? "/s" : "");
	if (series->desc.kind == ZM_COUNT)
		value = zm_series_total(series, window->t0_ns, window->t1_ns, &covered_ns) * 1e9 /
			(double)covered_ns;
	else
		value = zm_series_mean(series, window->t0_ns, window->t1_ns);
	return isfinite(value) && covered_ns ? add_value(reading, &like, value) : 0;
}

static int read_series(struct reading *reading, struct zm_store *store)
{
	const struct zm_series_filter all = { .scope = -1 };

	reading->window = zm_run_view_phase(reading->view, ZM_PHASE_MEASURE);
	if (!reading->window)
		return 0;
	return zm_series_read(store, reading->view->info.id, &all, add_series, reading, NULL,
			      reading->why);
}

/* --- boots and inventories --- */

static int find_boot(struct reading *reading, const struct zm_run_info *info)
{
	struct zm_pool *pool = &reading->compare->pool;
	size_t side = reading->side, nr = reading->read->sides[side].nr_boots;
	struct zm_read_boot *boots = reading->read->sides[side].boots;
	int error;

	reading->start_ns = info->start_ns;
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(boots[i].boot, info->boot) &&
		    !strcmp(boots[i].machine, info->machine) &&
		    !strcmp(boots[i].kernel, info->kernel)) {
			reading->boot = (uint32_t)i;
			return 0;
		}
	}
	error = zm_array_grow((void **)&reading->read->sides[side].boots,
			      &reading->read->sides[side].capacity, nr, sizeof(*boots));
	if (error)
		return error;
	reading->read->sides[side].boots[nr] = (struct zm_read_boot){
		.machine = zm_pool_text(pool, info->machine),
		.boot = zm_pool_text(pool, info->boot),
		.kernel = zm_pool_text(pool, info->kernel),
		.in_base = UINT32_MAX,
	};
	reading->read->sides[side].nr_boots++;
	reading->boot = (uint32_t)nr;
	return pool->error;
}

static int keep_inventory(struct reading *reading, const char *text)
{
	size_t side = reading->side, nr = reading->read->sides[side].nr_inventories;
	size_t capacity = reading->read->sides[side].inventories_capacity;
	json_t *object;
	int error;

	for (size_t i = nr; i-- > 0;) {
		if (!strcmp(reading->read->sides[side].inventory_texts[i], text))
			return 0;
	}
	object = json_loads(text, 0, NULL);
	if (!object)
		return 0;
	error = zm_array_grow((void **)&reading->read->sides[side].inventories, &capacity, nr,
			      sizeof(json_t *));
	capacity = reading->read->sides[side].inventories_capacity;
	if (!error)
		error = zm_array_grow((void **)&reading->read->sides[side].inventory_texts,
				      &capacity, nr, sizeof(char *));
	if (error) {
		json_decref(object);
		return error;
	}
	reading->read->sides[side].inventories_capacity = capacity;
	reading->read->sides[side].inventories[nr] = object;
	reading->read->sides[side].inventory_texts[nr] =
		zm_pool_text(&reading->compare->pool, text);
	reading->read->sides[side].nr_inventories++;
	return reading->compare->pool.error;
}

/* --- runs --- */

static int read_results(struct reading *reading, const struct zm_result *results, size_t nr)
{
	int error = 0;

	for (size_t i = 0; i < nr && !error; i++) {
		const struct zm_read_metric like = { .name = results[i].metric,
						     .unit = results[i].unit,
						     .source = results[i].source,
						     .better = results[i].better,
						     .is_primary = results[i].is_primary };

		error = add_value(reading, &like, results[i].value);
	}
	return error;
}

static int read_good_run(struct reading *reading, struct zm_store *store)
{
	const struct zm_run_view *view = reading->view;
	int error = find_boot(reading, &view->info);

	reading->cell->sides[reading->side].nr_ok++;
	if (!error)
		error = add_sample(reading, &reading->cell->sides[reading->side].boots, 0);
	if (!error)
		error = keep_inventory(reading, view->inventory);
	if (!error)
		error = read_results(reading, view->results, view->nr_results);
	if (!error && reading->with_series)
		error = read_series(reading, store);
	return error;
}

static int read_run(struct reading *reading, struct zm_store *store, uint64_t run)
{
	struct zm_run_view *view = NULL;
	int error = zm_query_run(store, run, &view, reading->why);

	if (error)
		return error;
	reading->view = view;
	if (view->info.status == ZM_STATUS_OK || view->info.status == ZM_STATUS_FAILED)
		error = find_cell(reading, &view->info);
	if (!error && view->info.status == ZM_STATUS_OK)
		error = read_good_run(reading, store);
	else if (!error && view->info.status == ZM_STATUS_FAILED)
		reading->cell->sides[reading->side].nr_failed++;
	zm_run_view_free(view);
	return error;
}

/* --- what others measured --- */

static bool is_equal(const json_t *a, const json_t *b)
{
	zm_autofree char *x = NULL, *y = NULL;

	if (json_is_string(a) && json_is_string(b))
		return !strcmp(json_string_value(a), json_string_value(b));
	x = json_is_string(a) ? strdup(json_string_value(a)) : json_dumps(a, JSON_ENCODE_ANY);
	y = json_is_string(b) ? strdup(json_string_value(b)) : json_dumps(b, JSON_ENCODE_ANY);
	return x && y && !strcmp(x, y);
}

/* Is it, as far as others say, the same that our cell ran? */
static bool is_such_a_cell(const struct zm_read_cell *cell, const struct zm_outside_run *run)
{
	json_t *ours = json_loads(cell->params, 0, NULL), *theirs = json_loads(run->cell, 0, NULL);
	const json_t *mode = json_object_get(theirs, "mode");
	bool is_such =
		json_object_get(theirs, "nr_task") && json_object_get(ours, "nr_task") &&
		is_equal(json_object_get(theirs, "nr_task"), json_object_get(ours, "nr_task"));

	if (mode)
		is_such &= json_object_get(ours, "mode") &&
			   is_equal(mode, json_object_get(ours, "mode"));
	json_decref(ours);
	json_decref(theirs);
	return is_such;
}

static int find_outside_cell(struct reading *reading, const struct zm_outside_run *run,
			     size_t nr_own)
{
	struct zm_read_cell *found = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < nr_own; i++) {
		struct zm_read_cell *cell = &reading->read->cells[i];

		if (!strcmp(cell->workload, run->workload) && is_such_a_cell(cell, run)) {
			found = cell;
			nr++;
		}
	}
	reading->cell = found;
	return nr == 1 ? 0
		       : find_cell(reading, &(struct zm_run_info){ .workload = run->workload,
								   .cell = run->cell,
								   .params = run->cell });
}

static int read_outside_run(struct reading *reading, const struct zm_outside_run *run,
			    size_t nr_own)
{
	int error = find_outside_cell(reading, run, nr_own);

	if (error)
		return error;
	if (run->has_failed) {
		reading->cell->sides[reading->side].nr_failed++;
		return 0;
	}
	reading->cell->sides[reading->side].nr_ok++;
	error = find_boot(reading, &(struct zm_run_info){ .machine = run->machine,
							  .boot = run->boot,
							  .kernel = run->kernel });
	if (!error)
		error = add_sample(reading, &reading->cell->sides[reading->side].boots, 0);
	return error ? error : read_results(reading, run->results, run->nr_results);
}

static int read_outside(struct reading *reading)
{
	size_t nr_own = reading->read->nr_cells;
	int error = 0;

	for (size_t side = 0; side < reading->compare->nr_sides; side++) {
		const struct zm_outside *outside = reading->compare->sides[side].outside;

		reading->side = side;
		for (size_t i = 0; outside && i < outside->nr && !error; i++)
			error = read_outside_run(reading, &outside->runs[i], nr_own);
	}
	return error;
}

static bool is_same_boot(const struct zm_read_boot *a, const struct zm_read_boot *b)
{
	return !strcmp(a->boot, b->boot) && !strcmp(a->machine, b->machine) &&
	       !strcmp(a->kernel, b->kernel);
}

static void number_in_base(struct zm_read *read, size_t nr_sides)
{
	for (size_t side = 0; side < nr_sides; side++) {
		for (size_t i = 0; i < read->sides[side].nr_boots; i++) {
			for (uint32_t k = 0; k < read->sides[0].nr_boots; k++) {
				if (is_same_boot(&read->sides[side].boots[i],
						 &read->sides[0].boots[k]))
					read->sides[side].boots[i].in_base = k;
			}
		}
	}
}

int zm_compare_read(struct zm_compare *compare, bool with_series, struct zm_read *ret_read,
		    struct zm_why *why)
{
	struct zm_read read = { 0 };
	struct reading reading = {
		.compare = compare, .read = &read, .with_series = with_series, .why = why
	};
	int error = 0;

	for (size_t side = 0; side < compare->nr_sides && !error; side++) {
		const struct zm_runset *runs = &compare->sides[side].runs;

		reading.side = side;
		for (size_t i = 0; i < runs->nr && !error; i++)
			error = read_run(&reading, compare->sides[side].store, runs->runs[i]);
	}
	if (!error)
		error = read_outside(&reading);
	if (error) {
		zm_compare_read_release(&read, compare->nr_sides);
		return error;
	}
	number_in_base(&read, compare->nr_sides);
	*ret_read = read;
	return 0;
}

static void release_cell(struct zm_read_cell *cell, size_t nr_sides)
{
	for (size_t i = 0; i < cell->nr_metrics; i++) {
		for (size_t side = 0; side < nr_sides; side++)
			free(cell->metrics[i].sides[side].samples);
	}
	for (size_t side = 0; side < nr_sides; side++)
		free(cell->sides[side].boots.samples);
	free(cell->metrics);
	free(cell->slots);
}

void zm_compare_read_release(struct zm_read *read, size_t nr_sides)
{
	for (size_t i = 0; i < read->nr_cells; i++)
		release_cell(&read->cells[i], nr_sides);
	free(read->cells);
	for (size_t side = 0; side < nr_sides; side++) {
		for (size_t i = 0; i < read->sides[side].nr_inventories; i++)
			json_decref(read->sides[side].inventories[i]);
		free(read->sides[side].inventories);
		free(read->sides[side].inventory_texts);
		free(read->sides[side].boots);
	}
	*read = (struct zm_read){ 0 };
}
