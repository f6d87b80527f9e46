/* journal: what is changed comes back, for the owner and for those who come after a dead one; what
 * cannot be undone stays written down. */
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

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	for (size_t i = 0; i < nr_of(files); i++)
		tree_write(&tree, files[i].path, files[i].text);
	(void)snprintf(directory, sizeof(directory), "%s/state/journal", tree.path);
	memset(&why, 0, sizeof(why));
	return zm_sysroot_open_writable(&root, tree.path);
}

static int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

/* --- helpers --------------------------------------------------------------------------------- */

static struct zm_journal *open_journal(void)
{
	struct zm_journal *journal = NULL;

	assert_int_equal(zm_journal_open(&root, directory, &journal, &why), 0);
	return journal;
}

/* Files in the journal directory whose name ends so. */
static size_t count_names(const char *end)
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

static void assert_text(const char *file, const char *text)
{
	assert_string_equal(tree_read(&tree, file), text);
}

/* Runs act in a child that is killed as soon as it has returned. */
static void die_after(void (*act)(struct zm_journal *journal))
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

static void count_line(void *context, const char *line)
{
	assert_ptr_equal(context, &nr_lines);
	nr_lines++;
	(void)snprintf(last_line, sizeof(last_line), "%s", line);
}

static int recover(void)
{
	nr_lines = 0;
	last_line[0] = '\0';
	memset(&why, 0, sizeof(why));
	return zm_journal_recover(&root, directory, count_line, &nr_lines, &why);
}

/* --- the owner ------------------------------------------------------------------------------- */

static void nothing_is_on_disk_before_the_first_record(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_false(tree_has(&tree, "state"));
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_int_equal(zm_journal_set(journal, FRACTION, "0", &why), 0);
	assert_int_equal(count_names(".journal"), 0);
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	assert_int_equal(count_names(".journal"), 1);
	assert_text(FRACTION, "8");
	zm_journal_close(journal);
	assert_int_equal(count_names(".journal"), 0);
	assert_text(FRACTION, "0");
}

static void every_kind_of_value_comes_back(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	for (size_t i = 0; i < nr_of(files); i++) {
		assert_int_equal(zm_journal_set(journal, files[i].path, "1 2", &why), 0);
		assert_text(files[i].path, "1 2");
		assert_int_equal(zm_journal_set(journal, files[i].path, "3", &why), 0);
	}
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_string_equal(why.text, "");
	for (size_t i = 0; i < nr_of(files); i++)
		assert_text(files[i].path, files[i].undone);
	zm_journal_close(journal);
}

static void what_it_holds_already_is_not_written(void **state)
{
	static const struct {
		const char *path;
		const char *text;
	} cases[] = { { FRACTION, "0" },
		      { FRACTION, " 0\n" },
		      { THP, "madvise" },
		      { RMEM, "4096 131072 6291456" } };
	struct zm_journal *journal = open_journal();

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		assert_int_equal(zm_journal_set(journal, cases[i].path, cases[i].text, &why), 0);
	assert_false(tree_has(&tree, "state/journal"));
	zm_journal_close(journal);
}

static void a_journal_is_used_again(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
		assert_int_equal(zm_journal_undo(journal, &why), 0);
		assert_text(FRACTION, "0");
		assert_int_equal(count_names(".journal"), 0);
	}
	zm_journal_close(journal);
}

static void what_somebody_else_set_since_is_left_and_said(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	assert_int_equal(zm_journal_set(journal, POOL, "40", &why), 0);
	tree_write(&tree, FRACTION, "16\n");
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_non_null(strstr(why.text, FRACTION));
	assert_non_null(strstr(why.text, "\"16\""));
	assert_text(FRACTION, "16\n");
	assert_text(POOL, "30");
	assert_int_equal(count_names(".journal"), 0);
	zm_journal_close(journal);
}

static void a_saved_value_comes_back_whatever_it_became(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_save(journal, POOL, &why), 0);
	tree_write(&tree, POOL, "99\n");
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_text(POOL, "30");
	zm_journal_close(journal);
}

