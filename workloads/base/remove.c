/*
 * remove: one function per kind of thing, from the harmless to the dangerous.
 *
 *     file    lstat, ours? -> unlink
 *     tree    open without following, ours, no mount -> empty it depth first -> rmdir
 *     mount   is something mounted there? -> umount, lazily when busy
 *     netns   below /run/netns -> umount -> unlink
 *     cgroup  a cgroup, not a root, not ours -> kill all, rmdir depth first, again until it goes
 */
#include "workloads/base/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define CGROUP_WAIT_NS (10 * ZM_NS_PER_S)
#define CGROUP_POLL_NS (10 * ZM_NS_PER_MS)

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

int zm_remove_file(const char *path, struct zm_why *why)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : zm_why_errno(why, -errno, "cannot remove %s", path);
	if (S_ISDIR(status.st_mode))
		return zm_why_set(why, -EISDIR, "%s is a directory now: left alone", path);
	if (status.st_uid != geteuid())
		return zm_why_set(why, -EPERM, "%s belongs to user %u: left alone", path,
				  status.st_uid);
	if (unlink(path) && errno != ENOENT)
		return zm_why_errno(why, -errno, "cannot remove %s", path);
	return 0;
}

/* Kernels before 5.8 do not say: there a mount of the same file system goes unseen. */
static bool is_mount_at(int dir_fd, const char *name)
{
	struct statx self;
	struct stat status, parent;
	char up[4096];

	if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &self))
		return false;
	if (self.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return self.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	if ((size_t)snprintf(up, sizeof(up), "%s/..", name) >= sizeof(up))
		return false;
	return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dir_fd, up, &parent, 0) == 0 && status.st_dev != parent.st_dev;
}

