/*
 * sysroot: reading and writing procfs and sysfs below a root that can be replaced.
 *
 * Everything that reads /proc or /sys goes through one of these, so that a recorded machine can
 * stand in for this one (tests, `--root DIR`). Paths are relative: "proc/meminfo",
 * "sys/devices/system/node/online" (a leading slash is dropped). Links and ".." of a recorded machine
 * stay inside it. A recorded machine is never written: zm_sysroot_write on one
 * that is not "/" returns -EROFS, unless it was opened to be written.
 */
#ifndef ZM_WORKLOADS_BASE_SYSROOT_H
#define ZM_WORKLOADS_BASE_SYSROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/cpuset.h"

struct zm_sysroot {
	int dir_fd;
	bool is_live; /* the root is "/" */
	bool is_writable; /* a tree that stands in for the kernel: tests of what is changed and undone */
};

/* path NULL or "/" is this machine. -ENOENT, -ENOTDIR… */
int zm_sysroot_open(struct zm_sysroot *root, const char *path);

/* The same, but zm_sysroot_write works on a tree too. It replaces the file's whole content at once,
 * as the kernel does. */
int zm_sysroot_open_writable(struct zm_sysroot *root, const char *path);
void zm_sysroot_release(struct zm_sysroot *root);

bool zm_sysroot_has(const struct zm_sysroot *root, const char *path);

/* The whole file, terminated; *ret_text is the caller's to free. Files up to 64 MiB, else -EFBIG. */
int zm_sysroot_read(const struct zm_sysroot *root, const char *path, char **ret_text,
		    size_t *ret_length);

/* Into the caller's buffer, terminated, without allocating; -ENOBUFS when it does not fit, and buf
 * holds as much as does. */
int zm_sysroot_read_into(const struct zm_sysroot *root, const char *path, char *buf, size_t size,
			 size_t *ret_length);

/* The first line without its newline, into buf; -ENOBUFS when it does not fit. */
int zm_sysroot_read_line(const struct zm_sysroot *root, const char *path, char *buf, size_t size);
int zm_sysroot_read_u64(const struct zm_sysroot *root, const char *path, uint64_t *ret_value);
int zm_sysroot_read_cpuset(const struct zm_sysroot *root, const char *path,
			   struct zm_cpuset *ret_set);

/* What a choice file has chosen: "never" of "always madvise [never]"; a file without brackets
 * gives its first word. */
int zm_sysroot_read_choice(const struct zm_sysroot *root, const char *path, char *buf, size_t size);

/* One write(2) of text; -EROFS on a recorded machine that was not opened writable. */
int zm_sysroot_write(const struct zm_sysroot *root, const char *path, const char *text);

/* The names in a directory that start with prefix and go on with a number ("node" of node0, node8),
 * as a set. A missing directory is the empty set. */
int zm_sysroot_list_numbered(const struct zm_sysroot *root, const char *path, const char *prefix,
			     struct zm_cpuset *ret_set);

/*
 * A file that is read again and again, from one descriptor into one buffer: what monitors use.
 * Opening allocates (the size now, doubled, and 4 KiB); reading allocates nothing.
 */
struct zm_sysfile {
	int fd;
	char *text; /* terminated */
	size_t length;
	size_t capacity;
};

int zm_sysfile_open(struct zm_sysfile *file, const struct zm_sysroot *root, const char *path);

/* Reads all of it anew. -ENOBUFS when the file has outgrown the buffer (text holds the cut part). */
int zm_sysfile_read(struct zm_sysfile *file);
void zm_sysfile_release(struct zm_sysfile *file);

#endif
