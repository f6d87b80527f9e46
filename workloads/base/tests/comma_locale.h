/*
 * comma_locale: a locale whose decimal point is a comma, for tests that numbers do not follow it.
 *
 * One of the system's, or one made on the spot by localedef(1) in a directory of its own.
 */
#ifndef ZM_WORKLOADS_BASE_TESTS_COMMA_LOCALE_H
#define ZM_WORKLOADS_BASE_TESTS_COMMA_LOCALE_H

#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/tests/tree.h"

static inline bool comma_locale_is_set(const char *name)
{
	return setlocale(LC_NUMERIC, name) && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* localedef warns of the categories that are not there, with status 1, and makes it all the same. */
static inline void comma_locale_compile(const char *source, const char *target)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		(void)dup2(null, STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
		(void)execlp("localedef", "localedef", "-c", "-i", source, target, (char *)NULL);
		_exit(127);
	}
	if (child > 0)
		(void)waitpid(child, &status, 0);
}

static inline bool comma_locale_make(void)
{
	struct tree tree;
	bool is_set;

	tree_make(&tree);
	tree_write(&tree, "comma",
		   "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\n"
		   "END LC_NUMERIC\n");
	comma_locale_compile(tree_path(&tree, "comma"), tree_path(&tree, "xx_XX"));
	(void)setenv("LOCPATH", tree.path, 1);
	is_set = comma_locale_is_set("xx_XX");
	(void)unsetenv("LOCPATH");
	tree_remove(&tree);
	return is_set;
}

/* False where no such locale can be had; the C locale is then in force. */
static inline bool comma_locale_use(void)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
					     "nl_NL.UTF-8" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (comma_locale_is_set(names[i]))
			return true;
	if (comma_locale_make())
		return true;
	(void)setlocale(LC_ALL, "C");
	return false;
}

#endif
