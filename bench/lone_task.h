/*
 * lone_task: one task of a workload, or the two of a pair, as the launcher makes them (runner/worker.c), for
 * programs that look at their loops. The gate is open already; they go on until they are stopped.
 */
#ifndef ZM_BENCH_LONE_TASK_H
#define ZM_BENCH_LONE_TASK_H

#include <stdint.h>

#include "workloads/workload.h"

/* In this process. step stands in place of the workload's own, and calls that. words: "NAME=VALUE" of its options, then
 * NULL; changed. 0 and how many operations were counted; else what was wrong is said, and it is 2. */
int zm_lone_task_run(const struct zm_workload *workload,
		     int64_t (*step)(struct zm_task *task, uint64_t n), char **words,
		     uint64_t *ret_ops);

/* From the step: it was the last one. */
void zm_lone_task_stop(void);

/* A process for each end, for so long. 0; else what was wrong is said, and it is 2. */
int zm_lone_pair_run(const struct zm_workload *workload, char **words, uint64_t length_ns);

#endif
