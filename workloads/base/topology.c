/*
 * topology: what hwloc knows of the CPUs, and what the kernel says of CPUs and nodes itself.
 *
 *     online    sys/devices/system/cpu/online, else hwloc, else proc/stat
 *     allowed   this machine: the affinity (which the kernel keeps inside the cpuset); a recorded one:
 *               all that are online. Then what `only` leaves of it
 *     nodes     sys/devices/system/node/nodeN: hwloc leaves out some that have no CPUs
 *     CPUs      package, core, last-level cache and kind from hwloc; what it does not know is -1
 *
 * hwloc takes a recorded root, and silence, from environment variables only: they are set around the
 * load, one load at a time, and put back. Its x86 part is not used: it would move this process round
 * all CPUs.
 */
#include "workloads/base/topology.h"

#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

#define CPU_DIRECTORY  "sys/devices/system/cpu"
#define NODE_DIRECTORY "sys/devices/system/node"

/*
 * hwloc.
 */

/* What stands in the environment for hwloc while it loads: NULL is unset. */
struct setting {
	const char *name;
	const char *value;
	char *saved;
};

static int settings_apply(struct setting *settings, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *now = getenv(settings[i].name);

		settings[i].saved = now ? strdup(now) : NULL;
		if (now && !settings[i].saved)
			return -ENOMEM;
		if (settings[i].value ? setenv(settings[i].name, settings[i].value, 1) != 0
				      : now && unsetenv(settings[i].name) != 0)
			return -ENOMEM;
	}
	return 0;
}

static void settings_restore(struct setting *settings, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (settings[i].saved)
			(void)setenv(settings[i].name, settings[i].saved, 1);
		else if (settings[i].value)
			(void)unsetenv(settings[i].name);
		free(settings[i].saved);
	}
}

static void keep_types(hwloc_topology_t hw)
{
	static const hwloc_obj_type_t kept[] = {
		HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE,    HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
		HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE,
	};

	(void)hwloc_topology_set_all_types_filter(hw, HWLOC_TYPE_FILTER_KEEP_NONE);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		(void)hwloc_topology_set_type_filter(hw, kept[i], HWLOC_TYPE_FILTER_KEEP_ALL);
	(void)hwloc_topology_set_flags(hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	(void)hwloc_topology_set_components(hw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
}

static int load(hwloc_topology_t *ret_hw)
{
	hwloc_topology_t hw;

	if (hwloc_topology_init(&hw))
		return -ENOMEM;
	keep_types(hw);
	if (hwloc_topology_load(hw)) {
		hwloc_topology_destroy(hw);
		return -EIO;
	}
	*ret_hw = hw;
	return 0;
}

static int load_from(const struct zm_sysroot *root, hwloc_topology_t *ret_hw)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	char path[48];
	struct setting settings[] = {
		{ "HWLOC_FSROOT", root->is_live ? NULL : path, NULL },
		{ "HWLOC_HIDE_ERRORS", "2", NULL },
		{ "HWLOC_XMLFILE", NULL, NULL },
		{ "HWLOC_SYNTHETIC", NULL, NULL },
		{ "HWLOC_COMPONENTS", NULL, NULL },
		{ "HWLOC_THISSYSTEM", NULL, NULL },
		{ "HWLOC_THISSYSTEM_ALLOWED_RESOURCES", NULL, NULL },
	};
	size_t nr = sizeof(settings) / sizeof(settings[0]);
	int error;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", root->dir_fd);
	(void)pthread_mutex_lock(&one_at_a_time);
	error = settings_apply(settings, nr);
	if (!error)
		error = load(ret_hw);
	settings_restore(settings, nr);
	(void)pthread_mutex_unlock(&one_at_a_time);
	return error;
}

/* Without a topology directory hwloc makes up CPUs from the machine it runs on. */
static bool has_topology(const struct zm_sysroot *root)
{
	struct zm_cpuset cpus = { NULL, 0 };
	bool has = false;

	if (zm_sysroot_list_numbered(root, CPU_DIRECTORY, "cpu", &cpus))
		return false;
	zm_cpuset_for_each (cpu, &cpus) {
		char path[80];

		(void)snprintf(path, sizeof(path), CPU_DIRECTORY "/cpu%d/topology", cpu);
		has = zm_sysroot_has(root, path);
		if (has)
			break;
	}
	zm_cpuset_release(&cpus);
	return has;
}

/* --- sets of CPUs ----------------------------------------------------------------------------- */

static int add_bitmap(struct zm_cpuset *set, hwloc_const_bitmap_t bitmap)
{
	int error = 0;

	if (hwloc_bitmap_last(bitmap) < 0)
		return 0;
	for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0 && !error;
	     cpu = hwloc_bitmap_next(bitmap, cpu))
		error = zm_cpuset_add(set, (unsigned int)cpu);
	return error;
}

