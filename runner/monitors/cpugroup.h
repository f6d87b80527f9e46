/*
 * cpugroup: the sockets and nodes of a machine, as groups of its CPUs, for figures that are summed over
 * them.
 *
 * Where there is one socket, or one node, there is no such group: the machine's figure is the same.
 */
#ifndef ZM_RUNNER_MONITORS_CPUGROUP_H
#define ZM_RUNNER_MONITORS_CPUGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/cpuset.h"
#include "workloads/base/sysroot.h"
#include "workloads/sample.h"

struct zm_cpugroup {
	char name[24];       /* "socket0", "node1" */
	enum zm_scope scope; /* ZM_SCOPE_NODE, or ZM_SCOPE_HOST for a socket */
	uint32_t id;
	struct zm_cpuset cpus;
};

/* A zeroed struct has none. */
struct zm_cpugroups {
	struct zm_cpugroup *list;
	size_t nr;
};

/* Of these CPUs. What sysfs does not tell makes no group. -ENOMEM. */
int zm_cpugroups_read(struct zm_cpugroups *groups, const struct zm_sysroot *root,
		      const struct zm_cpuset *cpus);
void zm_cpugroups_release(struct zm_cpugroups *groups);

#endif
