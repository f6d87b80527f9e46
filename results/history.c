/*
 * history: runs as a list shows them.
 *
 * Many runs have the same parameters, so these are looked at once per set (the store numbers them).
 */
#include "results/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/words.h"

/* Many runs have the same parameters: one set of them. */
struct set {
	int64_t number;
	const struct zm_run_info *info; /* of one run that has it */
};

struct reading {
	struct zm_store *store;
	struct zm_history *history;
	size_t capacity;
	struct zm_why *why;
	struct set *sets;       /* sorted by number, each once */
	struct zm_words *words; /* the same */
	size_t nr_sets;
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
	int error = zm_array_grow((void **)&history->runs, &reading->capacity, history->nr,
				  sizeof(*history->runs));

	if (error)
		return error;
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

static int collect_sets(struct reading *reading)
{
	const struct zm_history *history = reading->history;
	size_t nr = 0;

	reading->sets = calloc(history->nr + 1, sizeof(*reading->sets));
	reading->words = calloc(history->nr + 1, sizeof(*reading->words));
	if (!reading->sets || !reading->words)
		return -ENOMEM;
	for (size_t i = 0; i < history->nr; i++)
		reading->sets[i] = (struct set){ .number = history->runs[i].info.params_number,
						 .info = &history->runs[i].info };
	qsort(reading->sets, history->nr, sizeof(*reading->sets), compare_sets);
	for (size_t i = 0; i < history->nr; i++) {
		if (nr && reading->sets[nr - 1].number == reading->sets[i].number)
			continue;
		reading->sets[nr] = reading->sets[i];
		reading->words[nr] = (struct zm_words){ .group = reading->sets[nr].info->workload,
							.json = reading->sets[nr].info->params };
		nr++;
	}
	reading->nr_sets = nr;
	return 0;
}

static int add_words(struct reading *reading)
{
	struct zm_history *history = reading->history;
	int error = collect_sets(reading);

	if (!error)
		error = zm_words_differing(reading->words, reading->nr_sets, &history->pool);
	for (size_t i = 0; i < history->nr && !error; i++) {
		const struct set key = { .number = history->runs[i].info.params_number };
		const struct set *set =
			bsearch(&key, reading->sets, reading->nr_sets, sizeof(key), compare_sets);

		history->runs[i].words = set ? reading->words[set - reading->sets].words : "";
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
	free(reading.sets);
	free(reading.words);
	if (error) {
		zm_history_release(&history);
		return error;
	}
	*ret_history = history;
	return 0;
}
