/*
 * cgroup: proc/self/cgroup says where in each hierarchy, proc/self/mountinfo where that hierarchy is
 * mounted.
 *
 *     cgroup      "4:memory:/user.slice"   version 1: the controllers stand in the line
 *                 "0::/user.slice"         version 2: they stand in cgroup.controllers
 *     mountinfo   "30 29 0:26 /user.slice /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
 *                             mount's root  mount point; a blank in them is written \040
 */
#include "workloads/base/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

/* Version 1 writes "no limit" as the largest multiple of the page size below 2^63. */
#define V1_UNLIMITED (UINT64_C(1) << 62)

static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, separators);

		if (n == length && strncmp(list, word, n) == 0)
			return true;
		list += n;
		list += strspn(list, separators);
	}
	return false;
}

/* A line of proc/self/cgroup, cut in place. */
struct membership {
	const char *controllers; /* "" in version 2 */
	const char *path;
};

static bool split_membership(char *line, struct membership *ret_membership)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return false;
	*path = '\0';
	*ret_membership = (struct membership){ controllers + 1, path + 1 };
	return true;
}

/* A line of proc/self/mountinfo, cut in place. */
struct mount {
	const char *root, *point, *type, *options;
};

/* Undoes the octal escapes (\040) of a field, in place. */
static char *unescape(char *field)
{
	char *to = field;

	for (const char *from = field; *from; to++) {
		bool is_octal = from[0] == '\\' && strspn(from + 1, "01234567") >= 3;
		int code = is_octal ? (from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0'
				    : *from;

		*to = (char)code;
		from += is_octal ? 4 : 1;
	}
	*to = '\0';
	return field;
}

static bool split_mount(char *line, struct mount *ret_mount)
{
	char *dash = strstr(line, " - ");
	char *save = NULL;
	char *fields[5];
	char *type, *source;

	if (!dash)
		return false;
	*dash = '\0';
	for (size_t i = 0; i < 5; i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!fields[i])
			return false;
	}
	type = strtok_r(dash + 3, " ", &save);
	source = strtok_r(NULL, " ", &save);
	if (!source)
		return false;
	*ret_mount =
		(struct mount){ unescape(fields[3]), unescape(fields[4]), type, save ? save : "" };
	return true;
}

/* The path below the mount point: what the mount's root already covers is taken off; a path that
 * cannot be seen from here ("/..") is the mount point itself. */
static const char *below_mount(const char *path, const char *mount_root)
{
	size_t length = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);

	if (strncmp(path, "/..", 3) == 0 || strncmp(path, mount_root, length) != 0)
		return "";
	path += length;
	if (*path && *path != '/')
		return "";
	return strcmp(path, "/") == 0 ? "" : path;
}

static int join(struct zm_cgroup *cgroup, const char *point, const char *below)
{
	int n = snprintf(cgroup->path, sizeof(cgroup->path), "%s%s", point + 1, below);

	if (n < 0 || (size_t)n >= sizeof(cgroup->path))
		return -ENAMETOOLONG;
	cgroup->top_length = strlen(point + 1);
	return 0;
}

/* Finds the mount of the wanted hierarchy: for version 1 the one with the controller among its
 * options, for version 2 the only one. */
static int find_mount(const struct zm_sysroot *root, int version, const char *controller,
		      const char *path, struct zm_cgroup *ret_cgroup)
{
	const char *type = version == 1 ? "cgroup" : "cgroup2";
	zm_autofree char *text = NULL;
	char *save = NULL;
	size_t length;
	int r = zm_sysroot_read(root, "proc/self/mountinfo", &text, &length);

	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct mount mount;

		if (!split_mount(line, &mount) || strcmp(mount.type, type) != 0)
			continue;
		if (version == 1 && !has_word(mount.options, controller, ","))
			continue;
		ret_cgroup->version = version;
		r = join(ret_cgroup, mount.point, below_mount(path, mount.root));
		if (r == 0 && !zm_sysroot_has(root, ret_cgroup->path))
			r = join(ret_cgroup, mount.point, "");
		return r;
	}
	return -ENOENT;
}

