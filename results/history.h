/*
 * history: runs as a list shows them: each with its primary figure and the parameters in which it
 * differs from the others of its workload in the list.
 */
#ifndef ZM_RESULTS_HISTORY_H
#define ZM_RESULTS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "results/pool.h"
#include "results/query.h"

struct zm_history_run {
	struct zm_run_info info;
	bool has_figure;
	struct zm_result figure;
	const char *words; /* "mode=process nr_task=2" */
};

struct zm_history {
	struct zm_history_run *runs; /* newest first */
	size_t nr;
	struct zm_pool pool;
};

int zm_history_read(struct zm_store *store, const struct zm_run_filter *filter,
		    struct zm_history *ret_history, struct zm_why *why);
void zm_history_release(struct zm_history *history);

#endif