/* The lines "cpu0 …" of proc/stat: online CPUs only. */
static int add_from_stat(const struct zm_sysroot *root, struct zm_cpuset *set)
{
	zm_autofree char *text = NULL;
	int error = zm_sysroot_read(root, "proc/stat", &text, NULL);

	for (const char *line = text; !error && line;) {
		unsigned int cpu;

		if (strncmp(line, "cpu ", 4) != 0 && sscanf(line, "cpu%u ", &cpu) == 1)
			error = zm_cpuset_add(set, cpu);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return error;
}

/* The lines "processor : 0" of proc/cpuinfo, and s390's "processor 0: …". */
static int add_from_cpuinfo(const struct zm_sysroot *root, struct zm_cpuset *set)
{
	zm_autofree char *text = NULL;
	int error = zm_sysroot_read(root, "proc/cpuinfo", &text, NULL);

	for (const char *line = text; !error && line;) {
		unsigned int cpu;

		if (sscanf(line, "processor : %u", &cpu) == 1 ||
		    sscanf(line, "processor %u:", &cpu) == 1)
			error = zm_cpuset_add(set, cpu);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return error;
}

static int read_online(const struct zm_sysroot *root, hwloc_topology_t hw, struct zm_cpuset *set)
{
	int error = zm_sysroot_read_cpuset(root, CPU_DIRECTORY "/online", set);

	if (!error && zm_cpuset_count(set))
		return 0;
	if (hw)
		return add_bitmap(set, hwloc_topology_get_topology_cpuset(hw));
	error = add_from_stat(root, set);
	if (error == -ENOENT || (!error && !zm_cpuset_count(set)))
		error = add_from_cpuinfo(root, set);
	return error == -ENOENT ? 0 : error;
}

static bool is_possible(const struct zm_sysroot *root, int cpu)
{
	struct zm_cpuset possible = { NULL, 0 };
	char path[64];
	bool is;

	(void)snprintf(path, sizeof(path), CPU_DIRECTORY "/cpu%d", cpu);
	if (zm_sysroot_has(root, path))
		return true;
	is = zm_sysroot_read_cpuset(root, CPU_DIRECTORY "/possible", &possible) == 0 &&
	     zm_cpuset_has(&possible, (unsigned int)cpu);
	zm_cpuset_release(&possible);
	return is;
}

static int say_refused(const struct zm_sysroot *root, const struct zm_topology *topology, int cpu,
		       struct zm_why *why)
{
	char list[160];
	bool is_online = zm_cpuset_has(&topology->online, (unsigned int)cpu);

	(void)zm_cpuset_print(is_online ? &topology->allowed : &topology->online, list,
			      sizeof(list));
	if (is_online)
		return zm_why_set(
			why, -EINVAL,
			"CPU %d is not allowed: taskset or a cpuset leaves this process %s", cpu,
			list);
	if (is_possible(root, cpu))
		return zm_why_set(why, -EINVAL, "CPU %d is offline: online are %s", cpu, list);
	return zm_why_set(why, -EINVAL, "CPU %d is not there: this machine has %s", cpu, list);
}

static int restrict_to(const struct zm_sysroot *root, const struct zm_cpuset *only,
		       struct zm_topology *topology, struct zm_why *why)
{
	zm_cpuset_for_each (cpu, only)
		if (!zm_cpuset_has(&topology->allowed, (unsigned int)cpu))
			return say_refused(root, topology, cpu, why);
	zm_cpuset_and(&topology->allowed, only);
	return 0;
}

static int read_sets(const struct zm_sysroot *root, hwloc_topology_t hw,
		     const struct zm_cpuset *only, struct zm_topology *topology, struct zm_why *why)
{
	int error = read_online(root, hw, &topology->online);

	if (!error && root->is_live)
		error = zm_cpuset_get_affinity(0, &topology->allowed);
	else if (!error)
		error = zm_cpuset_copy(&topology->allowed, &topology->online);
	if (error)
		return zm_why_errno(why, error, "cannot find out which CPUs there are");
	if (only)
		error = restrict_to(root, only, topology, why);
	if (!error && zm_cpuset_count(&topology->allowed) == 0)
		error = zm_why_set(why, -ENODEV,
				   only ? "no CPU is left to run on: name at least one"
					: "no CPU is known: neither sys/devices/system/cpu nor "
					  "proc/stat names one");
	return error;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static int hex_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* "00000000,0000000f": the last digit is CPUs 0 to 3. */
static int parse_map(const char *text, struct zm_cpuset *set)
{
	unsigned int cpu = 0;
	int error = 0;

	for (size_t i = strlen(text); i > 0 && !error; i--) {
		int digit = hex_digit(text[i - 1]);

		if (digit < 0)
			continue;
		for (unsigned int bit = 0; bit < 4 && !error; bit++)
			if (digit & (1 << bit))
				error = zm_cpuset_add(set, cpu + bit);
		cpu += 4;
	}
	return error;
}

/* Old kernels have the map only; some recordings have neither, but links. */
static int read_node_cpus(const struct zm_sysroot *root, int node, struct zm_cpuset *set)
{
	zm_autofree char *map = NULL;
	char path[80];
	int error;

	(void)snprintf(path, sizeof(path), NODE_DIRECTORY "/node%d/cpulist", node);
	error = zm_sysroot_read_cpuset(root, path, set);
	if (error != -ENOENT)
		return error;
	(void)snprintf(path, sizeof(path), NODE_DIRECTORY "/node%d/cpumap", node);
	error = zm_sysroot_read(root, path, &map, NULL);
	if (!error)
		return parse_map(map, set);
	(void)snprintf(path, sizeof(path), NODE_DIRECTORY "/node%d", node);
	return zm_sysroot_list_numbered(root, path, "cpu", set);
}

/* "Node 0 MemTotal:  49366544 kB"; 0 when the file does not say. */
static uint64_t read_node_memory(const struct zm_sysroot *root, int node)
{
	zm_autofree char *text = NULL;
	const char *total;
	char path[80];
	unsigned long long kb;

	(void)snprintf(path, sizeof(path), NODE_DIRECTORY "/node%d/meminfo", node);
	if (zm_sysroot_read(root, path, &text, NULL))
		return 0;
	total = strstr(text, "MemTotal:");
	if (!total || sscanf(total, "MemTotal: %llu", &kb) != 1)
		return 0;
	return (uint64_t)kb * 1024;
}

static struct zm_cpu *find_cpu(const struct zm_topology *topology, int cpu)
{
	size_t low = 0, high = topology->nr_cpus;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (topology->cpus[middle].cpu < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low < topology->nr_cpus && topology->cpus[low].cpu == cpu ? &topology->cpus[low]
									 : NULL;
}

/* Firmware with an error gives a CPU to two nodes: the first has it. */
static int read_node(const struct zm_sysroot *root, struct zm_topology *topology,
		     struct zm_node *node)
{
	int error = read_node_cpus(root, node->node, &node->cpus);

	if (error)
		return error;
	zm_cpuset_and(&node->cpus, &topology->online);
	node->memory_bytes = read_node_memory(root, node->node);
	zm_cpuset_for_each (number, &node->cpus) {
		struct zm_cpu *cpu = find_cpu(topology, number);

		if (!cpu || cpu->node >= 0)
			continue;
		cpu->node = node->node;
		node->nr_cpus++;
	}
	return 0;
}

static int read_nodes(const struct zm_sysroot *root, struct zm_topology *topology)
{
	struct zm_cpuset numbers = { NULL, 0 };
	int error = zm_sysroot_list_numbered(root, NODE_DIRECTORY, "node", &numbers);
	size_t nr = error ? 0 : zm_cpuset_count(&numbers);

	if (nr) {
		topology->nodes = calloc(nr, sizeof(*topology->nodes));
		error = topology->nodes ? 0 : -ENOMEM;
	}
	if (!error)
		zm_cpuset_for_each (number, &numbers) {
			struct zm_node *node = &topology->nodes[topology->nr_nodes++];

			node->node = number;
			error = read_node(root, topology, node);
			if (error)
				break;
		}
	zm_cpuset_release(&numbers);
	return error;
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static int number_of(hwloc_obj_t pu, hwloc_topology_t hw, hwloc_obj_type_t type)
{
	hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(hw, type, pu);

	return object ? (int)object->logical_index : -1;
}

/* The largest cache with data above the CPU. */
static hwloc_obj_t find_llc(hwloc_obj_t pu)
{
	hwloc_obj_t llc = NULL;

	for (hwloc_obj_t object = pu->parent; object; object = object->parent)
		if (hwloc_obj_type_is_dcache(object->type))
			llc = object;
	return llc;
}

/* LLCs may be of several levels on one machine, so hwloc's own numbers will not do. `seen` holds the
 * ones met so far, in the machine's order; it has room for one more. */
static int number_llc(hwloc_obj_t llc, hwloc_obj_t *seen, size_t *nr_seen)
{
	for (size_t i = *nr_seen; i > 0; i--)
		if (seen[i - 1] == llc)
			return (int)(i - 1);
	seen[*nr_seen] = llc;
	return (int)(*nr_seen)++;
}

static int number_thread(hwloc_obj_t pu, hwloc_topology_t hw)
{
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_CORE, pu);
	int thread = 0;

	if (!core)
		return 0;
	for (int cpu = hwloc_bitmap_first(core->cpuset); cpu >= 0 && cpu != (int)pu->os_index;
	     cpu = hwloc_bitmap_next(core->cpuset, cpu))
		thread++;
	return thread;
}

/* Slower kinds first; -1 where all are alike or hwloc cannot rank them. */
static int number_kind(hwloc_obj_t pu, hwloc_topology_t hw)
{
	int efficiency = -1, kind;

	if (hwloc_cpukinds_get_nr(hw, 0) <= 1)
		return -1;
	kind = hwloc_cpukinds_get_by_cpuset(hw, pu->cpuset, 0);
	if (kind < 0 ||
	    hwloc_cpukinds_get_info(hw, (unsigned int)kind, NULL, &efficiency, NULL, NULL, 0))
		return -1;
	return efficiency;
}

static size_t count_objects(hwloc_topology_t hw, hwloc_obj_type_t type)
{
	int nr = hwloc_get_nbobjs_by_type(hw, type);

	return nr > 0 ? (size_t)nr : 0;
}

static void fill_from_hwloc(hwloc_topology_t hw, struct zm_topology *topology, hwloc_obj_t *seen)
{
	struct zm_totals *totals = &topology->totals;
	size_t nr_seen = 0;

	totals->nr_packages = count_objects(hw, HWLOC_OBJ_PACKAGE);
	totals->nr_cores = count_objects(hw, HWLOC_OBJ_CORE);

	for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_PU, pu));) {
		struct zm_cpu *cpu = find_cpu(topology, (int)pu->os_index);
		hwloc_obj_t llc = find_llc(pu);
		int llc_number = llc ? number_llc(llc, seen, &nr_seen) : -1;
		size_t thread = (size_t)number_thread(pu, hw);

		totals->nr_llcs = nr_seen;
		if (totals->nr_cores && thread >= totals->nr_threads)
			totals->nr_threads = thread + 1;
		if (llc && llc->attr->cache.size > totals->llc_bytes)
			totals->llc_bytes = llc->attr->cache.size;
		if (!cpu)
			continue;
		cpu->package = number_of(pu, hw, HWLOC_OBJ_PACKAGE);
		cpu->core = number_of(pu, hw, HWLOC_OBJ_CORE);
		cpu->thread = (int)thread;
		cpu->llc = llc_number;
		cpu->kind = number_kind(pu, hw);
	}
}

static int read_cpus(hwloc_topology_t hw, struct zm_topology *topology)
{
	zm_autofree hwloc_obj_t *seen = NULL;
	int nr_pus = hw ? hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_PU) : 0;

	topology->cpus = calloc(zm_cpuset_count(&topology->allowed), sizeof(*topology->cpus));
	if (!topology->cpus)
		return -ENOMEM;
	zm_cpuset_for_each (number, &topology->allowed)
		topology->cpus[topology->nr_cpus++] = (struct zm_cpu){
			.cpu = number, .package = -1, .core = -1, .llc = -1, .node = -1, .kind = -1
		};
	if (nr_pus <= 0)
		return 0;
	seen = calloc((size_t)nr_pus, sizeof(hwloc_obj_t));
	if (!seen)
		return -ENOMEM;
	fill_from_hwloc(hw, topology, seen);
	return 0;
}

