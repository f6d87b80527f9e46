/* words: typed texts -> arrays of words, absolute paths. */
#include "runner/ab/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/dburl.h"
#include "results/store.h"
#include "runner/invocation.h"

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

/* Is there a workload, a matrix or a file of the first word's name? What else is wrong with the line may
 * be so on this machine only: the guest, or the other kernel, has the say. */
static int check_name(const char *const *words, const char *name, struct zm_why *why)
{
	const struct zm_invocation_ask ask = { .words = words, .nr_words = 1 };
	struct zm_topology topology = { 0 };
	struct zm_plan plan = { 0 };
	struct zm_why cause = { "" };
	struct zm_sysroot root;
	int r = zm_sysroot_open(&root, NULL);

	if (r < 0)
		return zm_why_errno(why, r, "/");
	r = zm_invocation_topology(NULL, &root, &topology, &cause);
	if (r == 0)
		r = zm_invocation_plan(&ask, &root, &topology, &plan, &cause);
	if (r == 0)
		zm_plan_release(&plan);
	zm_topology_release(&topology);
	zm_sysroot_release(&root);
	return r == -ENOENT ? zm_why_set(why, r, "%s: %s", name, cause.text) : 0;
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
	return nr_words ? check_name(words, name, why) : 0;
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
	if (r < 0)
		return zm_why_errno(why, r, "the store");
	if (!zm_dburl_is(db))
		return zm_ab_path_absolute(db, buf, size, why);
	if ((size_t)snprintf(buf, size, "%s", db) >= size)
		return zm_why_set(why, -ENAMETOOLONG, "the store's URL is too long");
	return 0;
}
