/*
 * footprint: does what a run will use fit into what this process may have?
 *
 * Memory (of the machine, of the memory cgroup, ulimit -v), huge pages (those that are free, those
 * that the hugetlb cgroup allows), disk, descriptors
 * (ulimit -n), processes (ulimit -u, the pids cgroup): what does not fit is refused before anything
 * has started, with both figures.
 */
#ifndef ZM_RUNNER_FOOTPRINT_H
#define ZM_RUNNER_FOOTPRINT_H

#include "runner/arena.h"
#include "workloads/base/why.h"

/* 0; -E2BIG and the sentence. */
int zm_footprint_check(const struct zm_arena *arena, struct zm_why *why);

#endif
