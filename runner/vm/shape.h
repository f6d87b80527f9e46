/*
 * shape: what a guest's hardware looks like: sockets, cores, threads, nodes, distances, memory.
 *
 *     2s                                     two sockets, a node each
 *     sockets=2,cores=4,threads=2            the rest follows
 *     2s,nodes=4,cpuless=2+3,memless=1       nodes without CPUs, nodes without memory
 *     2s,distance=31                         between any two nodes
 *     4s,distance=0-1:16+0-2:21              those, and 20 between the others
 */
#ifndef ZM_RUNNER_VM_SHAPE_H
#define ZM_RUNNER_VM_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/why.h"

#define ZM_VM_MAX_CPUS  255u /* more need an interrupt remapper */
#define ZM_VM_MAX_NODES 64u

struct zm_vm_node {
	unsigned int first_cpu, nr_cpus; /* nr_cpus 0: without */
	uint64_t memory_bytes;           /* 0: without */
};

struct zm_vm_shape {
	unsigned int sockets, cores, threads; /* cores of a socket, threads of a core */
	unsigned int nr_cpus, nr_nodes;
	struct zm_vm_node nodes[ZM_VM_MAX_NODES];
	uint8_t distances[ZM_VM_MAX_NODES][ZM_VM_MAX_NODES];
};

/* nr_cpus 0: as the text says, else 4 or as many as the sockets need. CPUs are dealt to the nodes in
 * their order, memory in equal parts. -EINVAL, -ERANGE. */
int zm_vm_shape_parse(const char *text, unsigned int nr_cpus, uint64_t memory_bytes,
		      struct zm_vm_shape *ret_shape, struct zm_why *why);

#endif
