/* source: the cache's folders by their names, and what a clean tree looks like. */
#include "buildload/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

static bool has_file(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", folder, name);

	return n > 0 && (size_t)n < sizeof(path) && access(path, F_OK) == 0;
}

static int cache_folder(char *buf, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (cache && *cache == '/')
		n = snprintf(buf, size, "%s/zonemark", cache);
	else
		n = snprintf(buf, size, "%s/.cache/zonemark", home && *home == '/' ? home : "/var");
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* Of the names that begin as they must, the highest version. */
static bool find_newest(const char *folder, char *name, size_t size)
{
	zm_autoclosedir DIR *dir = opendir(folder);
	size_t length = strlen(ZM_SOURCE_PREFIX);
	bool found = false;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		const char *version = entry->d_name + length;

		if (strncmp(entry->d_name, ZM_SOURCE_PREFIX, length) != 0 ||
		    strspn(version, "0123456789.") != strlen(version))
			continue;
		if (found && strverscmp(entry->d_name, name) <= 0)
			continue;
		(void)snprintf(name, size, "%s", entry->d_name);
		found = true;
	}
	return found;
}

static int find_fetched(char *buf, size_t size, struct zm_why *why)
{
	char folder[PATH_MAX], name[256];

	if (cache_folder(folder, sizeof(folder)) < 0 || !find_newest(folder, name, sizeof(name)))
		return zm_why_set(why, -ENOTSUP,
				  "there is no kernel source to build: run `zonemark "
				  "fetch-kernel-source`, or give source=FOLDER");
	if ((size_t)snprintf(buf, size, "%s/%s", folder, name) >= size)
		return zm_why_set(why, -ENAMETOOLONG, "%s: too long a path", folder);
	return 0;
}

static int check_tree(const struct zm_source *source, struct zm_why *why)
{
	if (!has_file(source->path, "Makefile") && !has_file(source->path, "makefile") &&
	    !has_file(source->path, "GNUmakefile"))
		return zm_why_set(why, -EINVAL, "source=%s: there is no Makefile in it",
				  source->path);
	if (has_file(source->path, ".config") || has_file(source->path, "include/config"))
		return zm_why_set(why, -EINVAL,
				  "source=%s has been built in, and so cannot be built from "
				  "outside: make -C %s mrproper",
				  source->path, source->path);
	return 0;
}

int zm_source_find(const char *chosen, struct zm_source *ret_source, struct zm_why *why)
{
	struct zm_source source = { .path = "" };
	char fetched[PATH_MAX];
	int r = chosen && *chosen ? 0 : find_fetched(fetched, sizeof(fetched), why);

	if (r < 0)
		return r;
	if (!chosen || !*chosen)
		chosen = fetched;
	if (!realpath(chosen, source.path))
		return zm_why_set(why, errno == ENOMEM ? -ENOMEM : -EINVAL,
				  "source=%s: cannot be opened: %s", chosen, strerror(errno));
	source.is_kernel = has_file(source.path, "Kconfig") && has_file(source.path, "Kbuild");
	r = check_tree(&source, why);
	if (r == 0)
		*ret_source = source;
	return r;
}

bool zm_source_is_config_target(const char *config)
{
	size_t length = strlen(config);

	return !strchr(config, '/') && length > 6 && strcmp(config + length - 6, "config") == 0 &&
	       config[0] != '.';
}
