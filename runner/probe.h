/*
 * probe: could this run here? Asked of everything in the catalogue, without running anything.
 */
#ifndef ZM_RUNNER_PROBE_H
#define ZM_RUNNER_PROBE_H

#include "runner/monitor.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/base/why.h"
#include "workloads/workload.h"

/* With its presets, one unit of tasks, and the first kind that it supports. 0, or -errno and why
 * not. */
int zm_probe_workload(const struct zm_workload *workload, const struct zm_sysroot *root,
		      const struct zm_topology *topology, struct zm_why *why);

/* The same with one of its options set otherwise. */
int zm_probe_option(const struct zm_workload *workload, const struct zm_sysroot *root,
		    const struct zm_topology *topology, const struct zm_option *option,
		    const char *value, struct zm_why *why);

/* Opens it on the root with a recorder that keeps nothing, and closes it. */
int zm_probe_monitor(const struct zm_monitor *monitor, const struct zm_sysroot *root,
		     struct zm_why *why);

#endif
