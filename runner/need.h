/*
 * need: does this machine have what a workload cannot do without?
 *
 * Asked by `list`, which shows the reason, and before every run, which is skipped for it.
 */
#ifndef ZM_RUNNER_NEED_H
#define ZM_RUNNER_NEED_H

#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/base/why.h"
#include "workloads/workload.h"

/* 0; -ENOTSUP: something is missing, and the sentence says the first thing and how to mend it. */
int zm_need_check(const struct zm_need *need, const struct zm_sysroot *root,
		  const struct zm_topology *topology, struct zm_why *why);

#endif
