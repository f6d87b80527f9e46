/*
 * tree: a directory of our own for a test: files made below it, read back, and all of it removed.
 */
#ifndef ZM_WORKLOADS_BASE_TESTS_TREE_H
#define ZM_WORKLOADS_BASE_TESTS_TREE_H

#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char path[PATH_MAX / 2];
};

/* What a test cannot go on without: ends it with a line on stderr. */
#define tree_must(condition)                                                                       \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static inline void tree_make(struct tree *tree)
{
	(void)snprintf(tree->path, sizeof(tree->path), "%s/zm-test-XXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	tree_must(mkdtemp(tree->path));
}

static inline int tree_remove_one(const char *path, const struct stat *status, int type,
				  struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static inline void tree_remove(struct tree *tree)
{
	tree_must(nftw(tree->path, tree_remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0);
}

/* The whole path of a file below; good until the fourth next call. */
static inline const char *tree_path(const struct tree *tree, const char *file)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, PATH_MAX, "%s/%s", tree->path, file);
	return path;
}

static inline void tree_mkdir(const struct tree *tree, const char *directory)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s/", tree->path, directory);

	if (length < 0 || (size_t)length >= sizeof(path))
		abort();
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
}

static inline void tree_make_parent(const struct tree *tree, const char *file)
{
	char parent[PATH_MAX];
	char *slash;

	(void)snprintf(parent, sizeof(parent), "%s", file);
	slash = strrchr(parent, '/');
	if (slash) {
		*slash = '\0';
		tree_mkdir(tree, parent);
	}
}

static inline void tree_write_bytes(const struct tree *tree, const char *file, const void *bytes,
				    size_t length)
{
	FILE *out;

	tree_make_parent(tree, file);
	out = fopen(tree_path(tree, file), "we");
	tree_must(out);
	tree_must(fwrite(bytes, 1, length, out) == length);
	tree_must(fclose(out) == 0);
}

/* Makes the file, and the directories above it. */
static inline void tree_write(const struct tree *tree, const char *file, const char *text)
{
	tree_write_bytes(tree, file, text, strlen(text));
}

static inline void tree_link(const struct tree *tree, const char *name, const char *target)
{
	tree_make_parent(tree, name);
	tree_must(symlink(target, tree_path(tree, name)) == 0);
}

/* Its first bytes, terminated; "" for a file that is not there. */
static inline const char *tree_read(const struct tree *tree, const char *file)
{
	static char text[4096];
	FILE *in = fopen(tree_path(tree, file), "re");
	size_t length = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

	text[length] = '\0';
	if (in)
		(void)fclose(in);
	return text;
}

static inline int tree_has(const struct tree *tree, const char *file)
{
	struct stat status;

	return lstat(tree_path(tree, file), &status) == 0;
}

#endif
