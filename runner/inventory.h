/*
 * inventory: what this machine is, as one JSON object, and what would spoil a result on it.
 *
 * Read once per command (20 ms or less), through the replaceable root. A fact that cannot be read is
 * absent from the object, never guessed.
 *
 *     cpu_model cpu_vendor microcode hypervisor product distribution libc        strings
 *     kernel kernel_version command_line                                          strings
 *     sockets cores smt llcs llc_bytes        the whole machine, what is online of it; smt: threads of
 *                                             a core, 1 without
 *     cpus_online cpus_allowed                how many; cpus_online_list, cpus_allowed_list: which
 *     cpu_kinds                               how many kinds, on hybrid machines only
 *     nodes [{node, memory_bytes, cpus, distances []}]
 *                                             cpus is a list, "" for a node without CPUs
 *     memory_bytes page_bytes swap_bytes swap_used_bytes hugepage_sizes []
 *     thp_enabled thp_defrag thp_sizes {"64kB": "inherit"…}
 *     governor frequency_driver turbo         governors joined by "," where they differ
 *     mitigations {name: text}
 *     sysctl {"vm.swappiness": "60"…}         what the page allocator's behaviour depends on
 *     cgroup {mode, memory_limit_bytes, memory_high_bytes, cpu_quota, cpuset}
 *                                             mode v1, v2, hybrid or none; cpu_quota in CPUs
 *     guest {accelerator, topology…}          in a guest of `zonemark vm` only (vm/about.h)
 */
#ifndef ZM_RUNNER_INVENTORY_H
#define ZM_RUNNER_INVENTORY_H

#include <jansson.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/base/why.h"

/* A new reference. -ENOMEM only. */
int zm_inventory_read(const struct zm_sysroot *root, const struct zm_topology *topology,
		      json_t **ret_inventory, struct zm_why *why);

/* Stable for one machine: a digest of what does not change between boots (machine-id, model, sockets,
 * memory size rounded). buf takes 17 bytes. */
int zm_inventory_machine_id(const struct zm_sysroot *root, const json_t *inventory, char *buf,
			    size_t size);

/* Something that would spoil a result. */
struct zm_spoiler {
	const char *name; /* "load", "thp", "swap", "frequency", "quota", "cpuset", "memory-limit",
			    * "tracing", "smt", "steal", "numa-balancing"… */
	char what[256];   /* what was seen, with its figure */
	char mend[256];   /* how to mend it: a command where there is one */
};

/* At most max of them; returns how many. Looks for 0.3 s (other load, steal). */
size_t zm_inventory_spoilers(const struct zm_sysroot *root, const struct zm_topology *topology,
			     struct zm_spoiler *ret_spoilers, size_t max);

#endif
