/* save: patterns are looked up below the root's own directory, so on a recorded machine too. */
#include "runner/save.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int save_one(const struct zm_sysroot *root, struct zm_journal *journal, const char *path,
		    struct zm_why *why)
{
	return zm_sysroot_has(root, path) ? zm_journal_save(journal, path, why) : 0;
}

static int save_pattern(const struct zm_sysroot *root, struct zm_journal *journal,
			const char *pattern, struct zm_why *why)
{
	char full[PATH_MAX];
	glob_t found;
	int length = snprintf(full, sizeof(full), "/proc/self/fd/%d/", root->dir_fd);
	int r;

	if (strlen(pattern) >= sizeof(full) - (size_t)length)
		return zm_why_errno(why, -ENAMETOOLONG, "%s", pattern);
	memcpy(full + length, pattern, strlen(pattern) + 1);
	r = glob(full, 0, NULL, &found);
	if (r == GLOB_NOMATCH)
		return 0;
	if (r != 0)
		return zm_why_errno(why, r == GLOB_NOSPACE ? -ENOMEM : -EIO, "/%s", pattern);
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = save_one(root, journal, found.gl_pathv[i] + length, why);
	globfree(&found);
	return r;
}

int zm_save_all(const struct zm_sysroot *root, struct zm_journal *journal, const char *const *paths,
		struct zm_why *why)
{
	int r = 0;

	for (size_t i = 0; r == 0 && paths && paths[i]; i++)
		r = strchr(paths[i], '*') ? save_pattern(root, journal, paths[i], why)
					  : save_one(root, journal, paths[i], why);
	return r;
}
