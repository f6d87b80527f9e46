/* site: a folder of files that takes the place of the one before it, whole or not at all. */
#include "results/web/site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/remove.h"

/* By it a folder is known as a site. */
#define MARK "zonemark-site.txt"

static const char mark_text[] =
	"This folder is written by `zonemark dashboard` and replaced as a whole.\n";

/* --- where --- */

/* Absolute, without a link at its end, and without a slash. */
static int find_path(struct zm_site *site, const char *path, struct zm_why *why)
{
	zm_autofree char *folder = NULL, *whole = strdup(path);
	char *slash;

	if (!whole)
		return -ENOMEM;
	while (strlen(whole) > 1 && whole[strlen(whole) - 1] == '/')
		whole[strlen(whole) - 1] = '\0';
	site->path = realpath(whole, NULL);
	if (site->path)
		return 0;
	if (errno != ENOENT)
		return zm_why_errno(why, -errno, "%s: cannot be the site's folder", path);
	slash = strrchr(whole, '/');
	if (slash)
		*slash = '\0';
	folder = realpath(!slash ? "." : slash == whole ? "/" : whole, NULL);
	if (!folder)
		return zm_why_errno(why, -errno, "%s: the folder it is to be in", path);
	if (asprintf(&site->path, "%s/%s", folder, slash ? slash + 1 : whole) < 0) {
		site->path = NULL;
		return -ENOMEM;
	}
	return 0;
}

static bool is_empty(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	size_t nr = 0;

	if (!dir) {
		(void)close(fd);
		return false;
	}
	while ((entry = readdir(dir)))
		nr += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	(void)closedir(dir);
	return nr == 0;
}

