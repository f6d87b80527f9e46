/*
 * mem: where a task's memory comes from; the part of place.h that talks to the kernel.
 *
 *     nodes   which nodes the policy means, from the topology alone
 *     apply   set_mempolicy; libnuma's own setters end the process when the kernel refuses
 */
#include "runner/place.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define NODES_MAX     65536
#define BITS_PER_LONG (8 * sizeof(unsigned long))

int zm_mem_parse(const char *text, struct zm_mem_policy *ret_policy, struct zm_why *why)
{
	static const struct {
		const char *name;
		enum zm_mem mem;
	} rows[] = {
		{ "local", ZM_MEM_LOCAL },
		{ "interleave", ZM_MEM_INTERLEAVE },
		{ "remote", ZM_MEM_REMOTE },
	};
	uint64_t node;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(text, rows[i].name) == 0) {
			*ret_policy = (struct zm_mem_policy){ rows[i].mem, -1 };
			return 0;
		}
	if (strncmp(text, "node:", 5) == 0 && zm_units_parse_u64(text + 5, &node) == 0 &&
	    node < NODES_MAX) {
		*ret_policy = (struct zm_mem_policy){ ZM_MEM_NODE, (int)node };
		return 0;
	}
	return zm_why_set(why, -EINVAL,
			  "--mem %s: it is local, interleave, remote or node:N, as in node:0",
			  text);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static const struct zm_node *find_node(const struct zm_topology *topology, int number)
{
	for (size_t i = 0; i < topology->nr_nodes; i++)
		if (topology->nodes[i].node == number)
			return &topology->nodes[i];
	return NULL;
}

static size_t count_with_memory(const struct zm_topology *topology)
{
	size_t nr = 0;

	for (size_t i = 0; i < topology->nr_nodes; i++)
		nr += topology->nodes[i].memory_bytes > 0;
	return nr;
}

static int interleave_nodes(const struct zm_topology *topology, struct zm_cpuset *ret_nodes,
			    struct zm_why *why)
{
	size_t nr = count_with_memory(topology);
	int error = 0;

	if (nr < 2)
		return zm_why_set(
			why, -ENOTSUP,
			"--mem interleave needs two nodes with memory, and there %s %zu: use "
			"local",
			nr == 1 ? "is" : "are", nr);
	for (size_t i = 0; i < topology->nr_nodes && !error; i++)
		if (topology->nodes[i].memory_bytes > 0)
			error = zm_cpuset_add(ret_nodes, (unsigned int)topology->nodes[i].node);
	return error ? zm_why_errno(why, error, "cannot set the memory policy") : 0;
}

static int one_node(const struct zm_topology *topology, int number, struct zm_cpuset *ret_nodes,
		    struct zm_why *why)
{
	const struct zm_node *node = find_node(topology, number);
	int error;

	if (!node)
		return zm_why_set(why, -ENOTSUP,
				  "--mem node:%d: there is no such node; see `numactl -H`", number);
	if (node->memory_bytes == 0)
		return zm_why_set(why, -ENOTSUP, "--mem node:%d: that node has no memory", number);
	error = zm_cpuset_add(ret_nodes, (unsigned int)number);
	return error ? zm_why_errno(why, error, "cannot set the memory policy") : 0;
}

/* The farthest; of equals the first after the task's own, so that tasks of several nodes do not meet
 * on one. */
static int remote_node(const struct zm_topology *topology, int own,
		       int (*distance)(int from, int to), struct zm_cpuset *ret_nodes,
		       struct zm_why *why)
{
	size_t nr = topology->nr_nodes, start = 0;
	int best = -1, best_distance = -1, error;

	if (own < 0)
		return zm_why_set(
			why, -ENOTSUP,
			"--mem remote: the task's own node is not known: pin the tasks with "
			"--place, or use node:N");
	for (size_t i = 0; i < nr; i++)
		if (topology->nodes[i].node == own)
			start = i;
	for (size_t i = 1; i < nr; i++) {
		const struct zm_node *node = &topology->nodes[(start + i) % nr];
		int far = node->memory_bytes && node->node != own ? distance(own, node->node) : -1;

		if (far > best_distance) {
			best_distance = far;
			best = node->node;
		}
	}
	if (best < 0)
		return zm_why_set(why, -ENOTSUP,
				  "--mem remote: there is no other node with memory: use local");
	error = zm_cpuset_add(ret_nodes, (unsigned int)best);
	return error ? zm_why_errno(why, error, "cannot set the memory policy") : 0;
}

int zm_mem_nodes(const struct zm_topology *topology, const struct zm_mem_policy *policy, int node,
		 int (*distance)(int from, int to), struct zm_cpuset *ret_nodes, struct zm_why *why)
{
	struct zm_cpuset nodes = { NULL, 0 };
	int error = 0;

	switch (policy->mem) {
	case ZM_MEM_LOCAL:
		break;
	case ZM_MEM_INTERLEAVE:
		error = interleave_nodes(topology, &nodes, why);
		break;
	case ZM_MEM_NODE:
		error = one_node(topology, policy->node, &nodes, why);
		break;
	case ZM_MEM_REMOTE:
		error = remote_node(topology, node, distance, &nodes, why);
		break;
	}
	if (error) {
		zm_cpuset_release(&nodes);
		return error;
	}
	*ret_nodes = nodes;
	return 0;
}

/* --- the kernel ------------------------------------------------------------------------------- */

static int set_policy(int mode, const struct zm_cpuset *nodes)
{
	unsigned long nr_bits = nodes->nr_words * BITS_PER_LONG;

	/* The kernel takes one bit less than it is told. */
	if (set_mempolicy(mode, nodes->words, nr_bits ? nr_bits + 1 : 0) == 0)
		return 0;
	return -errno;
}

static int say_refused(int error, struct zm_why *why)
{
	if (error == -EPERM)
		return zm_why_errno(
			why, error,
			"this container forbids memory policies: give it CAP_SYS_NICE, or "
			"use --mem local");
	if (error == -ENOSYS)
		return zm_why_set(
			why, -ENOTSUP,
			"this kernel has no memory policies (CONFIG_NUMA): use --mem local");
	if (error == -EINVAL)
		return zm_why_set(
			why, error,
			"the cpuset does not allow memory of that node: see Mems_allowed_list "
			"in /proc/self/status");
	return zm_why_errno(why, error, "cannot set the memory policy");
}

int zm_mem_apply(const struct zm_topology *topology, const struct zm_mem_policy *policy, int node,
		 struct zm_why *why)
{
	struct zm_cpuset nodes = { NULL, 0 };
	int error = zm_mem_nodes(topology, policy, node, numa_distance, &nodes, why);

	if (error)
		return error;
	if (policy->mem == ZM_MEM_LOCAL) {
		/* What a container forbids here is what the kernel does anyway. */
		(void)set_policy(MPOL_DEFAULT, &nodes);
		return 0;
	}
	error = set_policy(policy->mem == ZM_MEM_INTERLEAVE ? MPOL_INTERLEAVE : MPOL_BIND, &nodes);
	zm_cpuset_release(&nodes);
	return error ? say_refused(error, why) : 0;
}
