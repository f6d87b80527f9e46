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

#define ZM_PLAN_NO_CELL SIZE_MAX

/* A cell as it was asked for, on whichever machine. */
struct zm_plan_ask {
	char *key;        /* as cell.h's */
	uint64_t cost_ns; /* that one launch is expected to take */
	size_t cell;      /* or ZM_PLAN_NO_CELL: left out here, or the same as another here */
};

struct zm_plan {
	struct zm_cell *cells;
	size_t nr_cells;
	struct zm_plan_ask *asks; /* all of the words, in their order: what shard.h splits */
	size_t nr_asks;
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

/* For who has split them: cells have moved. */
void zm_plan_forget_asks(struct zm_plan *plan);

#endif
