/*
 * inventory: facts, each read by itself and put into one object; what cannot be read is left out.
 *
 *     topology -> CPUs, caches, nodes     proc -> kernel, memory, sysctls
 *     cpuinfo.c -> model, hypervisor      sys -> THP, frequency, mitigations     limits.c -> cgroups
 */
#include "runner/inventory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/cpuinfo.h"
#include "runner/limits.h"
#include "runner/vm/about.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define LINE_SIZE 4096
#define THP_DIR   "sys/kernel/mm/transparent_hugepage"
#define CPUFREQ   "sys/devices/system/cpu/cpufreq"
#define FLAWS     "sys/devices/system/cpu/vulnerabilities"

/* --- putting facts --------------------------------------------------------------------------- */

/* Takes the reference; a value that could not be made is an object without it, and noticed at the
 * end. */
static void put(json_t *object, const char *key, json_t *value)
{
	(void)json_object_set_new(object, key, value);
}

/* Text of another's making may not be UTF-8, which JSON must be: those bytes become '?'. */
static json_t *text_of(const char *text)
{
	zm_autofree char *copy = NULL;
	json_t *value = json_string(text);

	if (value)
		return value;
	copy = strdup(text);
	for (char *c = copy; c && *c; c++)
		if (*c & 0x80)
			*c = '?';
	return copy ? json_string(copy) : NULL;
}

static void put_text(json_t *object, const char *key, const char *text)
{
	if (text[0])
		put(object, key, text_of(text));
}

static void put_count(json_t *object, const char *key, size_t count)
{
	if (count)
		put(object, key, json_integer((json_int_t)count));
}

static void put_set(json_t *object, const char *key, const struct zm_cpuset *set)
{
	size_t size = zm_cpuset_print(set, NULL, 0) + 1;
	zm_autofree char *text = malloc(size);

	if (!text)
		return;
	(void)zm_cpuset_print(set, text, size);
	put(object, key, json_string(text));
}

static void put_line(const struct zm_sysroot *root, json_t *object, const char *key,
		     const char *path)
{
	char line[LINE_SIZE];
	size_t length;

	if (zm_sysroot_read_line(root, path, line, sizeof(line)))
		return;
	length = strlen(line);
	while (length && line[length - 1] == ' ')
		line[--length] = '\0';
	put_text(object, key, line);
}

static void put_choice(const struct zm_sysroot *root, json_t *object, const char *key,
		       const char *path)
{
	char word[64];

	if (zm_sysroot_read_choice(root, path, word, sizeof(word)) == 0)
		put_text(object, key, word);
}

