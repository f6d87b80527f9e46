/*
 * spoiler: what would spoil a result here, with the figure that was seen and the way to mend it.
 *
 * Each look is a function that adds what it finds; the table at the end is their order, the gravest
 * first. What cannot be seen (no permission, not mounted) is not claimed.
 */
#include "runner/inventory.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/activity.h"
#include "runner/limits.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define LOOK_NS     (300 * ZM_NS_PER_MS)
#define BUSY_LEAST  0.05 /* of the CPUs' time: below, it is this machine's usual murmur */
#define STEAL_LEAST 0.01

#define THP_DIR "sys/kernel/mm/transparent_hugepage"
#define CPU_DIR "sys/devices/system/cpu"

/* What the looks read, and where they put what they find. */
struct looks {
	const struct zm_sysroot *root;
	const struct zm_topology *topology;
	struct zm_limits limits;
	struct zm_activity activity;
	bool has_activity;
	struct zm_spoiler *spoilers;
	size_t nr, max;
};

static void add(struct looks *looks, const char *name, const char *mend, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void add(struct looks *looks, const char *name, const char *mend, const char *format, ...)
{
	struct zm_spoiler *spoiler;
	va_list arguments;

	if (looks->nr == looks->max)
		return;
	spoiler = &looks->spoilers[looks->nr++];
	spoiler->name = name;
	va_start(arguments, format);
	(void)vsnprintf(spoiler->what, sizeof(spoiler->what), format, arguments);
	va_end(arguments);
	(void)snprintf(spoiler->mend, sizeof(spoiler->mend), "%s", mend);
}

static bool read_u64(const struct looks *looks, const char *path, uint64_t *ret_value)
{
	return zm_sysroot_read_u64(looks->root, path, ret_value) == 0;
}

/* --- others ---------------------------------------------------------------------------------- */

static void look_at_load(struct looks *looks)
{
	const struct zm_activity *activity = &looks->activity;
	char mend[160] = "wait until it is over; see `top`";

	if (!looks->has_activity || activity->busy_share < BUSY_LEAST)
		return;
	if (activity->busiest_pid && activity->busiest_share >= BUSY_LEAST) {
		if (!activity->is_busiest_kernel)
			(void)snprintf(mend, sizeof(mend),
				       "end it (kill %ld), or wait until it is over; see `top`",
				       activity->busiest_pid);
		add(looks, "load", mend,
		    "others use %.0f %% of the CPUs' time; most of it %s (process %ld, %.0f %% of "
		    "a "
		    "CPU)",
		    100 * activity->busy_share, activity->busiest_name, activity->busiest_pid,
		    100 * activity->busiest_share);
		return;
	}
	add(looks, "load", mend, "others use %.0f %% of the CPUs' time, in short-lived processes",
	    100 * activity->busy_share);
}

static void look_at_steal(struct looks *looks)
{
	if (looks->has_activity && looks->activity.steal_share >= STEAL_LEAST)
		add(looks, "steal",
		    "use a host that is not shared, or give this guest CPUs of its own",
		    "the hypervisor took %.0f %% of the CPUs' time (steal)",
		    100 * looks->activity.steal_share);
}

/* --- limits ---------------------------------------------------------------------------------- */

static void look_at_cpuset(struct looks *looks)
{
	char allowed[96], online[96];

	if (looks->topology->nr_cpus >= zm_cpuset_count(&looks->topology->online))
		return;
	(void)zm_cpuset_print(&looks->topology->allowed, allowed, sizeof(allowed));
	(void)zm_cpuset_print(&looks->topology->online, online, sizeof(online));
	add(looks, "cpuset",
	    "start it without taskset and outside the cpuset, if that was not meant",
	    "only CPUs %s of %s may be used", allowed, online);
}

static void look_at_quota(struct looks *looks)
{
	if (isfinite(looks->limits.cpu_quota) &&
	    looks->limits.cpu_quota < (double)looks->topology->nr_cpus)
		add(looks, "quota",
		    "start it outside the cgroup: echo $$ > /sys/fs/cgroup/cgroup.procs",
		    "a cgroup leaves %.2f CPUs' time on %zu CPUs and stops the tasks in between",
		    looks->limits.cpu_quota, looks->topology->nr_cpus);
}

/* MemTotal, or 0. */
static uint64_t memory_bytes(const struct looks *looks)
{
	zm_autofree char *text = NULL;
	unsigned long long kb;

	if (zm_sysroot_read(looks->root, "proc/meminfo", &text, NULL) ||
	    sscanf(text, "MemTotal: %llu kB", &kb) != 1)
		return 0;
	return (uint64_t)kb * 1024;
}

static void look_at_memory_limit(struct looks *looks)
{
	bool is_high = looks->limits.memory_high_bytes < looks->limits.memory_bytes;
	uint64_t limit = is_high ? looks->limits.memory_high_bytes : looks->limits.memory_bytes;
	char human[32];

	if (limit >= memory_bytes(looks))
		return;
	(void)zm_units_human_bytes(human, sizeof(human), (double)limit);
	add(looks, "memory-limit",
	    "start it outside the cgroup: echo $$ > /sys/fs/cgroup/cgroup.procs",
	    "a cgroup %s memory at %s; its accounting costs time as well",
	    is_high ? "slows tasks from" : "limits", human);
}

/* --- memory ---------------------------------------------------------------------------------- */

static void look_at_swap(struct looks *looks)
{
	zm_autofree char *text = NULL;
	const char *total, *unused;
	unsigned long long total_kb, free_kb;
	char human[32];

	if (zm_sysroot_read(looks->root, "proc/meminfo", &text, NULL))
		return;
	total = strstr(text, "SwapTotal:");
	unused = strstr(text, "SwapFree:");
	if (!total || !unused || sscanf(total, "SwapTotal: %llu", &total_kb) != 1 ||
	    sscanf(unused, "SwapFree: %llu", &free_kb) != 1 || free_kb >= total_kb)
		return;
	(void)zm_units_human_bytes(human, sizeof(human), (double)(total_kb - free_kb) * 1024);
	add(looks, "swap", "swapoff -a", "%s are swapped out; coming back they disturb", human);
}

static void look_at_thp(struct looks *looks)
{
	char word[32];

	if (zm_sysroot_read_choice(looks->root, THP_DIR "/enabled", word, sizeof(word)) ||
	    strcmp(word, "never") == 0)
		return;
	add(looks, "thp", "run with thp_enabled=never, or: echo never > /" THP_DIR "/enabled",
	    "transparent huge pages are set to %s: faults may bring 2 MiB at once", word);
}

/* A size that follows the main switch ("inherit") was said there. */
static void look_at_thp_sizes(struct looks *looks)
{
	char list[128] = "";
	size_t length = 0;

	for (unsigned int kb = 8; kb <= 1048576; kb *= 2) {
		char path[96], word[32];

		(void)snprintf(path, sizeof(path), THP_DIR "/hugepages-%ukB/enabled", kb);
		if (zm_sysroot_read_choice(looks->root, path, word, sizeof(word)) ||
		    strcmp(word, "never") == 0 || strcmp(word, "inherit") == 0 ||
		    length >= sizeof(list))
			continue;
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%ukB %s",
					   length ? ", " : "", kb, word);
	}
	if (length)
		add(looks, "thp-sizes",
		    "for f in /" THP_DIR "/hugepages-*kB/enabled; do echo never > $f; done",
		    "huge pages of single sizes are on: %s", list);
}

