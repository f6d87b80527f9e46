/*
 * query: reading what is in a store.
 *
 *     zm_query_begin     everything read until zm_query_end is of one moment
 *     zm_query_runs      the history, newest first
 *     zm_query_find      which run somebody means by "12", "3f2a", "last", a label
 *     zm_query_run       all about one run but its series (these: series.h)
 *
 * A run that is still marked as running but whose owner is dead is given as interrupted.
 */
#ifndef ZM_RESULTS_QUERY_H
#define ZM_RESULTS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/pool.h"
#include "results/recorder.h"
#include "results/store.h"

int zm_query_begin(struct zm_store *store, struct zm_why *why);
void zm_query_end(struct zm_store *store);

/* What is known of every run. */
struct zm_run_info {
	uint64_t id;
	const char *uuid;
	const char *invocation;
	const char *command_line;
	const char *label; /* NULL: none */
	const char *workload;
	const char *params; /* JSON object, as text */
	const char *cell;
	int64_t params_number; /* the same for the same params in this store */
	unsigned int repeat;
	enum zm_status status;
	const char *reason; /* NULL: none */
	unsigned int nr_tasks;
	const char *kind;
	const char *version;
	const char *machine;
	const char *boot;
	const char *kernel;
	uint64_t wall_ns;
	uint64_t start_ns;
};

/* Copies the texts into the pool (whose error says when there was no room). */
void zm_run_info_keep(struct zm_pool *pool, struct zm_run_info *info);

/* Which runs. Zeroed, with status -1: all. Texts are shell patterns ("page_fault*"), NULL: any. */
struct zm_run_filter {
	const char *workload;
	const char *label;
	const char *kernel;
	const char *invocation; /* exactly */
	const char *cell;       /* exactly */
	int status;             /* enum zm_status, or -1 */
	uint64_t since_ns;      /* by the calendar */
	uint64_t limit;         /* this many of the newest; 0: all */
};

/* Newest first. `each` may end it early by returning other than 0, which is then returned. */
int zm_query_runs(struct zm_store *store, const struct zm_run_filter *filter,
		  int (*each)(void *context, const struct zm_run_info *run), void *context,
		  struct zm_why *why);

/* How many runs there are in all. */
int zm_query_nr_runs(struct zm_store *store, uint64_t *ret_nr, struct zm_why *why);

/* A number, the first letters of a UUID (four or more), "last", or a label (its newest run); in this
 * order. -ENOENT; -EEXIST: several UUIDs begin so. */
int zm_query_find(struct zm_store *store, const char *word, uint64_t *ret_run, struct zm_why *why);

/* All that somebody means, added to the set: one run by its number or UUID's first letters, "last", or
 * every run of a label, oldest first. Errors as zm_query_find. */
struct zm_runset;
int zm_query_resolve(struct zm_store *store, const char *word, struct zm_runset *runs,
		     struct zm_why *why);

struct zm_phase_row {
	enum zm_phase phase;
	uint64_t t0_ns, t1_ns;
};

struct zm_task_row {
	unsigned int index;
	int pid, cpu, node;
};

struct zm_note_row {
	const char *kind; /* of an absence: the source */
	const char *text; /* the reason */
};

struct zm_run_view {
	struct zm_run_info info;
	const char *inventory; /* JSON object, as text */
	struct zm_phase_row *phases;
	struct zm_task_row *tasks;
	struct zm_result *results;
	struct zm_note_row *notes;
	struct zm_note_row *absents;
	size_t nr_phases, nr_tasks, nr_results, nr_notes, nr_absents;
	struct zm_pool pool; /* all of it */
};

int zm_query_run(struct zm_store *store, uint64_t run, struct zm_run_view **ret_view,
		 struct zm_why *why);
void zm_run_view_free(struct zm_run_view *view);

/* The phase's row, or NULL: the run did not get so far. */
const struct zm_phase_row *zm_run_view_phase(const struct zm_run_view *view, enum zm_phase phase);
const struct zm_result *zm_run_view_result(const struct zm_run_view *view, const char *metric);

/* The run's primary figure (its first, when none is primary), without loading all of the run. Its
 * texts are in the pool. -ENOENT: it has no figure. */
int zm_query_primary(struct zm_store *store, uint64_t run, struct zm_pool *pool,
		     struct zm_result *ret_result, struct zm_why *why);

#endif