/* Calls act for each name in a directory, sorted, except those with a dot in front. */
static void each_name(const struct zm_sysroot *root, const char *path,
		      void (*act)(const struct zm_sysroot *root, const char *name, void *context),
		      void *context)
{
	struct dirent **names;
	int nr = scandirat(root->dir_fd, path, &names, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		if (names[i]->d_name[0] != '.')
			act(root, names[i]->d_name, context);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

/* --- processors ------------------------------------------------------------------------------ */

static void put_processor(const struct zm_sysroot *root, json_t *inventory)
{
	struct zm_cpuinfo info;
	char product[ZM_CPUINFO_SIZE * 2];

	zm_cpuinfo_read(root, &info);
	put_text(inventory, "cpu_model", info.model);
	put_text(inventory, "cpu_vendor", info.vendor);
	put_text(inventory, "microcode", info.microcode);
	put_text(inventory, "hypervisor", info.hypervisor);
	zm_cpuinfo_read_product(root, product, sizeof(product));
	put_text(inventory, "product", product);
}

static size_t count_kinds(const struct zm_topology *topology)
{
	int most = -1;

	for (size_t i = 0; i < topology->nr_cpus; i++)
		if (topology->cpus[i].kind > most)
			most = topology->cpus[i].kind;
	return (size_t)(most + 1);
}

static void put_topology(const struct zm_topology *topology, json_t *inventory)
{
	put_count(inventory, "sockets", topology->totals.nr_packages);
	put_count(inventory, "cores", topology->totals.nr_cores);
	put_count(inventory, "smt", topology->totals.nr_threads);
	put_count(inventory, "llcs", topology->totals.nr_llcs);
	put_count(inventory, "llc_bytes", topology->totals.llc_bytes);
	put_count(inventory, "cpu_kinds", count_kinds(topology));
	put_count(inventory, "cpus_online", zm_cpuset_count(&topology->online));
	put_count(inventory, "cpus_allowed", topology->nr_cpus);
	put_set(inventory, "cpus_online_list", &topology->online);
	put_set(inventory, "cpus_allowed_list", &topology->allowed);
}

/* As its row of the table of distances: to node 0, 1 …, of those that are online. */
static void put_distances(const struct zm_sysroot *root, int node, json_t *row)
{
	json_t *distances = json_array();
	char path[64], line[1024], *rest = line, *word;
	uint64_t distance;

	(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d/distance", node);
	if (zm_sysroot_read_line(root, path, line, sizeof(line)) < 0)
		line[0] = '\0';
	while ((word = strsep(&rest, " ")))
		if (zm_units_parse_u64(word, &distance) == 0)
			(void)json_array_append_new(distances, json_integer((json_int_t)distance));
	if (json_array_size(distances))
		put(row, "distances", distances);
	else
		json_decref(distances);
}

static void put_nodes(const struct zm_sysroot *root, const struct zm_topology *topology,
		      json_t *inventory)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < topology->nr_nodes; i++) {
		const struct zm_node *node = &topology->nodes[i];
		json_t *row = json_object();

		put(row, "node", json_integer(node->node));
		put(row, "memory_bytes", json_integer((json_int_t)node->memory_bytes));
		put_set(row, "cpus", &node->cpus);
		put_distances(root, node->node, row);
		(void)json_array_append_new(nodes, row);
	}
	if (topology->nr_nodes)
		put(inventory, "nodes", nodes);
	else
		json_decref(nodes);
}

/* --- memory ---------------------------------------------------------------------------------- */

/* A field of proc/meminfo in bytes; false when it is not there. */
static bool meminfo_bytes(const char *meminfo, const char *field, uint64_t *ret_bytes)
{
	unsigned long long kb;
	size_t length = strlen(field);

	for (const char *line = meminfo; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, field, length) == 0 && line[length] == ':' &&
		    sscanf(line + length + 1, " %llu kB", &kb) == 1 && kb <= INT64_MAX / 1024) {
			*ret_bytes = (uint64_t)kb * 1024;
			return true;
		}
	}
	return false;
}

static void put_memory(const struct zm_sysroot *root, json_t *inventory)
{
	zm_autofree char *meminfo = NULL;
	uint64_t bytes, free_bytes;

	if (zm_sysroot_read(root, "proc/meminfo", &meminfo, NULL))
		return;
	if (meminfo_bytes(meminfo, "MemTotal", &bytes))
		put(inventory, "memory_bytes", json_integer((json_int_t)bytes));
	if (!meminfo_bytes(meminfo, "SwapTotal", &bytes))
		return;
	put(inventory, "swap_bytes", json_integer((json_int_t)bytes));
	if (meminfo_bytes(meminfo, "SwapFree", &free_bytes) && free_bytes <= bytes)
		put(inventory, "swap_used_bytes", json_integer((json_int_t)(bytes - free_bytes)));
}

/* "hugepages-2048kB" */
static void add_hugepage_size(const struct zm_sysroot *root, const char *name, void *context)
{
	unsigned long long kb;

	(void)root;
	if (sscanf(name, "hugepages-%llukB", &kb) == 1)
		(void)json_array_append_new(context, json_integer((json_int_t)(kb * 1024)));
}

static void add_thp_size(const struct zm_sysroot *root, const char *name, void *context)
{
	char path[512];

	if (strncmp(name, "hugepages-", 10) != 0)
		return;
	(void)snprintf(path, sizeof(path), THP_DIR "/%s/enabled", name);
	put_choice(root, context, name + 10, path);
}

static void put_hugepages(const struct zm_sysroot *root, json_t *inventory)
{
	json_t *sizes = json_array(), *thp_sizes = json_object();

	each_name(root, "sys/kernel/mm/hugepages", add_hugepage_size, sizes);
	each_name(root, THP_DIR, add_thp_size, thp_sizes);
	if (json_array_size(sizes))
		put(inventory, "hugepage_sizes", json_incref(sizes));
	if (json_object_size(thp_sizes))
		put(inventory, "thp_sizes", json_incref(thp_sizes));
	json_decref(sizes);
	json_decref(thp_sizes);
	put_choice(root, inventory, "thp_enabled", THP_DIR "/enabled");
	put_choice(root, inventory, "thp_defrag", THP_DIR "/defrag");
}

/* --- frequency ------------------------------------------------------------------------------- */