static bool version2_has(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
			 const char *controller)
{
	char path[ZM_CGROUP_PATH_SIZE + 32];
	char line[512];

	(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", cgroup->path);
	return zm_sysroot_read_line(root, path, line, sizeof(line)) == 0 &&
	       has_word(line, controller, " ");
}

int zm_cgroup_find(const struct zm_sysroot *root, const char *controller,
		   struct zm_cgroup *ret_cgroup)
{
	zm_autofree char *text = NULL;
	struct zm_cgroup found = { 0 };
	const char *unified = NULL;
	char *save = NULL;
	size_t length;
	int r = zm_sysroot_read(root, "proc/self/cgroup", &text, &length);

	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct membership membership;

		if (!split_membership(line, &membership))
			continue;
		if (!membership.controllers[0])
			unified = membership.path;
		if (!has_word(membership.controllers, controller, ","))
			continue;
		r = find_mount(root, 1, controller, membership.path, &found);
		if (r == 0)
			*ret_cgroup = found;
		return r;
	}
	r = unified ? find_mount(root, 2, controller, unified, &found) : -ENOENT;
	/* Where it is not enabled, the nearest ancestor that has it governs. */
	while (r == 0 && !version2_has(root, &found, controller))
		if (!zm_cgroup_ascend(&found))
			r = -ENOENT;
	if (r == 0)
		*ret_cgroup = found;
	return r;
}

bool zm_cgroup_ascend(struct zm_cgroup *cgroup)
{
	char *slash = strrchr(cgroup->path, '/');

	if (!slash || (size_t)(slash - cgroup->path) < cgroup->top_length)
		return false;
	*slash = '\0';
	return true;
}

int zm_cgroup_read_u64(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
		       const char *file, uint64_t *ret_value)
{
	char path[ZM_CGROUP_PATH_SIZE + 64];
	char line[64];
	uint64_t value;
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", cgroup->path, file);
	r = zm_sysroot_read_line(root, path, line, sizeof(line));
	if (r < 0)
		return r;
	if (strcmp(line, "max") == 0) {
		value = UINT64_MAX;
	} else {
		r = zm_units_parse_u64(line, &value);
		if (r < 0)
			return r;
	}
	if (cgroup->version == 1 && value >= V1_UNLIMITED)
		value = UINT64_MAX;
	*ret_value = value;
	return 0;
}

int zm_cgroup_read_key(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
		       const char *file, const char *key, uint64_t *ret_value)
{
	char path[ZM_CGROUP_PATH_SIZE + 64];
	zm_autofree char *text = NULL;
	char *save = NULL;
	size_t length;
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", cgroup->path, file);
	r = zm_sysroot_read(root, path, &text, &length);
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t n = strlen(key);

		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return zm_units_parse_u64(line + n + 1, ret_value);
	}
	return -ENOENT;
}

uint64_t zm_cgroup_left(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
			const char *limit_file, const char *usage_file, uint64_t *ret_limit,
			struct zm_cgroup *ret_where)
{
	struct zm_cgroup at = *cgroup;
	uint64_t least = UINT64_MAX;

	do {
		uint64_t limit, usage, left;

		if (zm_cgroup_read_u64(root, &at, limit_file, &limit) < 0 || limit == UINT64_MAX ||
		    zm_cgroup_read_u64(root, &at, usage_file, &usage) < 0)
			continue;
		left = limit > usage ? limit - usage : 0;
		if (left >= least)
			continue;
		least = left;
		if (ret_limit)
			*ret_limit = limit;
		if (ret_where)
			*ret_where = at;
	} while (zm_cgroup_ascend(&at));
	return least;
}

uint64_t zm_cgroup_memory_left(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
			       uint64_t *ret_limit, struct zm_cgroup *ret_where)
{
	if (cgroup->version == 1)
		return zm_cgroup_left(root, cgroup, "memory.limit_in_bytes",
				      "memory.usage_in_bytes", ret_limit, ret_where);
	return zm_cgroup_left(root, cgroup, "memory.max", "memory.current", ret_limit, ret_where);
}
