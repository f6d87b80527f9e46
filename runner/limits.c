/*
 * limits: for each controller, up from this process's cgroup to the top; the tightest counts.
 */
#include "runner/limits.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cgroup.h"
#include "workloads/base/cleanup.h"

/* proc/self/cgroup: "0::/path" is version 2, every other line version 1. */
static const char *read_mode(const struct zm_sysroot *root)
{
	zm_autofree char *text = NULL;
	bool has_v1 = false, has_v2 = false;

	if (zm_sysroot_read(root, "proc/self/cgroup", &text, NULL))
		return "";
	for (const char *line = text; line && *line;) {
		if (strncmp(line, "0::", 3) == 0)
			has_v2 = true;
		else
			has_v1 = true;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (has_v1)
		return has_v2 ? "hybrid" : "v1";
	return has_v2 ? "v2" : "none";
}

static uint64_t least_of(const struct zm_sysroot *root, struct zm_cgroup cgroup, const char *file)
{
	uint64_t least = UINT64_MAX, value;

	do {
		if (zm_cgroup_read_u64(root, &cgroup, file, &value) == 0 && value < least)
			least = value;
	} while (zm_cgroup_ascend(&cgroup));
	return least;
}

static void read_memory(const struct zm_sysroot *root, struct zm_limits *limits)
{
	struct zm_cgroup cgroup;

	if (zm_cgroup_find(root, "memory", &cgroup))
		return;
	limits->memory_bytes = least_of(
		root, cgroup, cgroup.version == 2 ? "memory.max" : "memory.limit_in_bytes");
	if (cgroup.version == 2)
		limits->memory_high_bytes = least_of(root, cgroup, "memory.high");
}

/* A file of the cgroup, its first line. */
static int read_line(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
		     const char *file, char *buf, size_t size)
{
	char path[ZM_CGROUP_PATH_SIZE + 64];

	(void)snprintf(path, sizeof(path), "%s/%s", cgroup->path, file);
	return zm_sysroot_read_line(root, path, buf, size);
}

/* Version 2: cpu.max, "150000 100000" or "max 100000". Version 1: two files, -1 is no quota. */
static double quota_of(const struct zm_sysroot *root, const struct zm_cgroup *cgroup)
{
	char line[64];
	long long quota = -1, period = 0;

	if (cgroup->version == 2) {
		if (read_line(root, cgroup, "cpu.max", line, sizeof(line)) ||
		    sscanf(line, "%lld %lld", &quota, &period) != 2)
			return INFINITY;
	} else {
		if (read_line(root, cgroup, "cpu.cfs_quota_us", line, sizeof(line)) ||
		    sscanf(line, "%lld", &quota) != 1 ||
		    read_line(root, cgroup, "cpu.cfs_period_us", line, sizeof(line)) ||
		    sscanf(line, "%lld", &period) != 1)
			return INFINITY;
	}
	return quota > 0 && period > 0 ? (double)quota / (double)period : INFINITY;
}

static void read_quota(const struct zm_sysroot *root, struct zm_limits *limits)
{
	struct zm_cgroup cgroup;

	if (zm_cgroup_find(root, "cpu", &cgroup))
		return;
	do {
		double quota = quota_of(root, &cgroup);

		if (quota < limits->cpu_quota)
			limits->cpu_quota = quota;
	} while (zm_cgroup_ascend(&cgroup));
}

/* Effective ones take the ancestors into account; before Linux 3.18 there were none. */
static void read_cpuset(const struct zm_sysroot *root, struct zm_limits *limits)
{
	static const char *const files[] = { "cpuset.cpus.effective", "cpuset.effective_cpus",
					     "cpuset.cpus" };
	struct zm_cgroup cgroup;

	if (zm_cgroup_find(root, "cpuset", &cgroup))
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char line[sizeof(limits->cpuset)];

		if (read_line(root, &cgroup, files[i], line, sizeof(line)) == 0 && line[0]) {
			memcpy(limits->cpuset, line, sizeof(line));
			return;
		}
	}
}

void zm_limits_read(const struct zm_sysroot *root, struct zm_limits *ret_limits)
{
	struct zm_limits limits = {
		.mode = read_mode(root),
		.memory_bytes = UINT64_MAX,
		.memory_high_bytes = UINT64_MAX,
		.cpu_quota = INFINITY,
	};

	read_memory(root, &limits);
	read_quota(root, &limits);
	read_cpuset(root, &limits);
	*ret_limits = limits;
}
