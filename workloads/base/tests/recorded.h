/*
 * recorded: machines that somebody recorded, for tests that have them.
 *
 *     machines/INDEX.tsv in the directory that ZM_SHARED names, or that `shared` beside the source
 *     folder is: one line a machine with its archive, the prefix in it, and what it has. Each archive
 *     is unpacked into a tree of its own, given to the test, and removed again.
 */
#ifndef ZM_WORKLOADS_BASE_TESTS_RECORDED_H
#define ZM_WORKLOADS_BASE_TESTS_RECORDED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>

#include "workloads/base/tests/tree.h"

#define RECORDED_COLUMNS 10

/* "-" or "" in a column: not said. */
struct recorded {
	const char *archive;
	const char *prefix; /* "" or "machine/" */
	const char *cpus_online;
	const char *cpus_possible;
	const char *cpus_offline;
	const char *nodes; /* how many */
	const char *root;  /* the directory that the machine lies in */
};

/* NULL: there are none here. */
static inline const char *recorded_directory(void)
{
	static char path[PATH_MAX];
	const char *shared = getenv("ZM_SHARED");

	(void)snprintf(path, sizeof(path), "%s/machines",
		       shared ? shared : ZM_SOURCE_DIR "/../shared");
	return access(path, R_OK) == 0 ? path : NULL;
}

static inline bool recorded_is_said(const char *column)
{
	return *column && strcmp(column, "-") != 0;
}

/* The program's exit status, its complaints unheard. */
static inline int recorded_run(const char *const *argv)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		(void)!freopen("/dev/null", "w", stderr);
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* What of a machine tests look at: the kernel's files of CPUs, nodes, memory and processes. */
static inline bool recorded_unpack(const char *archive, const char *target)
{
	const char *const argv[] = {
		"tar",
		"-xf",
		archive,
		"-C",
		target,
		"--no-same-owner",
		"--wildcards",
		"--wildcards-match-slash",
		"--exclude=*/cpuidle/*",
		"--exclude=*/power/*",
		"--exclude=*/hotplug/*",
		"*sys/devices/system/*",
		"*sys/devices/cpu*",
		"*sys/kernel/mm/*",
		"*sys/fs/cgroup/*",
		"*sys/class/dmi/*",
		"*sys/devices/virtual/dmi/*",
		"*proc/*",
		"*etc/*",
		NULL,
	};
	int status = recorded_run(argv);

	/* 2: some pattern matched nothing, which is usual. */
	return status == 0 || status == 2;
}

/* The tree of the machine that is being looked at: a failed test leaves it to the group's end. */
static struct tree recorded_tree;

static inline int recorded_tear_down(void **state)
{
	const char *const argv[] = { "chmod", "-R", "u+rwX", recorded_tree.path, NULL };

	(void)state;
	if (!recorded_tree.path[0])
		return 0;
	(void)recorded_run(argv);
	tree_remove(&recorded_tree);
	recorded_tree.path[0] = '\0';
	return 0;
}

/* Cuts a line at its tabs; missing columns are "". */
static inline void recorded_split(char *line, char **columns)
{
	static char empty[] = "";

	line[strcspn(line, "\n")] = '\0';
	for (int i = 0; i < RECORDED_COLUMNS; i++) {
		char *tab = line ? strchr(line, '\t') : NULL;

		columns[i] = line ? line : empty;
		if (tab)
			*tab = '\0';
		line = tab ? tab + 1 : NULL;
	}
}

/* Calls see for each recorded machine. How many there were. */
static inline unsigned int recorded_each(void (*see)(const struct recorded *machine))
{
	const char *directory = recorded_directory();
	char path[PATH_MAX + 64], line[1024];
	unsigned int nr = 0;
	FILE *index;

	if (!directory)
		return 0;
	(void)snprintf(path, sizeof(path), "%s/INDEX.tsv", directory);
	index = fopen(path, "re");
	while (index && fgets(line, sizeof(line), index)) {
		char *columns[RECORDED_COLUMNS], root[PATH_MAX];

		recorded_split(line, columns);
		/* A column with a newline in it goes on in a line that names no archive. */
		if (!strchr(columns[0], '/'))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", directory, columns[0]);
		if (access(path, R_OK))
			continue;
		tree_make(&recorded_tree);
		(void)snprintf(root, sizeof(root), "%s/%s", recorded_tree.path, columns[1]);
		const struct recorded machine = { columns[0], columns[1], columns[2], columns[3],
						  columns[4], columns[5], root };
		if (recorded_unpack(path, recorded_tree.path) && access(root, R_OK) == 0) {
			see(&machine);
			nr++;
		}
		(void)recorded_tear_down(NULL);
	}
	if (index)
		(void)fclose(index);
	return nr;
}

#endif