static void what_is_made_is_removed(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_made(journal, ZM_MADE_TREE, tree_path(&tree, "made"), &why), 0);
	assert_int_equal(zm_journal_made(journal, ZM_MADE_FILE, tree_path(&tree, "one"), &why), 0);
	assert_int_equal(zm_journal_made(journal, ZM_MADE_FILE, tree_path(&tree, "never"), &why),
			 0);
	tree_write(&tree, "made/a/b/c", "text");
	tree_write(&tree, "one", "text");
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_false(tree_has(&tree, "made"));
	assert_false(tree_has(&tree, "one"));
	zm_journal_close(journal);
}

static void what_is_there_already_is_nobodys_to_make(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	tree_write(&tree, "mine", "precious");
	for (enum zm_made what = ZM_MADE_FILE; what <= ZM_MADE_NETNS; what++) {
		const char *path = what == ZM_MADE_MOUNT ? "/proc" : tree_path(&tree, "mine");

		if (what == ZM_MADE_MOUNT)
			continue;
		assert_int_equal(zm_journal_made(journal, what, path, &why), -EEXIST);
	}
	zm_journal_close(journal);
	assert_text("mine", "precious");
}

static void paths_that_lead_elsewhere_are_refused(void **state)
{
	static const char *const settings[] = {
		"etc/passwd",
		"/proc/sys/vm/x",
		"proc/sys/../../etc/passwd",
		"proc/meminfo",
		"sys/../etc",
		"sys//kernel",
		"sys/./kernel",
		"",
		"sys/link",
		"sys/kernel",
		"sys/kernel/",
	};
	static const char *const made[] = { "relative/path", "/tmp/../etc", "/",    "/tmp", "",
					    "/a//b",         "/a/./b",      "/a/b/" };
	struct zm_journal *journal = open_journal();

	(void)state;
	tree_write(&tree, "etc/passwd", "0\n");
	assert_int_equal(symlink("../etc/passwd", tree_path(&tree, "sys/link")), 0);
	for (size_t i = 0; i < nr_of(settings); i++) {
		assert_int_equal(zm_journal_set(journal, settings[i], "1", &why), -EINVAL);
		assert_int_equal(zm_journal_save(journal, settings[i], &why), -EINVAL);
	}
	for (size_t i = 0; i < nr_of(made); i++)
		assert_int_equal(zm_journal_made(journal, ZM_MADE_TREE, made[i], &why), -EINVAL);
	zm_journal_close(journal);
	assert_text("etc/passwd", "0\n");
}

static void a_setting_that_is_not_there_is_said(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_set(journal, "proc/sys/vm/no_such", "1", &why), -ENOENT);
	assert_non_null(strstr(why.text, "proc/sys/vm/no_such"));
	zm_journal_close(journal);
}

static void a_forked_child_has_no_right_to_it(void **state)
{
	struct zm_journal *journal = open_journal();
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	child = fork();
	if (child == 0) {
		int bad = zm_journal_set(journal, FRACTION, "9", NULL) != -EPERM;

		bad |= zm_journal_undo(journal, NULL) != -EPERM;
		zm_journal_close(journal);
		_exit(bad);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_text(FRACTION, "8");
	assert_int_equal(recover(), 0);
	assert_text(FRACTION, "8");
	zm_journal_close(journal);
	assert_text(FRACTION, "0");
}

static void a_failed_undo_keeps_the_rest_written_down(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	tree_write(&tree, "sys/gone/value", "1\n");
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	assert_int_equal(zm_journal_set(journal, "sys/gone/value", "2", &why), 0);
	assert_int_equal(zm_journal_set(journal, POOL, "40", &why), 0);
	assert_int_equal(rename(tree_path(&tree, "sys/gone/value"), tree_path(&tree, "kept")), 0);
	tree_mkdir(&tree, "sys/gone/value");
	assert_true(zm_journal_undo(journal, &why) < 0);
	assert_non_null(strstr(why.text, "sys/gone/value"));
	assert_text(FRACTION, "0");
	assert_text(POOL, "30");
	assert_int_equal(count_names(".journal"), 1);
	assert_int_equal(rmdir(tree_path(&tree, "sys/gone/value")), 0);
	assert_int_equal(rename(tree_path(&tree, "kept"), tree_path(&tree, "sys/gone/value")), 0);
	tree_write(&tree, FRACTION, "77\n");
	assert_int_equal(zm_journal_set(journal, POOL, "50", &why), 0);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_text("sys/gone/value", "1");
	assert_text(POOL, "30");
	assert_text(FRACTION, "77\n");
	assert_int_equal(count_names(".journal"), 0);
	zm_journal_close(journal);
}

static void a_setting_that_vanished_is_undone(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_set(journal, POOL, "40", &why), 0);
	assert_int_equal(unlink(tree_path(&tree, POOL)), 0);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_int_equal(count_names(".journal"), 0);
	zm_journal_close(journal);
}

