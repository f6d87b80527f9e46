/* need: one small question per kind of need; the first "no" is the answer. */
#include "runner/need.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

static int check_cpus(const struct zm_need *need, const struct zm_topology *topology,
		      struct zm_why *why)
{
	if (topology->nr_cpus >= need->min_cpus)
		return 0;
	return zm_why_set(why, -ENOTSUP, "needs %u CPUs; this process may use %zu", need->min_cpus,
			  topology->nr_cpus);
}

static int check_nodes(const struct zm_need *need, const struct zm_topology *topology,
		       struct zm_why *why)
{
	size_t nr_nodes = 0;

	for (size_t i = 0; i < topology->nr_nodes; i++)
		nr_nodes += topology->nodes[i].memory_bytes > 0;
	if (nr_nodes >= need->min_nodes)
		return 0;
	return zm_why_set(why, -ENOTSUP, "needs %u nodes with memory; this machine has %zu",
			  need->min_nodes, nr_nodes);
}

static int check_root(const struct zm_need *need, struct zm_why *why)
{
	if (!need->root || geteuid() == 0)
		return 0;
	return zm_why_set(why, -ENOTSUP, "needs root; run it with sudo");
}

/* Is it the first word of a line of /proc/net/protocols? */
static bool has_protocol(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ' ')
			return true;
	}
	return false;
}

static int check_protocols(const struct zm_need *need, const struct zm_sysroot *root,
			   struct zm_why *why)
{
	zm_autofree char *text = NULL;
	int r;

	if (!need->protocols)
		return 0;
	r = zm_sysroot_read(root, "proc/net/protocols", &text, NULL);
	if (r < 0)
		return zm_why_errno(why, -ENOTSUP,
				    "needs /proc/net/protocols, which cannot be read");
	for (const char *const *name = need->protocols; *name; name++)
		if (!has_protocol(text, *name))
			return zm_why_set(
				why, -ENOTSUP,
				"needs the kernel's %s, which is not there (its module may "
				"not be loaded: see modprobe)",
				*name);
	return 0;
}

static int check_files(const struct zm_need *need, const struct zm_sysroot *root,
		       struct zm_why *why)
{
	for (const char *const *path = need->files; path && *path; path++)
		if (!zm_sysroot_has(root, *path))
			return zm_why_set(why, -ENOTSUP,
					  "needs /%s, which this kernel does not have", *path);
	return 0;
}

static bool is_on_path(const char *command)
{
	const char *path = getenv("PATH");
	char name[4096];

	for (const char *p = path ? path : "/usr/bin:/bin"; p; p = strchr(p, ':')) {
		p += *p == ':';
		int length = (int)strcspn(p, ":");
		int n = snprintf(name, sizeof(name), "%.*s/%s", length, p, command);

		if (length > 0 && n > 0 && (size_t)n < sizeof(name) && access(name, X_OK) == 0)
			return true;
	}
	return false;
}

static int check_commands(const struct zm_need *need, struct zm_why *why)
{
	for (const char *const *command = need->commands; command && *command; command++)
		if (!is_on_path(*command))
			return zm_why_set(why, -ENOTSUP,
					  "needs the program %s, which is not on PATH", *command);
	return 0;
}

int zm_need_check(const struct zm_need *need, const struct zm_sysroot *root,
		  const struct zm_topology *topology, struct zm_why *why)
{
	int r = check_cpus(need, topology, why);

	if (r == 0)
		r = check_nodes(need, topology, why);
	if (r == 0)
		r = check_root(need, why);
	if (r == 0)
		r = check_protocols(need, root, why);
	if (r == 0)
		r = check_files(need, root, why);
	if (r == 0)
		r = check_commands(need, why);
	return r;
}
