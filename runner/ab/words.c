/* words: typed texts -> arrays of words, absolute paths. */
#include "runner/ab/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/store.h"

static void add(json_t *words, const char *name, const char *value)
{
	if (!value)
		return;
	(void)json_array_append_new(words, json_string(name));
	(void)json_array_append_new(words, json_string(value));
}

json_t *zm_ab_guest_words(const struct zm_ab_guest *guest)
{
	json_t *words = json_array();

	add(words, "--modules", guest->modules);
	add(words, "--accel", guest->accel);
	add(words, "--cpus", guest->cpus);
	add(words, "--topology", guest->topology);
	add(words, "--memory", guest->memory);
	add(words, "--hugepages", guest->hugepages);
	add(words, "--timeout", guest->timeout);
	add(words, "--boot-timeout", guest->boot_timeout);
	return words;
}

json_t *zm_ab_line_words(const char *const *words, size_t nr_words)
{
	json_t *array = json_array();

	for (size_t i = 0; i < nr_words; i++)
		(void)json_array_append_new(array, json_string(words[i]));
	return array;
}

int zm_ab_line_check(const char *const *words, size_t nr_words, const char *name,
		     struct zm_why *why)
{
	for (size_t i = 0; i < nr_words; i++)
		if (strncmp(words[i], "--label", 7) == 0 || strncmp(words[i], "--db", 4) == 0)
			return zm_why_set(why, -EINVAL,
					  "%s: %s stands behind the matrix; --name and --db stand "
					  "before it",
					  name, words[i]);
	return 0;
}

int zm_ab_path_absolute(const char *path, char *buf, size_t size, struct zm_why *why)
{
	char folder[PATH_MAX] = "";

	if (*path != '/' && !getcwd(folder, sizeof(folder)))
		return zm_why_errno(why, -errno, "this folder");
	if ((size_t)snprintf(buf, size, "%s%s%s", folder, *path == '/' ? "" : "/", path) >= size)
		return zm_why_set(why, -ENAMETOOLONG, "%.200s: this name is too long", path);
	return 0;
}

int zm_ab_store_path(const char *db, char *buf, size_t size, struct zm_why *why)
{
	char path[PATH_MAX];
	int r = 0;

	if (!db) {
		r = zm_store_default_path(path, sizeof(path));
		db = path;
	}
	return r < 0 ? zm_why_errno(why, r, "the store") : zm_ab_path_absolute(db, buf, size, why);
}
