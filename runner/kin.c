/* kin: a walk down the tree, by the lists of children. */
#include "runner/kin.h"

#include <stdio.h>
#include <stdlib.h>

#include "runner/tasktime.h"
#include "workloads/base/cleanup.h"

#define DEPTH_MAX 64 /* of the tree */

static int look(const struct zm_sysroot *root, pid_t pid, struct zm_tasktime *ret_time)
{
	char path[64], line[1024];
	int r;

	(void)snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
	r = zm_sysroot_read_line(root, path, line, sizeof(line));
	return r < 0 ? r : zm_tasktime_parse(line, zm_tasktime_tick_ns(), ret_time);
}

/* Adds what the children of `pid` used, and those below them. */
static int add_children(const struct zm_sysroot *root, pid_t pid, unsigned int depth,
			uint64_t *sum_ns)
{
	zm_autofree char *text = NULL;
	char path[64], *at, *end;
	size_t length;
	int r;

	(void)snprintf(path, sizeof(path), "proc/%d/task/%d/children", (int)pid, (int)pid);
	r = zm_sysroot_read(root, path, &text, &length);
	if (r < 0)
		return r;
	for (at = text; depth < DEPTH_MAX; at = end) {
		struct zm_tasktime time;
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		if (look(root, child, &time) < 0)
			continue;
		*sum_ns += time.cpu_ns + time.waited_ns;
		(void)add_children(root, child, depth + 1, sum_ns);
	}
	return 0;
}

int zm_kin_read(const struct zm_sysroot *root, pid_t pid, uint64_t *ret_cpu_ns)
{
	struct zm_tasktime time;
	uint64_t sum_ns;
	int r = look(root, pid, &time);

	if (r < 0)
		return r;
	sum_ns = time.waited_ns;
	r = add_children(root, pid, 0, &sum_ns);
	if (r == 0)
		*ret_cpu_ns = sum_ns;
	return r;
}