/* May what is there be replaced? */
static int look_at_old(struct zm_site *site, struct zm_why *why)
{
	int fd;

	site->old_fd = open(site->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (site->old_fd < 0 && errno == ENOENT)
		return 0;
	if (site->old_fd < 0)
		return zm_why_errno(why, -errno, "%s: cannot be the site's folder", site->path);
	if (faccessat(site->old_fd, MARK, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	fd = openat(site->old_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && is_empty(fd))
		return 0;
	return zm_why_set(why, -ENOTEMPTY,
			  "%s: is not empty and not a site of zonemark; give a folder of its own",
			  site->path);
}

/* --- the new one --- */

static int open_part(struct zm_site *site, struct zm_why *why)
{
	if (mkdir(site->part, 0777) < 0 && errno != EEXIST)
		return zm_why_errno(why, -errno, "%s: cannot be made", site->part);
	site->fd = open(site->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (site->fd < 0)
		return zm_why_errno(why, -errno, "%s: cannot be opened", site->part);
	if (flock(site->fd, LOCK_EX | LOCK_NB) < 0) {
		(void)close(site->fd);
		site->fd = -1;
		return zm_why_set(
			why, -EBUSY,
			"%s: another `zonemark dashboard` is writing this site; wait for it",
			site->path);
	}
	return 0;
}

/* Is the folder that is locked still the one of that name? */
static bool is_current(const struct zm_site *site)
{
	struct stat held, named;

	return fstat(site->fd, &held) == 0 && lstat(site->part, &named) == 0 &&
	       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static int make_part(struct zm_site *site, struct zm_why *why)
{
	int fd, error = open_part(site, why);

	if (error)
		return error;
	fd = openat(site->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (is_current(site) && fd >= 0 && is_empty(fd))
		return 0;
	/* A killed one's; it is ours as long as we hold the lock. */
	error = is_current(site) ? zm_remove_tree(site->part, why) : 0;
	(void)close(site->fd);
	site->fd = -1;
	if (!error)
		error = open_part(site, why);
	if (!error && !is_current(site))
		error = zm_why_set(why, -EBUSY, "%s: another is writing this site", site->path);
	return error;
}

int zm_site_begin(struct zm_site *site, const char *path, struct zm_why *why)
{
	int error;

	*site = (struct zm_site){ .fd = -1, .old_fd = -1 };
	error = find_path(site, path, why);
	if (!error)
		error = look_at_old(site, why);
	if (!error && asprintf(&site->part, "%s.part", site->path) < 0) {
		site->part = NULL;
		error = -ENOMEM;
	}
	if (!error)
		error = make_part(site, why);
	if (!error)
		error = zm_site_bytes(site, MARK, mark_text, sizeof(mark_text) - 1, why);
	if (error)
		zm_site_drop(site);
	return error;
}

int zm_site_folder(struct zm_site *site, const char *name, struct zm_why *why)
{
	if (mkdirat(site->fd, name, 0777) < 0)
		return zm_why_errno(why, -errno, "%s/%s: cannot be made", site->part, name);
	return 0;
}

int zm_site_file(struct zm_site *site, const char *name, FILE **ret_out, struct zm_why *why)
{
	int fd = openat(site->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		int error = zm_why_errno(why, -errno, "%s/%s: cannot be written", site->path, name);

		if (fd >= 0)
			(void)close(fd);
		return error;
	}
	*ret_out = out;
	return 0;
}

int zm_site_close(struct zm_site *site, const char *name, FILE *out, struct zm_why *why)
{
	bool has_failed = ferror(out) != 0 || fflush(out) != 0;
	int error = has_failed ? (errno ? -errno : -EIO) : 0;
	long size = ftell(out);

	if (fclose(out) != 0 && !error)
		error = -errno;
	if (error)
		return zm_why_errno(why, error,
				    "%s: %s cannot be written; the site stays as it was",
				    site->path, name);
	site->nr_files++;
	site->nr_bytes += size > 0 ? (uint64_t)size : 0;
	return 0;
}

int zm_site_bytes(struct zm_site *site, const char *name, const void *bytes, size_t size,
		  struct zm_why *why)
{
	FILE *out = NULL;
	int error = zm_site_file(site, name, &out, why);

	if (error)
		return error;
	(void)fwrite(bytes, 1, size, out);
	return zm_site_close(site, name, out, why);
}

int zm_site_take(struct zm_site *site, const char *name)
{
	struct stat status;

	if (site->old_fd < 0 || linkat(site->old_fd, name, site->fd, name, 0) < 0)
		return -ENOENT;
	if (fstatat(site->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		site->nr_bytes += (uint64_t)status.st_size;
	site->nr_files++;
	return 0;
}

/* --- taking the old one's place --- */

/* For file systems that cannot exchange two names: the old site is away for a moment. */
static int step_aside(struct zm_site *site)
{
	zm_autofree char *aside = NULL;
	int error = 0;

	if (asprintf(&aside, "%s.old", site->path) < 0) {
		aside = NULL;
		return -ENOMEM;
	}
	if (rename(site->path, aside) < 0)
		return -errno;
	if (rename(site->part, site->path) < 0) {
		error = -errno;
		(void)rename(aside, site->path);
		return error;
	}
	return zm_remove_tree(aside, NULL);
}

static int take_place(struct zm_site *site)
{
	if (site->old_fd < 0)
		return rename(site->part, site->path) < 0 ? -errno : 0;
	/* It will have the name of the part for a moment: nobody else is to take it for one. */
	if (flock(site->old_fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	if (renameat2(AT_FDCWD, site->part, AT_FDCWD, site->path, RENAME_EXCHANGE) == 0)
		return zm_remove_tree(site->part, NULL);
	return errno == EINVAL || errno == ENOSYS ? step_aside(site) : -errno;
}

int zm_site_finish(struct zm_site *site, struct zm_why *why)
{
	int error = syncfs(site->fd) < 0 ? -errno : take_place(site);

	if (error)
		return zm_why_errno(why, error, "%s: the new site cannot take its place",
				    site->path);
	free(site->part);
	site->part = NULL;
	return 0;
}

void zm_site_drop(struct zm_site *site)
{
	if (site->part && site->fd >= 0)
		(void)zm_remove_tree(site->part, NULL);
	if (site->fd >= 0)
		(void)close(site->fd);
	if (site->old_fd >= 0)
		(void)close(site->old_fd);
	free(site->path);
	free(site->part);
	*site = (struct zm_site){ .fd = -1, .old_fd = -1 };
}
