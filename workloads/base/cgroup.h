/*
 * cgroup: where this process stands in the cgroup hierarchies, and the limits that hold for it.
 *
 * Version 1, version 2 and both at once (hybrid) are alike to the caller: it asks for a controller
 * ("memory", "pids", "cpu") and gets the directory that governs it. A limit holds for everything
 * below the cgroup that has it, so the tightest of the cgroup and its ancestors counts.
 */
#ifndef ZM_WORKLOADS_BASE_CGROUP_H
#define ZM_WORKLOADS_BASE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"

#define ZM_CGROUP_PATH_SIZE 1024

struct zm_cgroup {
	int version;                    /* 1 or 2 */
	size_t top_length;              /* of the mount point, which the path starts with */
	char path[ZM_CGROUP_PATH_SIZE]; /* below the root: "sys/fs/cgroup/memory/user.slice" */
};

/* This process's cgroup for the controller, or in version 2 its nearest ancestor for which it is
 * enabled: that one's limits hold. -ENOENT: no hierarchy has it. -ENAMETOOLONG. */
int zm_cgroup_find(const struct zm_sysroot *root, const char *controller,
		   struct zm_cgroup *ret_cgroup);

/* One step up; false at the top of what can be seen. */
bool zm_cgroup_ascend(struct zm_cgroup *cgroup);

/* A file with one number. "max", and what version 1 writes for it, are UINT64_MAX. */
int zm_cgroup_read_u64(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
		       const char *file, uint64_t *ret_value);

/* The number behind a word: "throttled_usec" of cpu.stat. -ENOENT also when the word is not there. */
int zm_cgroup_read_key(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
		       const char *file, const char *key, uint64_t *ret_value);

/* What is left below the tightest limit of the cgroup and its ancestors: the least of limit minus
 * usage. UINT64_MAX without any limit. *ret_limit (may be NULL) is the limit it is left of, and
 * *ret_where (may be NULL) becomes the cgroup that has it. */
uint64_t zm_cgroup_left(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
			const char *limit_file, const char *usage_file, uint64_t *ret_limit,
			struct zm_cgroup *ret_where);

/* The same of memory, whichever version it is: memory.max or memory.limit_in_bytes. */
uint64_t zm_cgroup_memory_left(const struct zm_sysroot *root, const struct zm_cgroup *cgroup,
			       uint64_t *ret_limit, struct zm_cgroup *ret_where);

#endif