/* MemTotal counts what the allocator manages; where that is much less, the kernel hands memory over
 * only when it is asked for. */
static bool is_lazy(const struct looks *looks, uint64_t *ret_managed_bytes)
{
	long page_bytes = sysconf(_SC_PAGESIZE);

	*ret_managed_bytes = looks->activity.managed_pages * (uint64_t)page_bytes;
	return *ret_managed_bytes && *ret_managed_bytes / 95 < memory_bytes(looks) / 100;
}

static void look_at_managed(struct looks *looks)
{
	const struct zm_activity *activity = &looks->activity;
	char human[32], whole[32];
	uint64_t managed_bytes;

	if (!looks->has_activity)
		return;
	if (activity->managed_change || activity->has_deferred_init) {
		add(looks, "memory-init", "wait until `grep managed /proc/zoneinfo` stands still",
		    "memory is still being handed to the allocator: %+" PRId64 " pages in 0.3 s",
		    activity->managed_change);
	} else if (is_lazy(looks, &managed_bytes)) {
		(void)zm_units_human_bytes(human, sizeof(human), (double)managed_bytes);
		(void)zm_units_human_bytes(whole, sizeof(whole), (double)memory_bytes(looks));
		add(looks, "memory-init",
		    "have it all touched once, by a run with a large size, or boot without "
		    "deferred "
		    "initialisation",
		    "the allocator has %s of %s; the rest is initialised when it is first needed",
		    human, whole);
	}
}

