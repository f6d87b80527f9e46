/*
 * kin: the CPU time of the processes that a task has started, and they in turn.
 *
 *     stat of the task       cutime, cstime: those that have ended and been waited for, with theirs
 *     children of its main thread -> stat of each: utime, stime, and the same again
 *
 * Read while they run: one that ends between two reads may be left out, so this is for shares of the CPUs'
 * time, not for figures.
 */
#ifndef ZM_RUNNER_KIN_H
#define ZM_RUNNER_KIN_H

#include <stdint.h>
#include <sys/types.h>

#include "workloads/base/sysroot.h"

/* Without the process's own. -ENOENT and the like: it has gone, or this kernel has no list of children
 * (CONFIG_PROC_CHILDREN). */
int zm_kin_read(const struct zm_sysroot *root, pid_t pid, uint64_t *ret_cpu_ns);

#endif
