/*
 * peers: rows in the order cell, metric, machine, boot -> means of boots -> medians of machines -> metrics per
 * model -> outliers -> correction.
 */
#include "results/peers.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/db.h"
#include "results/judge.h"
#include "results/stat.h"
#include "results/words.h"

/* --- machines and models --- */

static const char *word_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && text[0] ? text : "?";
}

static void name_model(const char *inventory, char *buf, size_t size)
{
	json_t *object = json_loads(inventory, 0, NULL);
	double sockets = json_number_value(json_object_get(object, "sockets"));
	double bytes = json_number_value(json_object_get(object, "memory_bytes"));

	(void)snprintf(buf, size, "%s, %s, %g sockets, %.0f GiB", word_of(object, "product"),
		       word_of(object, "cpu_model"), sockets, bytes / 0x1p30);
	json_decref(object);
}

static size_t find_model(struct zm_peers *peers, const char *name)
{
	const char **grown;

	for (size_t i = 0; i < peers->nr_models; i++) {
		if (strcmp(peers->models[i], name) == 0)
			return i;
	}
	grown = realloc(peers->models, (peers->nr_models + 1) * sizeof(*grown));
	if (!grown) {
		peers->pool.error = -ENOMEM;
		return 0;
	}
	peers->models = grown;
	peers->models[peers->nr_models] = zm_pool_text(&peers->pool, name);
	return peers->nr_models++;
}

static int add_machine(struct zm_peers *peers, size_t *capacity, const struct zm_rows *rows)
{
	int r = zm_array_grow((void **)&peers->machines, capacity, peers->nr_machines,
			      sizeof(*peers->machines));
	struct zm_peers_machine *machine;
	char model[256];

	if (r < 0)
		return r;
	machine = &peers->machines[peers->nr_machines++];
	machine->row = zm_rows_int(rows, 0);
	machine->id = zm_pool_text(&peers->pool, zm_rows_text(rows, 1));
	machine->inventory = zm_pool_text(&peers->pool, zm_rows_text(rows, 2));
	name_model(machine->inventory ? machine->inventory : "{}", model, sizeof(model));
	machine->model = find_model(peers, model);
	return peers->pool.error;
}

/* By their newest run. */
static int read_machines(struct zm_peers *peers, struct zm_db *db, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	size_t capacity = 0;
	int error =
		zm_db_query(db, why, &rows,
			    "SELECT machine.id, machine.key, inventory.json FROM machine"
			    " JOIN (SELECT boot.machine AS machine, max(run.id) AS run FROM run"
			    "       JOIN boot ON boot.id = run.boot WHERE run.status = ?1"
			    "       GROUP BY boot.machine) newest ON newest.machine = machine.id"
			    " JOIN run ON run.id = newest.run"
			    " JOIN inventory ON inventory.id = run.inventory ORDER BY machine.id",
			    ZM_BIND(zm_int(ZM_STATUS_OK)));

	while (!error && zm_rows_next(&rows, why, &error))
		error = add_machine(peers, &capacity, &rows);
	zm_rows_end(&rows);
	return error;
}