bool zm_path_is_mount(const char *path)
{
	return is_mount_at(AT_FDCWD, path);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_directory_at(int dir_fd, const char *name)
{
	struct stat status;

	return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static int remove_content(int fd);

static int remove_entry(int dir_fd, const char *name)
{
	bool is_directory = is_directory_at(dir_fd, name);
	int error = 0;

	if (is_mount_at(dir_fd, name))
		return -EXDEV;
	if (is_directory) {
		int fd = openat(dir_fd, name, OPEN_DIRECTORY);

		error = fd < 0 ? -errno : remove_content(fd);
	}
	if (unlinkat(dir_fd, name, is_directory ? AT_REMOVEDIR : 0) && errno != ENOENT && !error)
		error = -errno;
	return error;
}

/* Closes fd. The first failure, after having tried everything. */
static int remove_content(int fd)
{
	zm_autoclosedir DIR *directory = fdopendir(fd);
	int first = 0;

	if (!directory) {
		first = -errno;
		(void)close(fd);
		return first;
	}
	for (struct dirent *entry; (entry = readdir(directory));) {
		int error =
			is_dot(entry->d_name) ? 0 : remove_entry(dirfd(directory), entry->d_name);

		first = first ? first : error;
	}
	return first;
}

int zm_remove_tree(const char *path, struct zm_why *why)
{
	struct stat status;
	int error, fd = open(path, OPEN_DIRECTORY);

	if (fd < 0)
		return errno == ENOENT ? 0 : zm_why_errno(why, -errno, "cannot remove %s", path);
	if (fstat(fd, &status) == 0 && status.st_uid != geteuid()) {
		(void)close(fd);
		return zm_why_set(why, -EPERM, "%s belongs to user %u: left alone", path,
				  status.st_uid);
	}
	if (zm_path_is_mount(path)) {
		(void)close(fd);
		return zm_why_set(why, -EXDEV, "something is mounted on %s: unmount it", path);
	}
	error = remove_content(fd);
	if (rmdir(path) && errno != ENOENT && !error)
		error = -errno;
	if (error == -EXDEV)
		return zm_why_set(why, error, "something is mounted below %s: unmount it", path);
	return error ? zm_why_errno(why, error, "cannot remove all of %s", path) : 0;
}

int zm_remove_mount(const char *path, struct zm_why *why)
{
	if (!zm_path_is_mount(path))
		return 0;
	if (umount2(path, UMOUNT_NOFOLLOW) == 0)
		return 0;
	if (errno == EBUSY && umount2(path, UMOUNT_NOFOLLOW | MNT_DETACH) == 0)
		return 0;
	return zm_why_errno(why, -errno, "cannot unmount %s", path);
}

int zm_remove_netns(const char *path, struct zm_why *why)
{
	if (strncmp(path, "/run/netns/", 11) != 0 && strncmp(path, "/var/run/netns/", 15) != 0)
		return zm_why_set(why, -EINVAL, "%s is not below /run/netns: left alone", path);
	if (zm_path_is_mount(path) && umount2(path, UMOUNT_NOFOLLOW | MNT_DETACH))
		return zm_why_errno(why, -errno, "cannot unmount network namespace %s", path);
	return zm_remove_file(path, why);
}

/* --- cgroups ---------------------------------------------------------------------------------- */

static bool is_cgroup(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && ((unsigned long)status.f_type == CGROUP_SUPER_MAGIC ||
					     (unsigned long)status.f_type == CGROUP2_SUPER_MAGIC);
}

/* The tasks of one cgroup; threaded ones of v2 list threads only. NULL at the worst. */
static FILE *open_tasks(int fd)
{
	static const char *const names[] = { "cgroup.procs", "cgroup.threads" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int tasks_fd = openat(fd, names[i], O_RDONLY | O_CLOEXEC);
		char byte;

		if (tasks_fd >= 0 && pread(tasks_fd, &byte, 1, 0) >= 0)
			return fdopen(tasks_fd, "r");
		if (tasks_fd >= 0)
			(void)close(tasks_fd);
	}
	return NULL;
}

/* What is done to each cgroup of a tree: own fd, and the context. A non-zero return ends it. */
typedef int (*visit_fn)(int fd, void *context);

static int visit_tree(int fd, visit_fn visit, void *context)
{
	zm_autoclosedir DIR *directory = NULL;
	int error = visit(fd, context), copy = openat(fd, ".", OPEN_DIRECTORY);

	directory = copy < 0 ? NULL : fdopendir(copy);
	if (!directory && copy >= 0)
		(void)close(copy);
	for (struct dirent *entry; !error && directory && (entry = readdir(directory));) {
		int child;

		if (is_dot(entry->d_name) || entry->d_type != DT_DIR)
			continue;
		child = openat(fd, entry->d_name, OPEN_DIRECTORY);
		if (child < 0)
			continue;
		error = visit_tree(child, visit, context);
		(void)close(child);
	}
	return error;
}

static int visit_is_self(int fd, void *context)
{
	zm_autofclose FILE *tasks = open_tasks(fd);
	long self = getpid();

	(void)context;
	for (long pid; tasks && fscanf(tasks, "%ld", &pid) == 1;)
		if (pid == self)
			return -EBUSY;
	return 0;
}

static int write_at(int fd, const char *name, const char *text)
{
	int error = 0, file = openat(fd, name, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return -errno;
	if (write(file, text, strlen(text)) < 0)
		error = -errno;
	(void)close(file);
	return error;
}

/* Frozen tasks of v1 do not die before they are thawed. */
static int visit_kill(int fd, void *context)
{
	zm_autofclose FILE *tasks = open_tasks(fd);

	(void)context;
	(void)write_at(fd, "freezer.state", "THAWED");
	for (long pid; tasks && fscanf(tasks, "%ld", &pid) == 1;)
		if (pid > 1)
			(void)kill((pid_t)pid, SIGKILL);
	return 0;
}

static void kill_tree(int fd)
{
	if (write_at(fd, "cgroup.kill", "1"))
		(void)visit_tree(fd, visit_kill, NULL);
}

/* rmdir, children first. */
static int rmdir_tree(int parent_fd, const char *name)
{
	zm_autoclosedir DIR *directory = NULL;
	int fd = openat(parent_fd, name, OPEN_DIRECTORY);

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		if (fd >= 0)
			(void)close(fd);
		return errno == ENOENT ? 0 : -errno;
	}
	for (struct dirent *entry; (entry = readdir(directory));)
		if (entry->d_type == DT_DIR && !is_dot(entry->d_name))
			(void)rmdir_tree(fd, entry->d_name);
	return unlinkat(parent_fd, name, AT_REMOVEDIR) && errno != ENOENT ? -errno : 0;
}

static int kill_and_rmdir(int fd, const char *path, struct zm_why *why)
{
	uint64_t deadline_ns = zm_clock_now_ns() + CGROUP_WAIT_NS;

	for (;;) {
		int error;

		kill_tree(fd);
		error = rmdir_tree(AT_FDCWD, path);
		if (!error)
			return 0;
		if (error != -EBUSY)
			return zm_why_errno(why, error, "cannot remove cgroup %s", path);
		if (zm_clock_now_ns() >= deadline_ns)
			return zm_why_set(why, error,
					  "cannot remove cgroup %s: a task in it does not end",
					  path);
		(void)zm_clock_sleep_until(zm_clock_now_ns() + CGROUP_POLL_NS);
	}
}

/* A cgroup that is not a hierarchy's top and that this process is not in. */
static int open_cgroup(const char *path, const char *what, int *ret_fd, struct zm_why *why)
{
	zm_autoclose int fd = open(path, OPEN_DIRECTORY);

	if (fd < 0)
		return zm_why_errno(why, -errno, "cannot %s cgroup %s", what, path);
	if (!is_cgroup(fd) || zm_path_is_mount(path))
		return zm_why_set(why, -EINVAL, "%s is no cgroup to %s", path, what);
	if (visit_tree(fd, visit_is_self, NULL))
		return zm_why_set(why, -EBUSY, "cannot %s cgroup %s: this process is in it", what,
				  path);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int zm_remove_cgroup(const char *path, struct zm_why *why)
{
	zm_autoclose int fd = -1;
	int error = open_cgroup(path, "remove", &fd, why);

	if (error)
		return error == -ENOENT ? 0 : error;
	return kill_and_rmdir(fd, path, why);
}

static int visit_has_task(int fd, void *context)
{
	zm_autofclose FILE *tasks = open_tasks(fd);
	long pid;

	(void)context;
	return tasks && fscanf(tasks, "%ld", &pid) == 1 ? -EBUSY : 0;
}

int zm_kill_cgroup(const char *path, struct zm_why *why)
{
	uint64_t deadline_ns = zm_clock_now_ns() + CGROUP_WAIT_NS;
	zm_autoclose int fd = -1;
	int error = open_cgroup(path, "empty", &fd, why);

	while (!error && visit_tree(fd, visit_has_task, NULL)) {
		if (zm_clock_now_ns() >= deadline_ns)
			return zm_why_set(why, -EBUSY,
					  "cannot empty cgroup %s: a task in it does not end",
					  path);
		kill_tree(fd);
		(void)zm_clock_sleep_until(zm_clock_now_ns() + CGROUP_POLL_NS / 5);
	}
	return error;
}