static void nothing_is_changed_when_the_journal_cannot_be_written(void **state)
{
	struct zm_journal *journal;

	(void)state;
	tree_write(&tree, "file", "");
	(void)snprintf(directory, sizeof(directory), "%s/file/journal", tree.path);
	journal = open_journal();
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), -ENOTDIR);
	assert_int_equal(zm_journal_made(journal, ZM_MADE_FILE, tree_path(&tree, "x"), &why),
			 -ENOTDIR);
	assert_text(FRACTION, "0\n");
	zm_journal_close(journal);
	zm_journal_close(NULL);
	zm_journal_forget(NULL);
}

/* --- those who come after -------------------------------------------------------------------- */

static void change_three(struct zm_journal *journal)
{
	(void)zm_journal_set(journal, FRACTION, "8", NULL);
	(void)zm_journal_set(journal, THP, "never", NULL);
	(void)zm_journal_made(journal, ZM_MADE_TREE, tree_path(&tree, "made"), NULL);
	tree_write(&tree, "made/by/me", "text");
}

static void a_dead_owners_changes_are_undone(void **state)
{
	(void)state;
	assert_int_equal(recover(), 0);
	die_after(change_three);
	assert_text(FRACTION, "8");
	assert_text(THP, "never");
	assert_int_equal(recover(), 1);
	assert_int_equal(nr_lines, 3);
	assert_text(FRACTION, "0");
	assert_text(THP, "madvise");
	assert_false(tree_has(&tree, "made"));
	assert_int_equal(count_names(".journal"), 0);
	assert_int_equal(recover(), 0);
	assert_int_equal(nr_lines, 0);
}

static void change_once(struct zm_journal *journal)
{
	(void)zm_journal_set(journal, FRACTION, "8", NULL);
}

