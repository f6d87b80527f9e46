/*
 * matrix_set: lines of runs that are made when they are asked for: of the documented catalogue, or of a
 * user's file (matrix_file.h).
 */
#ifndef ZM_RUNNER_MATRIX_SET_H
#define ZM_RUNNER_MATRIX_SET_H

#include "results/pool.h"
#include "runner/cell.h"
#include "runner/reproduce.h"

struct zm_matrix_line {
	const char *where;  /* "night.yaml:7"; NULL: nowhere a user could look */
	const char **words; /* the first is a name, of a workload or a matrix; then options */
	size_t nr_words;
	const char *monitor; /* as --monitor takes it; NULL: as usual */
};

struct zm_matrix_set {
	struct zm_matrix_line *lines;
	size_t nr_lines;
	const char **remarks; /* what was left out */
	size_t nr_remarks;
	unsigned int nr_repeats; /* 0: not said */
	uint64_t budget_ns;      /* 0: not said */
	struct zm_pool pool;
};

/* Every documented table (or that of one id) whose workload is there, scaled to this machine; what most
 * can be seen in first. -ENOTSUP: the context has no machine. -ENOPKG: its workload is not there. */
int zm_matrix_set_documented(const struct zm_cell_context *context,
			     const struct zm_workload *const *workloads, const char *id,
			     struct zm_matrix_set *ret_set, struct zm_why *why);
void zm_matrix_set_release(struct zm_matrix_set *set);

/* For who fills one. Memory that has run out is in the pool's error. */
struct zm_matrix_line *zm_matrix_set_add(struct zm_matrix_set *set);
void zm_matrix_line_add(struct zm_matrix_set *set, struct zm_matrix_line *line, const char *word);
void zm_matrix_set_remark(struct zm_matrix_set *set, const char *remark); /* each once */

/* The line of a reproduction, or why there is none. */
void zm_matrix_set_take(struct zm_matrix_set *set, const struct zm_reproduction *reproduction,
			const char *name, const char *where, const char *monitor);

#endif
