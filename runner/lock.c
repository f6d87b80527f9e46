/*
 * lock: an flock on one file that all users of the machine share.
 *
 *     where   /run/lock where everybody may write there, else /tmp: the same place for every user
 *     open    an existing file, never through a link; else made for everybody to open. In a sticky
 *             directory the kernel refuses O_CREAT on another user's file, so the two are apart
 *     hold    the holder writes its pid and command into it, for those that are refused
 */
#include "runner/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

#define NAME       "zonemark.lock"
#define OPEN_FLAGS (O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define TRIES      16 /* of finding it and making it in turn, while others do the same */
#define TEXT_SIZE  256

static const char *usual_path(void)
{
	struct stat status;

	if (stat("/run/lock", &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & 0002))
		return "/run/lock/" NAME;
	return "/tmp/" NAME;
}

/* A descriptor or -errno. */
static int open_or_make(const char *path)
{
	for (int i = 0; i < TRIES; i++) {
		int fd = open(path, OPEN_FLAGS);

		if (fd >= 0 || errno != ENOENT)
			return fd >= 0 ? fd : -errno;
		fd = open(path, OPEN_FLAGS | O_CREAT | O_EXCL, 0666);
		if (fd >= 0) {
			(void)fchmod(fd, 0666);
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EAGAIN;
}

/* A file with a second name might be somebody's document. */
static bool is_plain(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

/* Is the locked file still the one with the name? Not when it was removed before we locked it. */
static bool has_name(int fd, const char *path)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && lstat(path, &named) == 0 && ours.st_dev == named.st_dev &&
	       ours.st_ino == named.st_ino;
}

/* What stands in the file comes from another user, perhaps: printable characters only. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

static void write_holder(int fd)
{
	char command[TEXT_SIZE - 32] = "", text[TEXT_SIZE];
	int cmdline = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = cmdline < 0 ? 0 : read(cmdline, command, sizeof(command) - 1);

	if (cmdline >= 0)
		(void)close(cmdline);
	for (ssize_t i = 0; i + 1 < length; i++)
		if (command[i] == '\0')
			command[i] = ' ';
	make_printable(command);
	length = snprintf(text, sizeof(text), "%ld %s\n", (long)getpid(), command);
	if (ftruncate(fd, 0) == 0 && length > 0)
		(void)!pwrite(fd, text, (size_t)length, 0);
}

static int say_holder(int fd, struct zm_why *why)
{
	char text[TEXT_SIZE] = "", *end;
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
	long pid = length > 0 ? strtol(text, &end, 10) : 0;

	if (pid <= 0)
		return zm_why_set(
			why, -EBUSY,
			"another zonemark is measuring on this machine: wait for its end, or "
			"insist with --share");
	make_printable(end);
	while (*end == ' ')
		end++;
	for (char *last = end + strlen(end); last > end && last[-1] == ' ';)
		*--last = '\0';
	return zm_why_set(
		why, -EBUSY,
		"process %ld (%s) is measuring on this machine: wait for its end, or insist "
		"with --share",
		pid, end);
}

static int say_unusable(int error, const char *path, struct zm_why *why)
{
	if (error == -ELOOP)
		return zm_why_set(why, error, "%s is a link that somebody planted: remove it",
				  path);
	return zm_why_errno(why, error, "cannot use the lock %s: remove it, or insist with --share",
			    path);
}

int zm_lock_take_at(const char *path, int *ret_fd, struct zm_why *why)
{
	for (int i = 0; i < TRIES; i++) {
		zm_autoclose int fd = open_or_make(path);

		if (fd < 0)
			return say_unusable(fd, path, why);
		if (!is_plain(fd))
			return zm_why_set(why, -EPERM, "%s is no plain file: remove it", path);
		if (flock(fd, LOCK_EX | LOCK_NB))
			return errno == EWOULDBLOCK ? say_holder(fd, why)
						    : say_unusable(-errno, path, why);
		if (!has_name(fd, path))
			continue;
		write_holder(fd);
		*ret_fd = fd;
		fd = -1;
		return 0;
	}
	return say_unusable(-EAGAIN, path, why);
}

int zm_lock_take(int *ret_fd, struct zm_why *why)
{
	return zm_lock_take_at(usual_path(), ret_fd, why);
}
