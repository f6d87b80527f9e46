/*
 * tree: a machine of a test's own making: a folder that stands for "/", and goes away.
 */
#ifndef ZM_RUNNER_MONITORS_TESTS_TREE_H
#define ZM_RUNNER_MONITORS_TESTS_TREE_H

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char root[64];
};

static inline void tree_make(struct tree *tree)
{
	(void)snprintf(tree->root, sizeof(tree->root), "/tmp/zm-tree-XXXXXX");
	if (!mkdtemp(tree->root))
		abort();
}

static inline int tree_remove_one(const char *path, const struct stat *info, int kind,
				  struct FTW *walk)
{
	(void)info, (void)kind, (void)walk;
	return remove(path);
}

static inline void tree_remove(const struct tree *tree)
{
	(void)nftw(tree->root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The text as the file at root/PATH, with the folders above it. The path is a format. */
static inline void __attribute__((format(printf, 3, 4)))
tree_write(const struct tree *tree, const char *text, const char *format, ...)
{
	char path[512];
	int length = snprintf(path, sizeof(path), "%s/", tree->root);
	va_list list;
	FILE *file;

	va_start(list, format);
	(void)vsnprintf(path + length, sizeof(path) - (size_t)length, format, list);
	va_end(list);
	for (char *slash = path + length; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		(void)mkdir(path, 0755);
	}
	file = fopen(path, "we");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

#endif