static size_t find_machine(const struct zm_peers *peers, int64_t row)
{
	size_t low = 0, high = peers->nr_machines;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (peers->machines[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- values --- */

/* One machine's runs of one metric, as they come. */
struct gathering {
	struct zm_peers *peers;
	size_t metrics_capacity;
	int64_t cell, metric, machine, boot; /* rows; -1 before the first */
	double sum;                          /* of the boot's runs */
	size_t nr, nr_runs;
	double *boots; /* means */
	size_t nr_boots, boots_capacity;
	size_t first; /* the first metric of this cell and name: one per model from here on */
	char *name, *unit, *workload, *json;
	enum zm_better better;
};

static int end_boot(struct gathering *gathering)
{
	int r;

	if (gathering->nr == 0)
		return 0;
	r = zm_array_grow((void **)&gathering->boots, &gathering->boots_capacity,
			  gathering->nr_boots, sizeof(*gathering->boots));
	if (r < 0)
		return r;
	gathering->boots[gathering->nr_boots++] = gathering->sum / (double)gathering->nr;
	gathering->sum = 0;
	gathering->nr = 0;
	return 0;
}

static struct zm_peers_metric *find_metric(struct gathering *gathering, size_t model)
{
	struct zm_peers *peers = gathering->peers;
	struct zm_peers_metric *metric;

	for (size_t i = gathering->first; i < peers->nr_metrics; i++) {
		if (peers->metrics[i].model == model)
			return &peers->metrics[i];
	}
	if (zm_array_grow((void **)&peers->metrics, &gathering->metrics_capacity, peers->nr_metrics,
			  sizeof(*metric)) < 0)
		return NULL;
	metric = &peers->metrics[peers->nr_metrics++];
	*metric = (struct zm_peers_metric){
		.model = model,
		.workload = zm_pool_text(&peers->pool, gathering->workload),
		.cell = zm_pool_text(&peers->pool, gathering->json),
		.name = zm_pool_text(&peers->pool, gathering->name),
		.unit = zm_pool_text(&peers->pool, gathering->unit),
		.better = gathering->better,
		.detectable = NAN,
	};
	return metric;
}

static int end_machine(struct gathering *gathering)
{
	struct zm_peers *peers = gathering->peers;
	size_t at = find_machine(peers, gathering->machine);
	struct zm_peers_metric *metric;
	struct zm_peers_value *grown;
	int r = end_boot(gathering);

	if (r < 0 || gathering->nr_boots == 0)
		return r;
	metric = find_metric(gathering, peers->machines[at].model);
	grown = metric ? realloc(metric->values, (metric->nr_values + 1) * sizeof(*grown)) : NULL;
	if (!grown)
		return -ENOMEM;
	metric->values = grown;
	grown[metric->nr_values++] = (struct zm_peers_value){
		.machine = at,
		.value = zm_stat_median(gathering->boots, gathering->nr_boots),
		.p = 1,
		.nr_boots = gathering->nr_boots,
		.nr_runs = gathering->nr_runs,
	};
	gathering->nr_boots = 0;
	gathering->nr_runs = 0;
	return 0;
}

static int keep_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value ? value : "");
	return *text ? 0 : -ENOMEM;
}

static int begin_metric(struct gathering *gathering, const struct zm_rows *rows)
{
	gathering->first = gathering->peers->nr_metrics;
	gathering->better = (enum zm_better)zm_rows_int(rows, 8);
	if (keep_text(&gathering->workload, zm_rows_text(rows, 4)) < 0 ||
	    keep_text(&gathering->json, zm_rows_text(rows, 5)) < 0 ||
	    keep_text(&gathering->name, zm_rows_text(rows, 6)) < 0 ||
	    keep_text(&gathering->unit, zm_rows_text(rows, 7)) < 0)
		return -ENOMEM;
	return 0;
}

static int take_row(struct gathering *gathering, const struct zm_rows *rows)
{
	int64_t cell = zm_rows_int(rows, 0), metric = zm_rows_int(rows, 1);
	int64_t machine = zm_rows_int(rows, 2), boot = zm_rows_int(rows, 3);
	bool is_new = cell != gathering->cell || metric != gathering->metric;
	int r = 0;

	if (is_new || machine != gathering->machine)
		r = end_machine(gathering);
	else if (boot != gathering->boot)
		r = end_boot(gathering);
	if (r == 0 && is_new)
		r = begin_metric(gathering, rows);
	gathering->cell = cell;
	gathering->metric = metric;
	gathering->machine = machine;
	gathering->boot = boot;
	gathering->sum += zm_rows_real(rows, 9);
	gathering->nr++;
	gathering->nr_runs++;
	return r;
}

static bool is_wanted(const struct zm_peers_options *options, const struct zm_rows *rows)
{
	const char *kernel = zm_rows_text(rows, 10), *label = zm_rows_text(rows, 11);

	return (!options->kernel || (kernel && fnmatch(options->kernel, kernel, 0) == 0)) &&
	       (!options->label || (label && fnmatch(options->label, label, 0) == 0));
}

static int read_values(struct zm_peers *peers, const struct zm_peers_options *options,
		       struct zm_db *db, struct zm_why *why)
{
	struct gathering gathering = {
		.peers = peers, .cell = -1, .metric = -1, .machine = -1, .boot = -1
	};
	struct zm_rows rows = { 0 };
	int error = zm_db_walk(
		db, why, &rows,
		"SELECT run.cell, result.metric, boot.machine, run.boot, workload.name, cell.json,"
		" metric.name, metric.unit, metric.better, result.value, boot.kernel,"
		" invocation.label FROM result"
		" JOIN run ON run.id = result.run JOIN boot ON boot.id = run.boot"
		" JOIN cell ON cell.id = run.cell JOIN workload ON workload.id = cell.workload"
		" JOIN metric ON metric.id = result.metric"
		" JOIN invocation ON invocation.id = run.invocation"
		" WHERE result.is_primary <> 0 AND run.status = ?1"
		" ORDER BY run.cell, result.metric, boot.machine, run.boot",
		ZM_BIND(zm_int(ZM_STATUS_OK)));

	while (!error && zm_rows_next(&rows, why, &error)) {
		if (is_wanted(options, &rows))
			error = take_row(&gathering, &rows);
	}
	zm_rows_end(&rows);
	if (!error)
		error = end_machine(&gathering);
	free(gathering.boots);
	free(gathering.name);
	free(gathering.unit);
	free(gathering.workload);
	free(gathering.json);
	return error;
}

/* The parameters in which a metric's cell differs from others of its workload. */
static int name_cells(struct zm_peers *peers)
{
	struct zm_words *words = calloc(peers->nr_metrics + 1, sizeof(*words));
	int r;

	if (!words)
		return -ENOMEM;
	for (size_t i = 0; i < peers->nr_metrics; i++)
		words[i] = (struct zm_words){ .group = peers->metrics[i].workload,
					      .json = peers->metrics[i].cell };
	r = zm_words_differing(words, peers->nr_metrics, &peers->pool);
	for (size_t i = 0; r == 0 && i < peers->nr_metrics; i++)
		peers->metrics[i].words = words[i].words;
	free(words);
	return r;
}

/* --- judging --- */

static int judge_metric(struct zm_peers_metric *metric, double *ret_p)
{
	double *values = calloc(metric->nr_values + 1, sizeof(*values));
	struct zm_outliers outliers = { 0 };
	int r = values ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < metric->nr_values; i++)
		values[i] = metric->values[i].value;
	*ret_p = NAN;
	if (r == 0)
		r = zm_outliers_find(values, metric->nr_values, strcmp(metric->unit, "%") == 0,
				     &outliers);
	free(values);
	if (r == -ENODATA) {
		metric->median = NAN;
		return 0;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < metric->nr_values; i++) {
		metric->values[i].p = outliers.list[i].p;
		metric->values[i].change = outliers.list[i].change;
	}
	metric->median = outliers.median;
	metric->is_ratio = outliers.is_ratio;
	metric->sd = outliers.sd;
	*ret_p = outliers.p;
	zm_outliers_release(&outliers);
	return 0;
}