static void a_living_owners_are_not(void **state)
{
	int up[2], down[2], status;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	child = fork();
	if (child == 0) {
		struct zm_journal *journal = NULL;

		if (zm_journal_open(&root, directory, &journal, NULL) == 0)
			change_once(journal);
		_exit(write(up[1], "x", 1) != 1 || read(down[0], &byte, 1) != 1);
	}
	assert_int_equal(read(up[0], &byte, 1), 1);
	assert_int_equal(recover(), 0);
	assert_text(FRACTION, "8");
	assert_int_equal(write(down[1], "x", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
	for (int i = 0; i < 2; i++) {
		(void)close(up[i]);
		(void)close(down[i]);
	}
}

static void a_zombie_owner_is_dead(void **state)
{
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		struct zm_journal *journal;

		if (zm_journal_open(&root, directory, &journal, NULL) == 0)
			change_once(journal);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void another_runs_setting_is_refused(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	die_after(change_once);
	assert_int_equal(zm_journal_set(journal, FRACTION, "9", &why), -EBUSY);
	assert_non_null(strstr(why.text, "zonemark restore"));
	assert_int_equal(zm_journal_save(journal, FRACTION, &why), -EBUSY);
	assert_int_equal(zm_journal_set(journal, POOL, "31", &why), 0);
	assert_int_equal(recover(), 1);
	assert_text(POOL, "31");
	assert_int_equal(zm_journal_set(journal, FRACTION, "9", &why), 0);
	zm_journal_close(journal);
	assert_text(FRACTION, "0");
	assert_text(POOL, "30");
}

static void journals_of_another_root_are_left(void **state)
{
	struct tree other;
	struct zm_sysroot other_root;

	(void)state;
	tree_make(&other);
	assert_int_equal(zm_sysroot_open_writable(&other_root, other.path), 0);
	die_after(change_once);
	assert_int_equal(zm_journal_recover(&other_root, directory, NULL, NULL, &why), 0);
	assert_text(FRACTION, "8");
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
	zm_sysroot_release(&other_root);
	tree_remove(&other);
}

/* Adds a line to a journal; frees it. */
static void plant_line(const char *name, char *line, size_t length)
{
	char path[PATH_MAX + 300];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	out = fopen(path, "ae");
	assert_non_null(out);
	assert_int_equal(fwrite(line, 1, length, out), length);
	assert_int_equal(fclose(out), 0);
	free(line);
}

static void plant_fields(const char *name, const char *const *fields, size_t nr)
{
	size_t length;
	char *line;

	assert_int_equal(zm_record_print(fields, nr, &line, &length), 0);
	plant_line(name, line, length);
}

/* Writes a journal of another process's: it has set the fraction from one value to another. */
static void plant_journal(const char *name, const struct zm_owner *owner, uint64_t began_ns,
			  const char *from, const char *to)
{
	struct zm_records head = { .owner = *owner, .began_ns = began_ns };
	const char *const set[] = { "file", "1", FRACTION, from, to };
	const char *const now[] = { "now", "1", to };
	size_t length;
	char *line;

	zm_journal_root_name(&root, head.root, sizeof(head.root));
	assert_int_equal(zm_journal_directory_make(directory, &why), 0);
	assert_int_equal(zm_records_print_header(&head, &line, &length), 0);
	plant_line(name, line, length);
	plant_fields(name, set, nr_of(set));
	plant_fields(name, now, nr_of(now));
}

/* The same journal goes on: it has made a directory. */
static void plant_made(const char *name)
{
	const char *const made[] = { "made", "2", "tree", tree_path(&tree, "made") };

	plant_fields(name, made, nr_of(made));
	tree_write(&tree, "made/by/it", "text");
}

/* The kernel has forgotten the settings; what was set since is nobody's business. */
static void after_a_reboot_only_files_are_left_to_undo(void **state)
{
	struct zm_owner owner;

	(void)state;
	assert_int_equal(zm_owner_self(&owner, &why), 0);
	owner.boot_id[0] = owner.boot_id[0] == 'f' ? 'e' : 'f';
	plant_journal("1-1-0.journal", &owner, 1, "3", "0");
	plant_made("1-1-0.journal");
	assert_int_equal(recover(), 1);
	assert_int_equal(nr_lines, 1);
	assert_text(FRACTION, "0\n");
	assert_false(tree_has(&tree, "made"));
	assert_int_equal(count_names(".journal"), 0);
}

/* A pid in another namespace tells nothing: its lock does. */
static void an_owner_in_another_container_lives_by_its_lock(void **state)
{
	int up[2], down[2];
	struct zm_owner owner;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(zm_owner_self(&owner, &why), 0);
	owner.pid = 1;
	owner.pid_ns++;
	plant_journal("1-1-0.journal", &owner, 1, "3", "0");
	plant_made("1-1-0.journal");
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	child = fork();
	if (child == 0) {
		int fd = open(tree_path(&tree, "state/journal/1-1-0.journal"), O_RDWR | O_CLOEXEC);

		if (fd < 0 || zm_journal_file_lock(fd) || write(up[1], "x", 1) != 1)
			_exit(1);
		_exit(read(down[0], &byte, 1) != 1);
	}
	assert_int_equal(read(up[0], &byte, 1), 1);
	assert_int_equal(recover(), 0);
	assert_true(tree_has(&tree, "made"));
	assert_int_equal(write(down[1], "x", 1), 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(recover(), 1);
	assert_false(tree_has(&tree, "made"));
	assert_text(FRACTION, "3");
	for (int i = 0; i < 2; i++) {
		(void)close(up[i]);
		(void)close(down[i]);
	}
}

/* Two dead runs that had the same setting in turn: the newer is undone first. */
static void the_newest_is_undone_first(void **state)
{
	static const char *const names[] = { "9-9-0.journal", "1-1-0.journal" };
	struct zm_owner owner;

	(void)state;
	assert_int_equal(zm_owner_self(&owner, &why), 0);
	owner.pid = 1 << 30;
	for (int order = 0; order < 2; order++) {
		plant_journal(names[order], &owner, 10, "0", "1");
		plant_journal(names[1 - order], &owner, 20, "1", "2");
		tree_write(&tree, FRACTION, "2\n");
		assert_int_equal(recover(), 2);
		assert_text(FRACTION, "0");
	}
}

/* --- damaged and planted files --------------------------------------------------------------- */

/* The one journal file there is. */
static const char *find_journal(void)
{
	static char path[PATH_MAX + 300];
	DIR *listing = opendir(directory);

	assert_non_null(listing);
	path[0] = '\0';
	for (struct dirent *entry; (entry = readdir(listing));)
		if (strstr(entry->d_name, ".journal"))
			(void)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
	(void)closedir(listing);
	return path;
}

/* The bytes of the file's last line. */
static off_t last_line_length(const char *path)
{
	char text[8192];
	FILE *file = fopen(path, "re");
	size_t length = 0, last;

	assert_non_null(file);
	length = fread(text, 1, sizeof(text), file);
	assert_in_range(length, 2, sizeof(text) - 1);
	assert_int_equal(fclose(file), 0);
	for (last = length - 1; last > 0 && text[last - 1] != '\n';)
		last--;
	return (off_t)(length - last);
}

static void a_torn_last_record_was_never_made(void **state)
{
	off_t line;

	(void)state;
	die_after(change_three);
	line = last_line_length(find_journal());
	assert_int_equal(recover(), 1);
	for (off_t cut = 1; cut <= line; cut++) {
		struct stat status;

		die_after(change_three);
		assert_int_equal(stat(find_journal(), &status), 0);
		assert_int_equal(truncate(find_journal(), status.st_size - cut), 0);
		assert_int_equal(recover(), 1);
		assert_text(FRACTION, "0");
		assert_text(THP, "madvise");
		assert_int_equal(count_names(".journal"), 0);
		assert_int_equal(count_names(".damaged"), 0);
		assert_int_equal(remove(tree_path(&tree, "made/by/me")), 0);
		assert_int_equal(remove(tree_path(&tree, "made/by")), 0);
		assert_int_equal(remove(tree_path(&tree, "made")), 0);
	}
}

/* Turns one byte of the file's line number `line` into another. */
static void spoil(const char *path, int line)
{
	FILE *file = fopen(path, "r+e");
	int c = 0;

	assert_non_null(file);
	for (int i = 0; i < line;) {
		c = fgetc(file);
		assert_int_not_equal(c, EOF);
		i += c == '\n';
	}
	assert_int_equal(fseek(file, 2, SEEK_CUR), 0);
	assert_int_equal(fputc('~', file), '~');
	assert_int_equal(fclose(file), 0);
}

static void a_damaged_record_is_left_out_and_the_file_kept(void **state)
{
	(void)state;
	die_after(change_three);
	spoil(find_journal(), 1);
	assert_int_equal(recover(), -EUCLEAN);
	assert_non_null(strstr(why.text, ".damaged"));
	assert_text(FRACTION, "8");
	assert_text(THP, "madvise");
	assert_false(tree_has(&tree, "made"));
	assert_int_equal(count_names(".damaged"), 1);
	assert_int_equal(recover(), 0);
}

static void a_damaged_header_undoes_nothing(void **state)
{
	(void)state;
	die_after(change_three);
	spoil(find_journal(), 0);
	assert_int_equal(recover(), -EUCLEAN);
	assert_text(FRACTION, "8");
	assert_int_equal(count_names(".damaged"), 1);
	assert_int_equal(recover(), 0);
}

static void what_others_can_write_is_refused(void **state)
{
	(void)state;
	die_after(change_once);
	assert_int_equal(chmod(find_journal(), 0622), 0);
	assert_int_equal(recover(), -EPERM);
	assert_text(FRACTION, "8");
	assert_int_equal(chmod(find_journal(), 0600), 0);
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(recover(), -EPERM);
	assert_text(FRACTION, "8");
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
}

static void anothers_journal_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	die_after(change_once);
	assert_int_equal(chown(find_journal(), 65534, 65534), 0);
	assert_int_equal(recover(), -EPERM);
	assert_non_null(strstr(why.text, "65534"));
	assert_text(FRACTION, "8");
}

static void links_and_pipes_are_no_journals(void **state)
{
	(void)state;
	die_after(change_once);
	assert_int_equal(recover(), 1);
	tree_write(&tree, "elsewhere", "zonemark-journal\n");
	assert_int_equal(
		symlink("../../elsewhere", tree_path(&tree, "state/journal/1-1-0.journal")), 0);
	assert_true(recover() < 0);
	assert_int_equal(unlink(tree_path(&tree, "state/journal/1-1-0.journal")), 0);
	assert_int_equal(mkfifo(tree_path(&tree, "state/journal/1-1-0.journal"), 0600), 0);
	assert_int_equal(recover(), -EPERM);
	assert_text("elsewhere", "zonemark-journal\n");
}

static void an_unfinished_new_file_is_swept(void **state)
{
	(void)state;
	die_after(change_once);
	tree_write(&tree, "state/journal/.new-1-1-1.journal", "zonemark-jour");
	assert_int_equal(recover(), 1);
	assert_false(tree_has(&tree, "state/journal/.new-1-1-1.journal"));
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(nothing_is_on_disk_before_the_first_record),
		test_in_tree(every_kind_of_value_comes_back),
		test_in_tree(what_it_holds_already_is_not_written),
		test_in_tree(a_journal_is_used_again),
		test_in_tree(what_somebody_else_set_since_is_left_and_said),
		test_in_tree(a_saved_value_comes_back_whatever_it_became),
		test_in_tree(what_is_made_is_removed),
		test_in_tree(what_is_there_already_is_nobodys_to_make),
		test_in_tree(paths_that_lead_elsewhere_are_refused),
		test_in_tree(a_setting_that_is_not_there_is_said),
		test_in_tree(a_forked_child_has_no_right_to_it),
		test_in_tree(a_failed_undo_keeps_the_rest_written_down),
		test_in_tree(a_setting_that_vanished_is_undone),
		test_in_tree(nothing_is_changed_when_the_journal_cannot_be_written),
		test_in_tree(a_dead_owners_changes_are_undone),
		test_in_tree(a_living_owners_are_not),
		test_in_tree(a_zombie_owner_is_dead),
		test_in_tree(another_runs_setting_is_refused),
		test_in_tree(journals_of_another_root_are_left),
		test_in_tree(after_a_reboot_only_files_are_left_to_undo),
		test_in_tree(an_owner_in_another_container_lives_by_its_lock),
		test_in_tree(the_newest_is_undone_first),
		test_in_tree(a_torn_last_record_was_never_made),
		test_in_tree(a_damaged_record_is_left_out_and_the_file_kept),
		test_in_tree(a_damaged_header_undoes_nothing),
		test_in_tree(what_others_can_write_is_refused),
		test_in_tree(anothers_journal_is_refused),
		test_in_tree(links_and_pipes_are_no_journals),
		test_in_tree(an_unfinished_new_file_is_swept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