struct words {
	const char *file;
	char text[256]; /* each different one once, joined by ',' */
};

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, length) == 0 && (at[length] == ',' || !at[length]))
			return true;
	}
	return false;
}

static void add_policy_word(const struct zm_sysroot *root, const char *name, void *context)
{
	struct words *words = context;
	size_t length = strlen(words->text);
	char path[512], word[64];

	if (strncmp(name, "policy", 6) != 0)
		return;
	(void)snprintf(path, sizeof(path), CPUFREQ "/%s/%s", name, words->file);
	if (zm_sysroot_read_choice(root, path, word, sizeof(word)) || has_word(words->text, word))
		return;
	(void)snprintf(words->text + length, sizeof(words->text) - length, "%s%s",
		       length ? "," : "", word);
}

static void put_frequency(const struct zm_sysroot *root, json_t *inventory)
{
	struct words governor = { "scaling_governor", "" }, driver = { "scaling_driver", "" };
	uint64_t value;

	each_name(root, CPUFREQ, add_policy_word, &governor);
	each_name(root, CPUFREQ, add_policy_word, &driver);
	put_text(inventory, "governor", governor.text);
	put_text(inventory, "frequency_driver", driver.text);
	if (zm_sysroot_read_u64(root, "sys/devices/system/cpu/intel_pstate/no_turbo", &value) == 0)
		put(inventory, "turbo", json_boolean(value == 0));
	else if (zm_sysroot_read_u64(root, CPUFREQ "/boost", &value) == 0)
		put(inventory, "turbo", json_boolean(value != 0));
}

/* --- kernel ---------------------------------------------------------------------------------- */

/* A recorded machine may have proc/version only: "Linux version 6.1.0 (…) #1 SMP …". */
static void put_kernel(const struct zm_sysroot *root, json_t *inventory)
{
	char line[LINE_SIZE], release[256];
	const char *version;

	put_line(root, inventory, "kernel", "proc/sys/kernel/osrelease");
	put_line(root, inventory, "kernel_version", "proc/sys/kernel/version");
	put_line(root, inventory, "command_line", "proc/cmdline");
	if (json_object_get(inventory, "kernel") ||
	    zm_sysroot_read_line(root, "proc/version", line, sizeof(line)))
		return;
	if (sscanf(line, "Linux version %255s", release) == 1)
		put_text(inventory, "kernel", release);
	version = strchr(line, '#');
	if (version)
		put_text(inventory, "kernel_version", version);
}

static void add_mitigation(const struct zm_sysroot *root, const char *name, void *context)
{
	char path[512];

	(void)snprintf(path, sizeof(path), FLAWS "/%s", name);
	put_line(root, context, name, path);
}

static void put_mitigations(const struct zm_sysroot *root, json_t *inventory)
{
	json_t *mitigations = json_object();

	each_name(root, FLAWS, add_mitigation, mitigations);
	if (json_object_size(mitigations))
		put(inventory, "mitigations", json_incref(mitigations));
	json_decref(mitigations);
}

static void put_sysctls(const struct zm_sysroot *root, json_t *inventory)
{
	static const char *const names[] = {
		"kernel.numa_balancing",
		"vm.admin_reserve_kbytes",
		"vm.compaction_proactiveness",
		"vm.dirty_background_ratio",
		"vm.dirty_ratio",
		"vm.extfrag_threshold",
		"vm.lowmem_reserve_ratio",
		"vm.min_free_kbytes",
		"vm.nr_hugepages",
		"vm.overcommit_memory",
		"vm.percpu_pagelist_high_fraction",
		"vm.stat_interval",
		"vm.swappiness",
		"vm.vfs_cache_pressure",
		"vm.watermark_boost_factor",
		"vm.watermark_scale_factor",
		"vm.zone_reclaim_mode",
	};
	json_t *sysctls = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "proc/sys/%s", names[i]);
		path[strlen("proc/sys/") + strcspn(names[i], ".")] = '/';
		put_line(root, sysctls, names[i], path);
	}
	if (json_object_size(sysctls))
		put(inventory, "sysctl", json_incref(sysctls));
	json_decref(sysctls);
}

/* --- the system around ----------------------------------------------------------------------- */

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void put_distribution(const struct zm_sysroot *root, json_t *inventory)
{
	zm_autofree char *text = NULL;
	char *name;

	if (zm_sysroot_read(root, "etc/os-release", &text, NULL))
		return;
	name = strncmp(text, "PRETTY_NAME=", 12) == 0 ? text : strstr(text, "\nPRETTY_NAME=");
	if (!name)
		return;
	name = strchr(name, '=') + 1;
	name += strspn(name, "\"'");
	name[strcspn(name, "\"'\n")] = '\0';
	put_text(inventory, "distribution", name);
}