static int compare_values(const void *a, const void *b)
{
	const struct zm_peers_value *x = a, *y = b;

	if (x->is_outlier != y->is_outlier)
		return x->is_outlier ? -1 : 1;
	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->machine > y->machine) - (x->machine < y->machine);
}

/* own: the metric's smallest p before the correction, corrected: after it. */
static void name_outliers(struct zm_peers_metric *metric, const struct zm_peers_options *options,
			  double own, double corrected)
{
	double times = own > 0 ? corrected / own : 1;
	double margin = metric->is_ratio ? options->margin : options->margin * 100;

	for (size_t i = 0; i < metric->nr_values; i++) {
		struct zm_peers_value *value = &metric->values[i];

		value->p = fmin(1, fmax(corrected, value->p * times));
		value->is_outlier = value->p < options->alpha && fabs(value->change) >= margin;
		metric->nr_outliers += value->is_outlier;
	}
	qsort(metric->values, metric->nr_values, sizeof(*metric->values), compare_values);
}

static int judge_all(struct zm_peers *peers, const struct zm_peers_options *options)
{
	double *own = calloc(peers->nr_metrics + 1, sizeof(*own));
	double *corrected = calloc(peers->nr_metrics + 1, sizeof(*corrected));
	int r = own && corrected ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < peers->nr_metrics; i++) {
		r = judge_metric(&peers->metrics[i], &own[i]);
		corrected[i] = own[i];
		peers->nr_few += isnan(own[i]) ? 1 : 0;
		if (!isnan(own[i]))
			peers->nr_comparisons += peers->metrics[i].nr_values;
	}
	if (r == 0)
		r = zm_judge_holm(corrected, peers->nr_metrics);
	for (size_t i = 0; r == 0 && i < peers->nr_metrics; i++) {
		struct zm_peers_metric *metric = &peers->metrics[i];

		if (isnan(own[i]))
			continue;
		name_outliers(metric, options, own[i], corrected[i]);
		metric->detectable = zm_outlier_detectable(
			metric->nr_values, metric->sd, metric->is_ratio, options->alpha,
			options->power, (double)peers->nr_comparisons);
	}
	free(own);
	free(corrected);
	return r;
}

int zm_peers_read(struct zm_store *store, const struct zm_peers_options *options,
		  struct zm_peers **ret_fleet, struct zm_why *why)
{
	struct zm_peers *peers = calloc(1, sizeof(*peers));
	int r = peers ? zm_query_begin(store, why) : -ENOMEM;

	if (r == 0) {
		r = read_machines(peers, zm_store_db(store), why);
		if (r == 0)
			r = read_values(peers, options, zm_store_db(store), why);
		zm_query_end(store);
	}
	if (r == 0)
		r = name_cells(peers);
	if (r == 0)
		r = judge_all(peers, options);
	if (r == 0 && peers->pool.error)
		r = peers->pool.error;
	if (r == 0 && peers->nr_metrics == 0)
		r = zm_why_set(why, -ENODATA, "%s: no such run that went well has a figure",
			       zm_store_path(store));
	if (r == -ENOMEM)
		(void)zm_why_errno(why, r, "reading the peers");
	if (r < 0)
		zm_peers_free(peers);
	else
		*ret_fleet = peers;
	return r;
}

void zm_peers_free(struct zm_peers *peers)
{
	if (!peers)
		return;
	for (size_t i = 0; i < peers->nr_metrics; i++)
		free(peers->metrics[i].values);
	free(peers->metrics);
	free(peers->machines);
	free(peers->models);
	zm_pool_release(&peers->pool);
	free(peers);
}
