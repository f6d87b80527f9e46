/*
 * topology: which CPUs this process may use, and how they stand to each other.
 *
 * Read by hwloc from the root (this machine or a recorded one); offline CPUs, cpusets, sparse
 * numbers, nodes without CPUs or without memory, missing packages and caches are ordinary cases:
 * what is not known is -1.
 */
#ifndef ZM_WORKLOADS_BASE_TOPOLOGY_H
#define ZM_WORKLOADS_BASE_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/cpuset.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

/* One allowed CPU. Numbers of packages, cores and LLCs are logical, dense and machine-wide. */
struct zm_cpu {
	int cpu;     /* the kernel's number */
	int package; /* socket */
	int core;
	int thread; /* which SMT sibling of its core it is: 0, 1… */
	int llc;    /* the last-level cache it shares */
	int node;   /* the kernel's number of its nearest node with CPUs */
	int kind;   /* hybrid machines: 0 the slower kind; -1 when all are alike */
};

struct zm_node {
	int node;
	uint64_t memory_bytes; /* 0: a node without memory */
	size_t nr_cpus;        /* allowed ones */
	struct zm_cpuset cpus; /* online ones; empty: a node without CPUs */
};

/* All of the machine that is online, whatever is allowed. 0: not known. */
struct zm_totals {
	size_t nr_packages, nr_cores, nr_llcs;
	size_t nr_threads;  /* of the core that has most */
	uint64_t llc_bytes; /* of one */
};

struct zm_topology {
	struct zm_cpu *cpus; /* sorted by number */
	size_t nr_cpus;
	struct zm_node *nodes;
	size_t nr_nodes;
	size_t nr_packages, nr_cores, nr_llcs; /* with at least one allowed CPU */
	struct zm_totals totals;
	struct zm_cpuset online;  /* all of the machine */
	struct zm_cpuset allowed; /* by affinity, cpuset and --cpus */
};

/* only NULL: all that this process may use. -EINVAL: `only` names a CPU that is not there, is offline
 * or is not allowed; the sentence says which and why. -ENODEV: no CPU is left. */
int zm_topology_read(const struct zm_sysroot *root, const struct zm_cpuset *only,
		     struct zm_topology *ret_topology, struct zm_why *why);
void zm_topology_release(struct zm_topology *topology);

const struct zm_cpu *zm_topology_find(const struct zm_topology *topology, int cpu);

#endif
