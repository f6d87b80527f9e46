/* scratch: nameless files, and what their directory is. */
#include "faultload/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

const struct zm_option zm_scratch_options[] = {
	{ .name = "dir",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct zm_scratch_options, dir),
	  .help = "directory of the tasks' files; $TMPDIR or /tmp when not given" },
	{ .name = NULL },
};

const char *zm_scratch_dir(const char *chosen)
{
	const char *usual = getenv("TMPDIR");

	if (chosen && *chosen)
		return chosen;
	return usual && *usual ? usual : "/tmp";
}

int zm_scratch_check(const char *chosen, struct zm_why *why)
{
	const char *dir = zm_scratch_dir(chosen);
	struct stat st;
	int r = 0;

	if (stat(dir, &st) < 0)
		r = -errno;
	else if (!S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	else if (access(dir, W_OK | X_OK) < 0)
		r = -errno;
	if (r == 0)
		return 0;
	(void)zm_why_errno(why, r, "dir=%s: choose a directory in which you can make files", dir);
	return -EINVAL;
}

bool zm_scratch_is_memory(const char *chosen)
{
	struct statfs fs;

	if (statfs(zm_scratch_dir(chosen), &fs) < 0)
		return false;
	return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC;
}

/* With a name for the moment between two calls, where the file system knows no nameless files. */
static int open_and_unlink(const char *dir)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/zonemark.XXXXXX", dir);

	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;

	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (unlink(path) < 0) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	return fd;
}

int zm_scratch_open(const char *chosen, uint64_t bytes, int *ret_fd, struct zm_why *why)
{
	const char *dir = zm_scratch_dir(chosen);
	zm_autoclose int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd < 0)
		fd = open_and_unlink(dir);
	if (fd < 0)
		return zm_why_errno(why, fd, "dir=%s: cannot make a file there", dir);
	if (bytes > INT64_MAX || ftruncate(fd, (off_t)bytes) < 0)
		return zm_why_errno(why, bytes > INT64_MAX ? -EFBIG : -errno,
				    "dir=%s: cannot make a file of %llu bytes there", dir,
				    (unsigned long long)bytes);
	*ret_fd = fd;
	fd = -1;
	return 0;
}
