/*
 * matrix_file: a user's own matrix, in YAML. Two forms are read:
 *
 *     repeat: 3                       testcase: will-it-scale
 *     hours: 2                        runtime: 300s
 *     options: {runtime: 30s}         nr_task: [50%, 100%]
 *     runs:                           will-it-scale:
 *     - page_fault1:                    mode: [process, thread]
 *         mode: [process, thread]       test: [page_fault1, page_fault2]
 *         nr_task: [1, 50%, 100%]
 *     - quick                         (a job file of lkp-tests, as it is; further documents of it
 *     - pcp-v3/unix                    are the first one with their own keys put in)
 *
 * `summary` and `criteria`, which a profile of `zonemark qualify` has beside its runs, are passed over.
 *
 * Files come from anywhere: ZM_MATRIX_FILE_BYTES and the bounds of results/yaml.h; a wrong one gives one
 * sentence with its file and line, and nothing in it is executed.
 */
#ifndef ZM_RUNNER_MATRIX_FILE_H
#define ZM_RUNNER_MATRIX_FILE_H

#include "runner/matrix_set.h"

#define ZM_MATRIX_FILE_BYTES        ((size_t)1 << 20)
#define ZM_MATRIX_FILE_COMBINATIONS 4096 /* of a job, at most */

/* Is the word a file's name, not a workload's? Then it has a '/' or ends in ".yaml" or ".yml". */
bool zm_matrix_file_is_named(const char *word);

/* -EINVAL, -E2BIG: the sentence begins with "NAME:LINE: "; -ENOPKG: none of a job's tests is among the
 * workloads; else what opening or reading the file gave. */
int zm_matrix_file_read(const char *path, const struct zm_cell_context *context,
			const struct zm_workload *const *workloads, struct zm_matrix_set *ret_set,
			struct zm_why *why);

/* The same of a text that has been read. */
int zm_matrix_file_parse(const char *name, const char *text, size_t length,
			 const struct zm_cell_context *context,
			 const struct zm_workload *const *workloads, struct zm_matrix_set *ret_set,
			 struct zm_why *why);

#endif
