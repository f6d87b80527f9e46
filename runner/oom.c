/* oom: the kernel's counts of its kills: proc/vmstat, memory.events, memory.oom_control. */
#include "runner/oom.h"

#include <stdio.h>
#include <string.h>

#include "workloads/base/cgroup.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

static uint64_t machine_kills(const struct zm_sysroot *root)
{
	zm_autofree char *text = NULL;
	uint64_t kills = UINT64_MAX;
	char *save = NULL;
	size_t length;

	if (zm_sysroot_read(root, "proc/vmstat", &text, &length) < 0)
		return UINT64_MAX;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "oom_kill ", 9) == 0)
			(void)zm_units_parse_u64(line + 9, &kills);
	}
	return kills;
}

static uint64_t cgroup_kills(const struct zm_sysroot *root)
{
	struct zm_cgroup cgroup;
	uint64_t kills;

	if (zm_cgroup_find(root, "memory", &cgroup) < 0)
		return UINT64_MAX;
	if (zm_cgroup_read_key(root, &cgroup,
			       cgroup.version == 1 ? "memory.oom_control" : "memory.events",
			       "oom_kill", &kills) < 0)
		return UINT64_MAX;
	return kills;
}

void zm_oom_read(const struct zm_sysroot *root, struct zm_oom *ret_oom)
{
	*ret_oom = (struct zm_oom){ .machine_kills = machine_kills(root),
				    .cgroup_kills = cgroup_kills(root) };
}

static bool has_risen(uint64_t before, uint64_t now)
{
	return before != UINT64_MAX && now != UINT64_MAX && now > before;
}

static void say_cgroup(const struct zm_sysroot *root, char *buf, size_t size)
{
	struct zm_cgroup cgroup;
	uint64_t limit = UINT64_MAX;
	char bytes[32];

	if (zm_cgroup_find(root, "memory", &cgroup) == 0)
		(void)zm_cgroup_memory_left(root, &cgroup, &limit, &cgroup);
	if (limit == UINT64_MAX)
		(void)snprintf(buf, size, "killed for memory by the OOM killer");
	else
		(void)snprintf(buf, size,
			       "killed for memory by the OOM killer, at the limit of %s of "
			       "%s: raise the limit or use fewer tasks",
			       zm_units_human_bytes(bytes, sizeof(bytes), (double)limit),
			       cgroup.path);
}

bool zm_oom_has_struck(const struct zm_sysroot *root, const struct zm_oom *since, char *buf,
		       size_t size)
{
	struct zm_oom now;

	zm_oom_read(root, &now);
	if (has_risen(since->cgroup_kills, now.cgroup_kills)) {
		say_cgroup(root, buf, size);
		return true;
	}
	if (has_risen(since->machine_kills, now.machine_kills)) {
		(void)snprintf(
			buf, size,
			"killed for memory by the OOM killer: the machine had none left; use "
			"fewer tasks or less memory per task");
		return true;
	}
	return false;
}
