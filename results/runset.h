/* runset: numbers of runs, in the order in which they were added. */
#ifndef ZM_RESULTS_RUNSET_H
#define ZM_RESULTS_RUNSET_H

#include <stddef.h>
#include <stdint.h>

#include "results/query.h"

struct zm_runset {
	uint64_t *runs;
	size_t nr, capacity;
};

void zm_runset_release(struct zm_runset *set);
int zm_runset_add(struct zm_runset *set, uint64_t run);

/* As an `each` of zm_query_runs; the context is the set. */
int zm_runset_add_info(void *set, const struct zm_run_info *run);

/* In ascending order, each once. */
void zm_runset_sort(struct zm_runset *set);

#endif