static void look_at_numa_balancing(struct looks *looks)
{
	uint64_t value;
	size_t nr_nodes = 0;

	for (size_t i = 0; i < looks->topology->nr_nodes; i++)
		nr_nodes += looks->topology->nodes[i].memory_bytes > 0;
	if (nr_nodes < 2 || !read_u64(looks, "proc/sys/kernel/numa_balancing", &value) || !value)
		return;
	add(looks, "numa-balancing",
	    "run with numa_balancing=0, or: sysctl kernel.numa_balancing=0",
	    "NUMA balancing is on (%" PRIu64 "): it unmaps pages to see who uses them", value);
}

static void look_at_ksm(struct looks *looks)
{
	uint64_t value;

	if (read_u64(looks, "sys/kernel/mm/ksm/run", &value) && value == 1)
		add(looks, "ksm", "echo 0 > /sys/kernel/mm/ksm/run",
		    "the kernel merges equal pages (KSM runs)");
}

static void look_at_damon(struct looks *looks)
{
	struct zm_cpuset kdamonds = { NULL, 0 };
	bool is_on = looks->has_activity && looks->activity.has_kdamond;

	(void)zm_sysroot_list_numbered(looks->root, "sys/kernel/mm/damon/admin/kdamonds", "",
				       &kdamonds);
	zm_cpuset_for_each (number, &kdamonds) {
		char path[96], state[16];

		(void)snprintf(path, sizeof(path), "sys/kernel/mm/damon/admin/kdamonds/%d/state",
			       number);
		if (zm_sysroot_read_line(looks->root, path, state, sizeof(state)) == 0)
			is_on |= strcmp(state, "on") == 0;
	}
	zm_cpuset_release(&kdamonds);
	if (is_on)
		add(looks, "damon",
		    "echo off > /sys/kernel/mm/damon/admin/kdamonds/0/state; for damon_reclaim and "
		    "the "
		    "like: echo N > /sys/module/damon_reclaim/parameters/enabled",
		    "DAMON watches memory (a kdamond runs): it takes the same locks");
}

/* --- CPUs ------------------------------------------------------------------------------------ */

static void look_at_governor(struct looks *looks)
{
	struct zm_cpuset policies = { NULL, 0 };
	size_t nr_other = 0;
	char other[32] = "", word[32];

	(void)zm_sysroot_list_numbered(looks->root, CPU_DIR "/cpufreq", "policy", &policies);
	zm_cpuset_for_each (policy, &policies) {
		char path[96];

		(void)snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/scaling_governor",
			       policy);
		if (zm_sysroot_read_choice(looks->root, path, word, sizeof(word)) ||
		    strcmp(word, "performance") == 0)
			continue;
		nr_other++;
		(void)snprintf(other, sizeof(other), "%s", word);
	}
	if (nr_other)
		add(looks, "frequency",
		    "run with cpufreq_governor=performance, or: cpupower frequency-set -g "
		    "performance",
		    "the governor of %zu of %zu frequency policies is %s, not performance",
		    nr_other, zm_cpuset_count(&policies), other);
	zm_cpuset_release(&policies);
}

static void look_at_turbo(struct looks *looks)
{
	uint64_t value;

	if (read_u64(looks, CPU_DIR "/intel_pstate/no_turbo", &value)) {
		if (value == 0)
			add(looks, "turbo", "echo 1 > /" CPU_DIR "/intel_pstate/no_turbo",
			    "turbo is on: the frequency depends on load and heat");
	} else if (read_u64(looks, CPU_DIR "/cpufreq/boost", &value) && value == 1) {
		add(looks, "turbo", "echo 0 > /" CPU_DIR "/cpufreq/boost",
		    "frequency boost is on: the frequency depends on load and heat");
	}
}

