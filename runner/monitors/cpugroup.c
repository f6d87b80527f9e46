/* cpugroup: topology/physical_package_id of each CPU, cpulist of each node. */
#include "runner/monitors/cpugroup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct zm_cpugroup *find_or_add(struct zm_cpugroups *groups, const char *kind,
				       enum zm_scope scope, uint32_t id)
{
	struct zm_cpugroup *grown;

	for (size_t i = 0; i < groups->nr; i++)
		if (groups->list[i].scope == scope && groups->list[i].id == id)
			return &groups->list[i];
	grown = reallocarray(groups->list, groups->nr + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	groups->list = grown;
	grown = &groups->list[groups->nr++];
	*grown = (struct zm_cpugroup){ .scope = scope, .id = id };
	(void)snprintf(grown->name, sizeof(grown->name), "%s%u", kind, id);
	return grown;
}

static int add_sockets(struct zm_cpugroups *groups, const struct zm_sysroot *root,
		       const struct zm_cpuset *cpus)
{
	int error = 0;

	zm_cpuset_for_each (cpu, cpus) {
		struct zm_cpugroup *group;
		char path[96];
		uint64_t id;

		(void)snprintf(path, sizeof(path),
			       "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		if (error || zm_sysroot_read_u64(root, path, &id) || id > UINT32_MAX)
			continue;
		group = find_or_add(groups, "socket", ZM_SCOPE_HOST, (uint32_t)id);
		error = group ? zm_cpuset_add(&group->cpus, (unsigned int)cpu) : -ENOMEM;
	}
	return error;
}

/* A node without CPUs of ours is none of the groups. */
static int add_node(struct zm_cpugroups *groups, const struct zm_sysroot *root, int node,
		    const struct zm_cpuset *cpus)
{
	zm_autocpuset struct zm_cpuset own = { 0 };
	struct zm_cpugroup *group;
	char path[96];

	(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist", node);
	if (zm_sysroot_read_cpuset(root, path, &own))
		return 0;
	zm_cpuset_and(&own, cpus);
	if (zm_cpuset_count(&own) == 0)
		return 0;
	group = find_or_add(groups, "node", ZM_SCOPE_NODE, (uint32_t)node);
	return group ? zm_cpuset_copy(&group->cpus, &own) : -ENOMEM;
}

static int add_nodes(struct zm_cpugroups *groups, const struct zm_sysroot *root,
		     const struct zm_cpuset *cpus)
{
	zm_autocpuset struct zm_cpuset nodes = { 0 };
	int error = 0;

	if (zm_sysroot_list_numbered(root, "sys/devices/system/node", "node", &nodes))
		return 0;
	zm_cpuset_for_each (node, &nodes) {
		if (!error)
			error = add_node(groups, root, node, cpus);
	}
	return error;
}

/* Groups that came last are dropped when there is only one of them. */
static void drop_single(struct zm_cpugroups *groups, size_t before)
{
	if (groups->nr == before + 1)
		zm_cpuset_release(&groups->list[--groups->nr].cpus);
}

int zm_cpugroups_read(struct zm_cpugroups *groups, const struct zm_sysroot *root,
		      const struct zm_cpuset *cpus)
{
	size_t nr_sockets;
	int error;

	*groups = (struct zm_cpugroups){ 0 };
	error = add_sockets(groups, root, cpus);
	drop_single(groups, 0);
	nr_sockets = groups->nr;
	if (!error)
		error = add_nodes(groups, root, cpus);
	drop_single(groups, nr_sockets);
	if (error)
		zm_cpugroups_release(groups);
	return error;
}

void zm_cpugroups_release(struct zm_cpugroups *groups)
{
	for (size_t i = 0; i < groups->nr; i++)
		zm_cpuset_release(&groups->list[i].cpus);
	free(groups->list);
	*groups = (struct zm_cpugroups){ 0 };
}
