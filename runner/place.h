/*
 * place: who runs where.
 *
 * Placement is decided before anything starts, from the topology alone, and is the same for the same
 * machine and parameters. Single tasks:
 *
 *     scatter  round the sockets, then round the LLCs and cores of each, SMT siblings last
 *     compact  core after core of one socket before the next, SMT siblings together
 *     cores    as compact, one thread per core; more tasks than cores start over
 *     none     not pinned; the scheduler chooses among the allowed CPUs
 *
 * Pairs (two ends) may stand as above, one end after the other; or the first end is placed as with
 * scatter and the second by its relation to it:
 *
 *     same-cpu      the same CPU
 *     same-core     an SMT sibling
 *     same-llc      another core that shares the last-level cache
 *     same-node     another core of the node, with another last-level cache where it has one
 *     cross-socket  another socket
 *
 * What the machine cannot give is an error with a sentence, not a silent substitute. More tasks than
 * CPUs share them as evenly as the relation allows.
 */
#ifndef ZM_RUNNER_PLACE_H
#define ZM_RUNNER_PLACE_H

#include "workloads/base/topology.h"
#include "workloads/base/why.h"

enum zm_place {
	ZM_PLACE_SCATTER,
	ZM_PLACE_COMPACT,
	ZM_PLACE_CORES,
	ZM_PLACE_NONE,
	ZM_PLACE_SAME_CPU,
	ZM_PLACE_SAME_CORE,
	ZM_PLACE_SAME_LLC,
	ZM_PLACE_SAME_NODE,
	ZM_PLACE_CROSS_SOCKET,
};

extern const char *const zm_place_names[]; /* NULL-terminated, in the enum's order */

/* Where memory comes from. */
enum zm_mem {
	ZM_MEM_LOCAL,      /* the kernel's default: the node of the CPU */
	ZM_MEM_INTERLEAVE, /* round all nodes with memory */
	ZM_MEM_NODE,       /* one node for all: node:N */
	ZM_MEM_REMOTE,     /* the farthest node with memory from the task's own */
};

struct zm_mem_policy {
	enum zm_mem mem;
	int node;
};

int zm_mem_parse(const char *text, struct zm_mem_policy *ret_policy, struct zm_why *why);

/* ret_cpus[nr_units * nr_ends]: the kernel's CPU numbers, -1 with ZM_PLACE_NONE. nr_ends is 1 or 2. */
int zm_place_tasks(const struct zm_topology *topology, enum zm_place place, unsigned int nr_units,
		   unsigned int nr_ends, int *ret_cpus, struct zm_why *why);

/* The nodes that the policy means for a task on `node`; the empty set is ZM_MEM_LOCAL. distance gives
 * how far two nodes are apart, 0 when unknown. Errors as zm_mem_apply's. */
int zm_mem_nodes(const struct zm_topology *topology, const struct zm_mem_policy *policy, int node,
		 int (*distance)(int from, int to), struct zm_cpuset *ret_nodes,
		 struct zm_why *why);

/* Sets the calling task's memory policy (libnuma); node is the one its CPU is on. -ENOTSUP with the
 * sentence where the machine has one node only and the policy asks for another, -EPERM where the
 * container forbids it. */
int zm_mem_apply(const struct zm_topology *topology, const struct zm_mem_policy *policy, int node,
		 struct zm_why *why);

#endif