static void put_libc(const struct zm_sysroot *root, json_t *inventory)
{
#ifdef _CS_GNU_LIBC_VERSION
	char version[64];

	if (root->is_live && confstr(_CS_GNU_LIBC_VERSION, version, sizeof(version)) > 0)
		put_text(inventory, "libc", version);
#else
	(void)root;
	(void)inventory;
#endif
}

static void put_page_size(const struct zm_sysroot *root, json_t *inventory)
{
	long bytes = root->is_live ? sysconf(_SC_PAGESIZE) : 0;

	if (bytes > 0)
		put(inventory, "page_bytes", json_integer(bytes));
}

static void put_cgroup(const struct zm_sysroot *root, json_t *inventory)
{
	struct zm_limits limits;
	json_t *cgroup = json_object();

	zm_limits_read(root, &limits);
	put_text(cgroup, "mode", limits.mode);
	if (limits.memory_bytes != UINT64_MAX)
		put(cgroup, "memory_limit_bytes", json_integer((json_int_t)limits.memory_bytes));
	if (limits.memory_high_bytes != UINT64_MAX)
		put(cgroup, "memory_high_bytes",
		    json_integer((json_int_t)limits.memory_high_bytes));
	if (isfinite(limits.cpu_quota))
		put(cgroup, "cpu_quota", json_real(limits.cpu_quota));
	put_text(cgroup, "cpuset", limits.cpuset);
	put(inventory, "cgroup", cgroup);
}

static void put_guest(const struct zm_sysroot *root, json_t *inventory)
{
	json_t *about = zm_vm_about_read(root);

	if (about)
		put(inventory, "guest", about);
}

int zm_inventory_read(const struct zm_sysroot *root, const struct zm_topology *topology,
		      json_t **ret_inventory, struct zm_why *why)
{
	json_t *inventory = json_object();

	if (!inventory)
		return zm_why_errno(why, -ENOMEM, "cannot take the inventory");
	put_processor(root, inventory);
	put_topology(topology, inventory);
	put_nodes(root, topology, inventory);
	put_memory(root, inventory);
	put_page_size(root, inventory);
	put_hugepages(root, inventory);
	put_frequency(root, inventory);
	put_kernel(root, inventory);
	put_mitigations(root, inventory);
	put_sysctls(root, inventory);
	put_distribution(root, inventory);
	put_libc(root, inventory);
	put_cgroup(root, inventory);
	put_guest(root, inventory);
	*ret_inventory = inventory;
	return 0;
}

/* --- who the machine is ---------------------------------------------------------------------- */

/* MemTotal differs a little from boot to boot by what the kernel keeps: the next step above, of four
 * to each power of two, is what is built in. */
static uint64_t round_memory(uint64_t bytes)
{
	uint64_t step = 1;

	while (step < UINT64_C(1) << 60 && step * 4 * 2 <= bytes)
		step *= 2;
	return (bytes + step - 1) / step * step;
}

int zm_inventory_machine_id(const struct zm_sysroot *root, const json_t *inventory, char *buf,
			    size_t size)
{
	const char *model = json_string_value(json_object_get(inventory, "cpu_model"));
	const char *product = json_string_value(json_object_get(inventory, "product"));
	json_int_t sockets = json_integer_value(json_object_get(inventory, "sockets"));
	json_int_t memory = json_integer_value(json_object_get(inventory, "memory_bytes"));
	char machine_id[128] = "", text[1024];
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int length = 0;

	if (size < 17)
		return -ENOBUFS;
	(void)zm_sysroot_read_line(root, "etc/machine-id", machine_id, sizeof(machine_id));
	(void)snprintf(text, sizeof(text), "%s|%s|%s|%lld|%llu", machine_id, model ? model : "",
		       product ? product : "", (long long)sockets,
		       (unsigned long long)round_memory((uint64_t)memory));
	if (!EVP_Digest(text, strlen(text), digest, &length, EVP_sha256(), NULL) || length < 8)
		return -EIO;
	for (unsigned int i = 0; i < 8; i++)
		(void)snprintf(buf + 2 * (size_t)i, 3, "%02x", digest[i]);
	return 0;
}
