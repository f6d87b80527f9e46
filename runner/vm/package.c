/*
 * package: apt-cache says which (once a day), apt-get fetches it, dpkg-deb unpacks it beside its final name.
 */
#include "runner/vm/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runner/vm/bytes.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/remove.h"

#define USUAL  "linux-image-amd64"
#define PREFIX "linux-image-"
#define ANSWER "debian"
#define DAY_S  (24 * 3600)

int zm_vm_package_find(const char *usual, const char *prefix, char *name, size_t size,
		       struct zm_why *why)
{
	const char *const argv[] = { "apt-cache", "depends", usual, NULL };
	zm_autofree char *text = NULL;
	const char *at;
	int r = zm_vm_tool_ask(&(struct zm_vm_tool){ .argv = argv, .in_fd = -1 }, &text, why);

	if (r < 0)
		return r;
	for (at = text; (at = strstr(at, "Depends: "));) {
		at += strlen("Depends: ");
		if (strncmp(at, prefix, strlen(prefix)) != 0)
			continue;
		(void)snprintf(name, size, "%.*s", (int)strcspn(at, " \n"), at);
		return 0;
	}
	return zm_why_set(why, -ENOENT, "apt knows no %s; run apt-get update", usual);
}

/* apt takes seconds to say it on a busy machine, and rarely says another: it is asked once a day. */
static int recall(const char *cache, char *name, size_t size)
{
	zm_autofree char *path = NULL;
	zm_autofree char *folder = NULL;
	zm_autofree uint8_t *text = NULL;
	struct stat stat_now;

	if (asprintf(&path, "%s/" ANSWER, cache) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (stat(path, &stat_now) < 0 || time(NULL) - stat_now.st_mtim.tv_sec > DAY_S ||
	    zm_vm_bytes_read(path, &text, NULL) < 0)
		return -ENOENT;
	if (asprintf(&folder, "%s/%s", cache, (const char *)text) < 0) {
		folder = NULL;
		return -ENOMEM;
	}
	if (!*text || access(folder, R_OK) < 0)
		return -ENOENT;
	(void)snprintf(name, size, "%s", (const char *)text);
	return 0;
}

static void remember(const char *cache, const char *name)
{
	zm_autofree char *path = NULL;

	if (asprintf(&path, "%s/" ANSWER, cache) < 0)
		path = NULL;
	else
		(void)zm_vm_bytes_write(path, name, strlen(name));
}

/* What an earlier time unpacked, for a machine that cannot fetch now. */
static int find_unpacked(const char *cache, char *name, size_t size)
{
	zm_autoclosedir DIR *dir = opendir(cache);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    strchr(entry->d_name, '+'))
			continue;
		(void)snprintf(name, size, "%s", entry->d_name);
		return 0;
	}
	return -ENOENT;
}

static int find_deb(const char *folder, char **ret_path)
{
	zm_autoclosedir DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length > 4 && strcmp(entry->d_name + length - 4, ".deb") == 0)
			return asprintf(ret_path, "%s/%s", folder, entry->d_name) < 0 ? -ENOMEM : 0;
	}
	return -ENOENT;
}

typedef int (*finish_fn)(const char *folder, const char *name, struct zm_why *why);

static int fetch_into(const char *folder, const char *name, finish_fn finish, struct zm_why *why)
{
	const char *const fetch[] = { "apt-get", "-qq", "download", name, NULL };
	zm_autofree char *deb = NULL;
	int r = zm_vm_tool_run(
		&(struct zm_vm_tool){
			.argv = fetch, .directory = folder, .in_fd = -1, .out_fd = -1 },
		why);

	if (r == 0 && find_deb(folder, &deb) < 0)
		r = zm_why_set(why, -ENOENT, "apt-get download left no package");
	if (r == 0) {
		const char *const unpack[] = { "dpkg-deb", "-x", deb, folder, NULL };

		r = zm_vm_tool_run(
			&(struct zm_vm_tool){ .argv = unpack, .in_fd = -1, .out_fd = -1 }, why);
		(void)unlink(deb);
	}
	return r == 0 && finish ? finish(folder, name, why) : r;
}

/* One at a time: a second command waits and finds it there. */
static int lock_cache(const char *cache, int flags)
{
	zm_autofree char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/lock", cache) < 0) {
		path = NULL;
		return -1;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	while (fd >= 0 && flock(fd, LOCK_EX | flags) < 0) {
		if (errno == EINTR)
			continue;
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Under another name until it is whole; what one that was killed left there is removed. */
static int fetch(const char *cache, const char *folder, const char *name, finish_fn finish,
		 struct zm_why *why)
{
	zm_autofree char *temporary = NULL;
	zm_autoclose int lock_fd = lock_cache(cache, 0);
	int r;

	if (access(folder, R_OK) == 0)
		return 0;
	if (asprintf(&temporary, "%s+", folder) < 0) {
		temporary = NULL;
		return zm_why_errno(why, -ENOMEM, "%s", name);
	}
	if (lock_fd >= 0 && access(temporary, F_OK) == 0)
		(void)zm_remove_tree(temporary, NULL);
	if (lock_fd < 0 || mkdir(temporary, 0755) < 0)
		return zm_why_errno(why, -errno, "%s", temporary);
	(void)fprintf(stderr, "fetching %s, once\n", name);
	r = fetch_into(temporary, name, finish, why);
	if (r == 0 && rename(temporary, folder) < 0 && access(folder, R_OK) < 0)
		r = zm_why_errno(why, -errno, "%s", folder);
	if (access(temporary, F_OK) == 0)
		(void)zm_remove_tree(temporary, NULL);
	if (r < 0)
		zm_why_prefix(why, "the package %s cannot be had (try apt-get update)", name);
	return r;
}

void zm_vm_package_clean(const char *name, const char *cache)
{
	zm_autofree char *temporary = NULL;
	zm_autoclose int lock_fd = lock_cache(cache, LOCK_NB);

	if (asprintf(&temporary, "%s/%s+", cache, name) < 0)
		temporary = NULL;
	else if (lock_fd >= 0 && access(temporary, F_OK) == 0)
		(void)zm_remove_tree(temporary, NULL);
}

int zm_vm_package_open(const char *name, const char *cache, char **ret_folder, struct zm_why *why)
{
	char depended[256];
	int r = 0;

	if (!name && recall(cache, depended, sizeof(depended)) == 0)
		name = depended;
	if (!name) {
		r = zm_vm_package_find(USUAL, PREFIX, depended, sizeof(depended), why);
		if (r == 0)
			remember(cache, depended);
		if (r < 0 && find_unpacked(cache, depended, sizeof(depended)) == 0)
			r = 0;
		name = depended;
	}
	if (r == 0 && (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strchr(name, '/')))
		r = zm_why_set(why, -EINVAL, "%s: a kernel package's name begins with " PREFIX,
			       name);
	if (r < 0)
		return r;
	return zm_vm_package_fetch(name, cache, NULL, ret_folder, why);
}

int zm_vm_package_fetch(const char *name, const char *cache, finish_fn finish, char **ret_folder,
			struct zm_why *why)
{
	char *folder;
	int r = 0;

	if (asprintf(&folder, "%s/%s", cache, name) < 0)
		return zm_why_errno(why, -ENOMEM, "%s", name);
	if (access(folder, R_OK) < 0)
		r = fetch(cache, folder, name, finish, why);
	if (r < 0)
		free(folder);
	else
		*ret_folder = folder;
	return r;
}