static void look_at_smt(struct looks *looks)
{
	uint64_t is_active;
	bool is_on = read_u64(looks, CPU_DIR "/smt/active", &is_active)
			     ? is_active == 1
			     : looks->topology->totals.nr_threads > 1;

	if (is_on)
		add(looks, "smt", "run with --place cores, or: echo off > /" CPU_DIR "/smt/control",
		    "SMT is on: two tasks may share a core");
}

/* --- watching -------------------------------------------------------------------------------- */

static bool is_tracing(const struct looks *looks, const char *directory, const char **ret_what)
{
	char path[128], word[64];
	uint64_t is_on;

	(void)snprintf(path, sizeof(path), "%s/tracing_on", directory);
	if (!read_u64(looks, path, &is_on) || !is_on)
		return false;
	(void)snprintf(path, sizeof(path), "%s/current_tracer", directory);
	if (zm_sysroot_read_line(looks->root, path, word, sizeof(word)) == 0 &&
	    strcmp(word, "nop") != 0) {
		*ret_what = "a tracer is set";
		return true;
	}
	(void)snprintf(path, sizeof(path), "%s/events/enable", directory);
	*ret_what = "events are enabled";
	return zm_sysroot_read_line(looks->root, path, word, sizeof(word)) == 0 &&
	       (word[0] == '1' || word[0] == 'X');
}

static void look_at_tracing(struct looks *looks)
{
	static const char *const directories[] = { "sys/kernel/tracing",
						   "sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		char mend[128];
		const char *what;

		if (!is_tracing(looks, directories[i], &what))
			continue;
		(void)snprintf(mend, sizeof(mend),
			       "cd /%s; echo 0 > tracing_on; echo nop > current_tracer; echo 0 > "
			       "events/enable",
			       directories[i]);
		add(looks, "tracing", mend, "tracing was left on: %s", what);
		return;
	}
}

static void look_at_statistics(struct looks *looks)
{
	static const char *const names[] = { "kernel/sched_schedstats", "kernel/bpf_stats_enabled",
					     "kernel/task_delayacct" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[64], mend[64];
		uint64_t value;

		(void)snprintf(path, sizeof(path), "proc/sys/%s", names[i]);
		if (!read_u64(looks, path, &value) || !value)
			continue;
		(void)snprintf(mend, sizeof(mend), "sysctl %s=0", names[i]);
		add(looks, "statistics", mend, "the kernel keeps statistics that cost time: %s",
		    names[i]);
	}
}

/* These files are there only in kernels built for finding faults. */
static void look_at_debugging(struct looks *looks)
{
	static const struct {
		const char *path;
		const char *what;
	} files[] = {
		{ "proc/lockdep", "lock debugging (CONFIG_LOCKDEP)" },
		{ "proc/lock_stat", "lock statistics (CONFIG_LOCK_STAT)" },
		{ "sys/kernel/debug/kmemleak", "leak detection (CONFIG_DEBUG_KMEMLEAK)" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (zm_sysroot_has(looks->root, files[i].path))
			add(looks, "debug-kernel", "boot a kernel built without it",
			    "this kernel was built with %s", files[i].what);
}

size_t zm_inventory_spoilers(const struct zm_sysroot *root, const struct zm_topology *topology,
			     struct zm_spoiler *ret_spoilers, size_t max)
{
	static void (*const all[])(struct looks * looks) = {
		look_at_load,         look_at_steal,     look_at_managed,
		look_at_tracing,      look_at_quota,     look_at_cpuset,
		look_at_memory_limit, look_at_swap,      look_at_governor,
		look_at_turbo,        look_at_thp,       look_at_thp_sizes,
		look_at_damon,        look_at_ksm,       look_at_numa_balancing,
		look_at_statistics,   look_at_debugging, look_at_smt,
	};
	struct looks looks = {
		.root = root, .topology = topology, .spoilers = ret_spoilers, .max = max
	};

	zm_limits_read(root, &looks.limits);
	looks.has_activity =
		zm_activity_read(root, &topology->allowed, LOOK_NS, &looks.activity) == 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i](&looks);
	return looks.nr;
}
