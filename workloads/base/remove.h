/*
 * remove: takes away what a run made: files, directories, cgroups, mounts, network namespaces.
 *
 * What is not there any more is no failure. Nothing is followed through a symlink, no file system is
 * crossed, and nothing of another user's is touched. Paths are absolute.
 */
#ifndef ZM_WORKLOADS_BASE_REMOVE_H
#define ZM_WORKLOADS_BASE_REMOVE_H

#include <stdbool.h>

#include "workloads/base/why.h"

/* A file, socket, fifo or symlink of ours. -EISDIR, -EPERM (another user's). */
int zm_remove_file(const char *path, struct zm_why *why);

/* A directory of ours with what is in it. -EXDEV when something is mounted in it or on it: unmount
 * that first. Goes on after a failure and gives the first. */
int zm_remove_tree(const char *path, struct zm_why *why);

/* A cgroup (v1 or v2) with the cgroups below it; their tasks are killed first, and waited for, at
 * most 10 s. -EBUSY: a task does not end, or this process is in it; -EINVAL: it is no cgroup. */
int zm_remove_cgroup(const char *path, struct zm_why *why);

/* Only kills and waits: the cgroup stays, empty. -ENOENT: it is not there. */
int zm_kill_cgroup(const char *path, struct zm_why *why);

/* What is mounted on path; the directory stays. */
int zm_remove_mount(const char *path, struct zm_why *why);

/* A named network namespace, /run/netns/NAME, as `ip netns delete` does. */
int zm_remove_netns(const char *path, struct zm_why *why);

/* Is something mounted on it? */
bool zm_path_is_mount(const char *path);

#endif
