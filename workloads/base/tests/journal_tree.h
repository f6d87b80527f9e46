/*
 * The small machine in which journals are tested: settings of every form in a tree of one's own, a
 * journal directory, and a recovery whose lines are counted. Each test program has its own.
 */
#ifndef ZM_WORKLOADS_BASE_TESTS_JOURNAL_TREE_H
#define ZM_WORKLOADS_BASE_TESTS_JOURNAL_TREE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/journal.h"
#include "workloads/base/journal_file.h"
#include "workloads/base/tests/tree.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define FRACTION "proc/sys/vm/percpu_pagelist_high_fraction"
#define THP      "sys/kernel/mm/transparent_hugepage/enabled"
#define POOL     "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
#define RMEM     "proc/sys/net/ipv4/tcp_rmem"
#define PATTERN  "proc/sys/kernel/core_pattern"

static struct tree tree;
static struct zm_sysroot root;
static char directory[PATH_MAX];
static struct zm_why why;

static const struct {
	const char *path;
	const char *text;
	const char *undone; /* as it reads after a change and its undo */
} files[] = {
	{ FRACTION, "0\n", "0" }, { THP, "always [madvise] never\n", "madvise" },
	{ POOL, "30\n", "30" },   { RMEM, "4096\t131072\t6291456\n", "4096\t131072\t6291456" },
	{ PATTERN, "\n", "\n" },
};

static __attribute__((unused)) int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	for (size_t i = 0; i < nr_of(files); i++)
		tree_write(&tree, files[i].path, files[i].text);
	(void)snprintf(directory, sizeof(directory), "%s/state/journal", tree.path);
	memset(&why, 0, sizeof(why));
	return zm_sysroot_open_writable(&root, tree.path);
}

static __attribute__((unused)) int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

/* --- helpers --------------------------------------------------------------------------------- */

static __attribute__((unused)) struct zm_journal *open_journal(void)
{
	struct zm_journal *journal = NULL;

	assert_int_equal(zm_journal_open(&root, directory, &journal, &why), 0);
	return journal;
}

/* Files in the journal directory whose name ends so. */
static __attribute__((unused)) size_t count_names(const char *end)
{
	DIR *listing = opendir(directory);
	size_t nr = 0;

	for (struct dirent *entry; listing && (entry = readdir(listing));) {
		size_t length = strlen(entry->d_name);

		nr += length > strlen(end) &&
		      strcmp(entry->d_name + length - strlen(end), end) == 0;
	}
	if (listing)
		(void)closedir(listing);
	return nr;
}

static __attribute__((unused)) void assert_text(const char *file, const char *text)
{
	assert_string_equal(tree_read(&tree, file), text);
}

/* Runs act in a child that is killed as soon as it has returned. */
static __attribute__((unused)) void die_after(void (*act)(struct zm_journal *journal))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct zm_journal *journal;

		if (zm_journal_open(&root, directory, &journal, NULL) == 0)
			act(journal);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static unsigned int nr_lines;
static char last_line[ZM_WHY_SIZE];

static __attribute__((unused)) void count_line(void *context, const char *line)
{
	assert_ptr_equal(context, &nr_lines);
	nr_lines++;
	(void)snprintf(last_line, sizeof(last_line), "%s", line);
}

static __attribute__((unused)) int recover(void)
{
	nr_lines = 0;
	last_line[0] = '\0';
	memset(&why, 0, sizeof(why));
	return zm_journal_recover(&root, directory, count_line, &nr_lines, &why);
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif
