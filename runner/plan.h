/*
 * plan: the words behind `zonemark run`, made into cells.
 *
 *     run page_fault1 nr_task=1,100% mode=process,thread size=64M      four cells
 *
 * A word with `=` is an option, any other a workload, a matrix, a documented table or a file (or several,
 * with commas). An
 * option's value is a list ("1,25%,100%", and "1-8" for whole numbers; a comma of the value itself is
 * typed "\,"); the cells are all combinations, the first option varying slowest. An option is, in
 * this order: of the run (cell.h), of the workload, or a machine setting (setting.h). Where several
 * workloads are named, an option counts for those that have it; one of them must.
 */
#ifndef ZM_RUNNER_PLAN_H
#define ZM_RUNNER_PLAN_H

#include "runner/cell.h"

struct zm_matrix;

#define ZM_PLAN_CELLS 10000 /* at most */

struct zm_plan {
	struct zm_cell *cells;
	size_t nr_cells;
	char **remarks; /* what the user should hear: a rounded nr_task, a cell left out */
	size_t nr_remarks;
	const struct zm_matrix *matrix; /* the last that was named; NULL: none */
	unsigned int nr_repeats;        /* as a matrix's file says; 0: nothing */
	uint64_t budget_ns;
};

/* workloads: NULL-terminated. -ENOPKG: a file or a table of nothing that is here. -EINVAL, -ENOENT,
 * -ERANGE: the sentence names the word, and the nearest that there is. */
int zm_plan_make(const struct zm_cell_context *context, const struct zm_workload *const *workloads,
		 const char *const *words, size_t nr_words, struct zm_plan *ret_plan,
		 struct zm_why *why);
void zm_plan_release(struct zm_plan *plan);

#endif