/* How many different numbers a member has among the CPUs, -1 left out. */
static int count_member(const struct zm_topology *topology, size_t offset, size_t *ret_nr)
{
	struct zm_cpuset seen = { NULL, 0 };
	int error = 0;

	for (size_t i = 0; i < topology->nr_cpus && !error; i++) {
		int number;

		memcpy(&number, (const char *)&topology->cpus[i] + offset, sizeof(number));
		if (number >= 0)
			error = zm_cpuset_add(&seen, (unsigned int)number);
	}
	if (!error)
		*ret_nr = zm_cpuset_count(&seen);
	zm_cpuset_release(&seen);
	return error;
}

static int count_all(struct zm_topology *topology)
{
	int error =
		count_member(topology, offsetof(struct zm_cpu, package), &topology->nr_packages);

	if (!error)
		error = count_member(topology, offsetof(struct zm_cpu, core), &topology->nr_cores);
	if (!error)
		error = count_member(topology, offsetof(struct zm_cpu, llc), &topology->nr_llcs);
	return error;
}

static int read_all(const struct zm_sysroot *root, hwloc_topology_t hw,
		    const struct zm_cpuset *only, struct zm_topology *topology, struct zm_why *why)
{
	int error = read_sets(root, hw, only, topology, why);

	if (error)
		return error;
	error = read_cpus(hw, topology);
	if (!error)
		error = read_nodes(root, topology);
	if (!error)
		error = count_all(topology);
	return error ? zm_why_errno(why, error, "cannot read the machine's topology") : 0;
}

int zm_topology_read(const struct zm_sysroot *root, const struct zm_cpuset *only,
		     struct zm_topology *ret_topology, struct zm_why *why)
{
	struct zm_topology topology = { .cpus = NULL };
	hwloc_topology_t hw = NULL;
	int error = 0;

	if (has_topology(root))
		error = load_from(root, &hw);
	if (error == -ENOMEM)
		return zm_why_errno(why, error, "cannot read the machine's topology");
	error = read_all(root, hw, only, &topology, why);
	if (hw)
		hwloc_topology_destroy(hw);
	if (error)
		zm_topology_release(&topology);
	else
		*ret_topology = topology;
	return error;
}

void zm_topology_release(struct zm_topology *topology)
{
	for (size_t i = 0; i < topology->nr_nodes; i++)
		zm_cpuset_release(&topology->nodes[i].cpus);
	free(topology->cpus);
	free(topology->nodes);
	zm_cpuset_release(&topology->online);
	zm_cpuset_release(&topology->allowed);
	*topology = (struct zm_topology){ .cpus = NULL };
}

const struct zm_cpu *zm_topology_find(const struct zm_topology *topology, int cpu)
{
	return find_cpu(topology, cpu);
}
