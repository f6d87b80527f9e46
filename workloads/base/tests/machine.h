/*
 * machine: makes a recorded machine of any shape below a tree, as far as its topology goes.
 *
 *     CPUs are numbered as firmware does: first the first thread of every core, socket after socket,
 *     then the second threads. Each core has an L1 and an L2, `cores` of them share an L3. Node k has the CPUs of every LLC number l with l * nodes / llcs == k.
 */
#ifndef ZM_WORKLOADS_BASE_TESTS_MACHINE_H
#define ZM_WORKLOADS_BASE_TESTS_MACHINE_H

#include <stdbool.h>

#include "workloads/base/tests/tree.h"

struct machine {
	unsigned int packages;
	unsigned int llcs;    /* of a package */
	unsigned int cores;   /* of an LLC */
	unsigned int threads; /* of a core */
	unsigned int nodes;   /* in all; 0: no node directory */
	bool has_no_l3;
	bool has_no_caches;
	const char *online; /* NULL: all */
};

#define MACHINE(p, l, c, t, n)                                                                     \
	.packages = (p), .llcs = (l), .cores = (c), .threads = (t), .nodes = (n)

static inline unsigned int machine_nr_cores(const struct machine *machine)
{
	return machine->packages * machine->llcs * machine->cores;
}

static inline unsigned int machine_nr_cpus(const struct machine *machine)
{
	return machine_nr_cores(machine) * machine->threads;
}

/* A file below cpuN. */
static inline void machine_cpu_file(const struct tree *tree, unsigned int cpu, const char *file,
				    const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/%s", cpu, file);
	tree_write(tree, path, text);
}

/* The kernel's map of all CPUs whose core is in [first, end): "0000000f,0000000f". */
static inline const char *machine_map(const struct machine *machine, unsigned int first,
				      unsigned int end)
{
	static char text[8192];
	unsigned int nr_words = (machine_nr_cpus(machine) + 31) / 32;
	size_t length = 0;

	for (unsigned int word = nr_words; word > 0; word--) {
		unsigned int bits = 0;

		for (unsigned int bit = 0; bit < 32; bit++) {
			unsigned int cpu = (word - 1) * 32 + bit;
			unsigned int core = cpu % machine_nr_cores(machine);

			if (cpu < machine_nr_cpus(machine) && core >= first && core < end)
				bits |= 1u << bit;
		}
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%08x%s", bits,
					   word > 1 ? "," : "\n");
	}
	return text;
}

static inline void machine_cache(const struct machine *machine, const struct tree *tree,
				 unsigned int cpu, unsigned int index, const char *level,
				 const char *size, unsigned int first, unsigned int end)
{
	static const char *const names[] = { "level", "type", "size", "shared_cpu_map" };
	const char *const values[] = { level, "Unified", size, machine_map(machine, first, end) };

	for (unsigned int i = 0; i < 4; i++) {
		char file[64];

		(void)snprintf(file, sizeof(file), "cache/index%u/%s", index, names[i]);
		machine_cpu_file(tree, cpu, file, values[i]);
	}
}

static inline void machine_cpu(const struct machine *machine, const struct tree *tree,
			       unsigned int cpu)
{
	unsigned int core = cpu % machine_nr_cores(machine);
	unsigned int llc = core / machine->cores, package = llc / machine->llcs;
	unsigned int in_package = machine->llcs * machine->cores;
	char text[16];

	(void)snprintf(text, sizeof(text), "%u\n", package);
	machine_cpu_file(tree, cpu, "topology/physical_package_id", text);
	(void)snprintf(text, sizeof(text), "%u\n", core % in_package);
	machine_cpu_file(tree, cpu, "topology/core_id", text);
	machine_cpu_file(tree, cpu, "topology/thread_siblings",
			 machine_map(machine, core, core + 1));
	machine_cpu_file(tree, cpu, "topology/core_siblings",
			 machine_map(machine, package * in_package, (package + 1) * in_package));
	if (machine->has_no_caches)
		return;
	machine_cache(machine, tree, cpu, 0, "1\n", "32K\n", core, core + 1);
	machine_cache(machine, tree, cpu, 1, "2\n", "1024K\n", core, core + 1);
	if (!machine->has_no_l3)
		machine_cache(machine, tree, cpu, 2, "3\n", "16384K\n", llc * machine->cores,
			      (llc + 1) * machine->cores);
}

static inline void machine_nodes(const struct machine *machine, const struct tree *tree)
{
	unsigned int nr_llcs = machine->packages * machine->llcs;

	for (unsigned int node = 0; node < machine->nodes; node++) {
		unsigned int first = node * nr_llcs / machine->nodes;
		unsigned int end = (node + 1) * nr_llcs / machine->nodes;
		char path[96], text[64];

		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpumap", node);
		tree_write(tree, path,
			   machine_map(machine, first * machine->cores, end * machine->cores));
		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", node);
		(void)snprintf(text, sizeof(text), "Node %u MemTotal:       1048576 kB\n", node);
		tree_write(tree, path, text);
	}
}

static inline void machine_make(const struct machine *machine, const struct tree *tree)
{
	char all[32];

	for (unsigned int cpu = 0; cpu < machine_nr_cpus(machine); cpu++)
		machine_cpu(machine, tree, cpu);
	(void)snprintf(all, sizeof(all), "0-%u\n", machine_nr_cpus(machine) - 1);
	tree_write(tree, "sys/devices/system/cpu/possible", all);
	tree_write(tree, "sys/devices/system/cpu/present", all);
	tree_write(tree, "sys/devices/system/cpu/online", machine->online ? machine->online : all);
	machine_nodes(machine, tree);
}

#endif
