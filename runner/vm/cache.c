/* cache: made when it is needed; what is old is found by the time of its last use. */
#include "runner/vm/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		if (!slash)
			return 0;
		*slash = '/';
	}
}

int zm_vm_cache_open(char **ret_folder, struct zm_why *why)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder;
	int r;

	if (cache && *cache == '/')
		r = asprintf(&folder, "%s/zonemark", cache);
	else
		r = asprintf(&folder, "%s/.cache/zonemark", home && *home == '/' ? home : "/var");
	if (r < 0)
		return zm_why_errno(why, -ENOMEM, "the cache folder");
	r = make_folders(folder);
	if (r < 0) {
		(void)zm_why_errno(why, r, "%s: cannot make this folder; set XDG_CACHE_HOME",
				   folder);
		free(folder);
		return r;
	}
	*ret_folder = folder;
	return 0;
}

static bool is_older(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec < b->st_mtim.tv_sec ||
	       (a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec < b->st_mtim.tv_nsec);
}

/* How many there are, and the oldest of them. */
static unsigned int find_oldest(DIR *dir, const char *prefix, char *name, size_t size)
{
	struct stat oldest = { 0 }, stat;
	struct dirent *entry;
	unsigned int nr = 0;

	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
		    fstatat(dirfd(dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		if (nr++ == 0 || is_older(&stat, &oldest)) {
			oldest = stat;
			(void)snprintf(name, size, "%s", entry->d_name);
		}
	}
	return nr;
}

void zm_vm_cache_trim(const char *folder, const char *prefix, unsigned int keep)
{
	zm_autoclosedir DIR *dir = opendir(folder);
	char name[256];

	while (dir && find_oldest(dir, prefix, name, sizeof(name)) > keep)
		if (unlinkat(dirfd(dir), name, 0) < 0)
			return;
}
