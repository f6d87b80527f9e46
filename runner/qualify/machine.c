/* machine: numbers out of the topology, names out of the inventory. */
#include "runner/qualify/machine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/inventory.h"
#include "workloads/base/cleanup.h"

static double number(const json_t *inventory, const char *key)
{
	const json_t *value = json_object_get(inventory, key);

	return json_is_number(value) && json_number_value(value) > 0 ? json_number_value(value)
								     : NAN;
}

static double nr_nodes(const json_t *inventory)
{
	const json_t *nodes = json_object_get(inventory, "nodes");
	double nr = 0;

	for (size_t i = 0; i < json_array_size(nodes); i++) {
		const json_t *node = json_array_get(nodes, i);
		const char *cpus = json_string_value(json_object_get(node, "cpus"));

		nr += cpus && cpus[0] && number(node, "memory_bytes") > 0;
	}
	return nr > 0 ? nr : NAN;
}

static const char *word(const json_t *inventory, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(inventory, key));

	return text && text[0] ? text : otherwise;
}

void zm_qualify_inventory(const json_t *inventory, double ret_parts[ZM_NR_PARTS], char *ret_model,
			  size_t size, bool *ret_guest)
{
	ret_parts[ZM_PART_SOCKETS] = number(inventory, "sockets");
	ret_parts[ZM_PART_NODES] = nr_nodes(inventory);
	ret_parts[ZM_PART_CPUS] = number(inventory, "cpus_allowed");
	ret_parts[ZM_PART_MEMORY] = number(inventory, "memory_bytes");
	*ret_guest =
		json_object_get(inventory, "hypervisor") || json_object_get(inventory, "guest");
	(void)snprintf(ret_model, size, "%s, %s, %g sockets",
		       word(inventory, "product", "no product name"),
		       word(inventory, "cpu_model", "no CPU model"),
		       isnan(ret_parts[ZM_PART_SOCKETS]) ? 0 : ret_parts[ZM_PART_SOCKETS]);
}

/* What may be used of it is what is qualified. */
static void count_parts(struct zm_qualify_machine *machine)
{
	const struct zm_topology *topology = &machine->topology;
	double nr = 0;

	for (size_t i = 0; i < topology->nr_nodes; i++)
		nr += topology->nodes[i].nr_cpus > 0 && topology->nodes[i].memory_bytes > 0;
	machine->parts[ZM_PART_SOCKETS] =
		topology->nr_packages ? (double)topology->nr_packages : NAN;
	machine->parts[ZM_PART_NODES] = nr > 0 ? nr : NAN;
	machine->parts[ZM_PART_CPUS] = (double)topology->nr_cpus;
}

int zm_qualify_machine_open(struct zm_qualify_machine *machine, const char *root,
			    struct zm_why *why)
{
	int r = zm_sysroot_open(&machine->root, root);

	if (r < 0) {
		machine->root.dir_fd = -1;
		return zm_why_errno(why, r, "%s", root ? root : "/");
	}
	r = zm_topology_read(&machine->root, NULL, &machine->topology, why);
	if (r == 0)
		r = zm_inventory_read(&machine->root, &machine->topology, &machine->inventory, why);
	if (r < 0)
		return r;
	zm_qualify_inventory(machine->inventory, machine->parts, machine->model,
			     sizeof(machine->model), &machine->is_guest);
	count_parts(machine);
	r = zm_inventory_machine_id(&machine->root, machine->inventory, machine->id,
				    sizeof(machine->id));
	return r < 0 ? zm_why_errno(why, r, "this machine's id") : 0;
}

void zm_qualify_machine_close(struct zm_qualify_machine *machine)
{
	json_decref(machine->inventory);
	zm_topology_release(&machine->topology);
	if (machine->root.dir_fd > 0)
		zm_sysroot_release(&machine->root);
	*machine = (struct zm_qualify_machine){ .root = { .dir_fd = -1 } };
}

static int number_of(const struct zm_cpu *cpu, enum zm_machine_part part)
{
	return part == ZM_PART_SOCKETS ? cpu->package : cpu->node;
}

/* The n-th of the numbers that the CPUs have, in ascending order. */
static int find_number(const struct zm_topology *topology, enum zm_machine_part part, size_t n)
{
	int found = -1;

	for (size_t i = 0; i <= n; i++) {
		int next = -1;

		for (size_t k = 0; k < topology->nr_cpus; k++) {
			int at = number_of(&topology->cpus[k], part);

			if (at > found && (next < 0 || at < next))
				next = at;
		}
		if (next < 0)
			return -1;
		found = next;
	}
	return found;
}

bool zm_qualify_machine_group(const struct zm_qualify_machine *machine, enum zm_machine_part part,
			      size_t n, int *ret_number, char **ret_cpus)
{
	const struct zm_topology *topology = &machine->topology;
	int group = find_number(topology, part, n);
	char *text = NULL;
	size_t size;
	FILE *out;
	bool is_first = true;

	if (group < 0)
		return false;
	*ret_number = group;
	*ret_cpus = NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return true;
	for (size_t i = 0; i < topology->nr_cpus; i++) {
		if (number_of(&topology->cpus[i], part) != group)
			continue;
		(void)fprintf(out, "%s%d", is_first ? "" : ",", topology->cpus[i].cpu);
		is_first = false;
	}
	if (fclose(out) == 0)
		*ret_cpus = text;
	else
		free(text);
	return true;
}
