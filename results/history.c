/*
 * history: runs as a list shows them.
 *
 * Many runs have the same parameters, so these are parsed once per set (the store numbers them). A key
 * is shown when two sets of one workload differ in it.
 */
#include "results/history.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One set of parameters. */
struct set {
	int64_t number;
	const struct zm_run_info *info; /* of one run that has it */
	json_t *object;
	const char *words;
};

/* The keys in which the sets of one workload differ. */
struct workload {
	const char *name;
	json_t *first;     /* of the first set; borrowed */
	json_t *differing; /* key: true */
};

struct reading {
	struct zm_store *store;
	struct zm_history *history;
	size_t capacity;
	struct zm_why *why;
	struct set *sets;
	size_t nr_sets;
	struct workload *workloads;
	size_t nr_workloads;
};

void zm_history_release(struct zm_history *history)
{
	free(history->runs);
	zm_pool_release(&history->pool);
	*history = (struct zm_history){ 0 };
}

static int add_run(void *context, const struct zm_run_info *info)
{
	struct reading *reading = context;
	struct zm_history *history = reading->history;

	if (history->nr == reading->capacity) {
		size_t capacity = reading->capacity ? reading->capacity * 2 : 64;
		struct zm_history_run *grown = realloc(history->runs, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		history->runs = grown;
		reading->capacity = capacity;
	}
	history->runs[history->nr] = (struct zm_history_run){ .info = *info };
	zm_run_info_keep(&history->pool, &history->runs[history->nr].info);
	history->nr++;
	return history->pool.error;
}

static int add_figures(struct reading *reading)
{
	struct zm_history *history = reading->history;

	for (size_t i = 0; i < history->nr; i++) {
		struct zm_history_run *run = &history->runs[i];
		int error = zm_query_primary(reading->store, run->info.id, &history->pool,
					     &run->figure, reading->why);

		if (error && error != -ENOENT)
			return error;
		run->has_figure = !error && run->info.status == ZM_STATUS_OK;
	}
	return 0;
}

static int compare_sets(const void *a, const void *b)
{
	const struct set *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Sorted by number, each once. */
static int collect_sets(struct reading *reading)
{
	const struct zm_history *history = reading->history;
	struct set *sets = calloc(history->nr + 1, sizeof(*sets));
	size_t nr = 0;

	if (!sets)
		return -ENOMEM;
	for (size_t i = 0; i < history->nr; i++)
		sets[i] = (struct set){ .number = history->runs[i].info.params_number,
					.info = &history->runs[i].info };
	qsort(sets, history->nr, sizeof(*sets), compare_sets);
	for (size_t i = 0; i < history->nr; i++) {
		if (nr && sets[nr - 1].number == sets[i].number)
			continue;
		sets[nr] = sets[i];
		sets[nr].object = json_loads(sets[nr].info->params, 0, NULL);
		if (!json_is_object(sets[nr].object)) {
			json_decref(sets[nr].object);
			sets[nr].object = json_object();
		}
		nr++;
	}
	reading->sets = sets;
	reading->nr_sets = nr;
	return 0;
}

static struct workload *find_workload(struct reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->nr_workloads; i++) {
		if (!strcmp(reading->workloads[i].name, name))
			return &reading->workloads[i];
	}
	return NULL;
}

static void note_differences(struct workload *workload, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (!json_equal(value, json_object_get(workload->first, key)))
			json_object_set_new(workload->differing, key, json_true());
	}
	json_object_foreach(workload->first, key, value)
	{
		if (!json_object_get(object, key))
			json_object_set_new(workload->differing, key, json_true());
	}
}

static int compare_workloads(struct reading *reading)
{
	reading->workloads = calloc(reading->nr_sets + 1, sizeof(*reading->workloads));
	if (!reading->workloads)
		return -ENOMEM;
	for (size_t i = 0; i < reading->nr_sets; i++) {
		const struct set *set = &reading->sets[i];
		struct workload *workload = find_workload(reading, set->info->workload);

		if (!workload) {
			reading->workloads[reading->nr_workloads++] =
				(struct workload){ .name = set->info->workload,
						   .first = set->object,
						   .differing = json_object() };
		} else {
			note_differences(workload, set->object);
		}
	}
	return 0;
}

static void print_word(FILE *out, const char *key, const json_t *value)
{
	char *dumped;

	if (json_is_string(value)) {
		(void)fprintf(out, "%s%s=%s", ftell(out) > 0 ? " " : "", key,
			      json_string_value(value));
		return;
	}
	dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	(void)fprintf(out, "%s%s=%s", ftell(out) > 0 ? " " : "", key, dumped ? dumped : "");
	free(dumped);
}

static int make_words(struct reading *reading, struct set *set)
{
	const struct workload *workload = find_workload(reading, set->info->workload);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const char *key;
	json_t *value;

	if (!out)
		return -ENOMEM;
	json_object_foreach(set->object, key, value)
	{
		if (workload && json_object_get(workload->differing, key))
			print_word(out, key, value);
	}
	(void)fclose(out);
	set->words = zm_pool_text(&reading->history->pool, text ? text : "");
	free(text);
	return reading->history->pool.error;
}

static int add_words(struct reading *reading)
{
	struct zm_history *history = reading->history;
	int error = collect_sets(reading);

	if (!error)
		error = compare_workloads(reading);
	for (size_t i = 0; i < reading->nr_sets && !error; i++)
		error = make_words(reading, &reading->sets[i]);
	for (size_t i = 0; i < history->nr && !error; i++) {
		const struct set key = { .number = history->runs[i].info.params_number };
		const struct set *set =
			bsearch(&key, reading->sets, reading->nr_sets, sizeof(key), compare_sets);

		history->runs[i].words = set ? set->words : "";
	}
	return error;
}

int zm_history_read(struct zm_store *store, const struct zm_run_filter *filter,
		    struct zm_history *ret_history, struct zm_why *why)
{
	struct zm_history history = { 0 };
	struct reading reading = { .store = store, .history = &history, .why = why };
	int error = zm_query_runs(store, filter, add_run, &reading, why);

	if (!error)
		error = add_figures(&reading);
	if (!error)
		error = add_words(&reading);
	for (size_t i = 0; i < reading.nr_sets; i++)
		json_decref(reading.sets[i].object);
	for (size_t i = 0; i < reading.nr_workloads; i++)
		json_decref(reading.workloads[i].differing);
	free(reading.sets);
	free(reading.workloads);
	if (error) {
		zm_history_release(&history);
		return error;
	}
	*ret_history = history;
	return 0;
}
