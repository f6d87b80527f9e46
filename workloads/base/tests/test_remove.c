/* remove: what was made goes, and nothing else does. Cgroups, mounts and namespaces as root. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/remove.h"
#include "workloads/base/tests/tree.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

static struct tree tree;
static struct zm_why why;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	memset(&why, 0, sizeof(why));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

/* --- files and directories ------------------------------------------------------------------- */

static void a_file_goes_once(void **state)
{
	(void)state;
	tree_write(&tree, "file", "x");
	assert_int_equal(zm_remove_file(tree_path(&tree, "file"), &why), 0);
	assert_false(tree_has(&tree, "file"));
	assert_int_equal(zm_remove_file(tree_path(&tree, "file"), &why), 0);
	assert_int_equal(zm_remove_file(tree_path(&tree, "not/there"), &why), 0);
	tree_write(&tree, "target", "x");
	assert_int_equal(symlink("target", tree_path(&tree, "link")), 0);
	assert_int_equal(zm_remove_file(tree_path(&tree, "link"), &why), 0);
	assert_true(tree_has(&tree, "target"));
	tree_mkdir(&tree, "directory");
	assert_int_equal(zm_remove_file(tree_path(&tree, "directory"), &why), -EISDIR);
}

static void a_tree_goes_without_following_links(void **state)
{
	(void)state;
	tree_write(&tree, "outside/precious", "text");
	tree_write(&tree, "made/a/b/c/d", "x");
	tree_write(&tree, "made/e", "x");
	tree_mkdir(&tree, "made/empty");
	assert_int_equal(symlink("../../outside", tree_path(&tree, "made/a/link")), 0);
	assert_int_equal(symlink("/", tree_path(&tree, "made/root")), 0);
	assert_int_equal(mkfifo(tree_path(&tree, "made/pipe"), 0600), 0);
	assert_int_equal(zm_remove_tree(tree_path(&tree, "made"), &why), 0);
	assert_false(tree_has(&tree, "made"));
	assert_string_equal(tree_read(&tree, "outside/precious"), "text");
	assert_int_equal(zm_remove_tree(tree_path(&tree, "made"), &why), 0);
}

static void a_link_is_no_tree(void **state)
{
	(void)state;
	tree_write(&tree, "outside/precious", "text");
	assert_int_equal(symlink("outside", tree_path(&tree, "made")), 0);
	assert_true(zm_remove_tree(tree_path(&tree, "made"), &why) < 0);
	assert_string_equal(tree_read(&tree, "outside/precious"), "text");
}

static void anothers_things_are_left(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	tree_write(&tree, "theirs/file", "x");
	assert_int_equal(chown(tree_path(&tree, "theirs/file"), 65534, 65534), 0);
	assert_int_equal(chown(tree_path(&tree, "theirs"), 65534, 65534), 0);
	assert_int_equal(zm_remove_file(tree_path(&tree, "theirs/file"), &why), -EPERM);
	assert_int_equal(zm_remove_tree(tree_path(&tree, "theirs"), &why), -EPERM);
	assert_true(tree_has(&tree, "theirs/file"));
}

/* --- mounts and namespaces ------------------------------------------------------------------- */

/* In a mount namespace of its own, so that nothing is left whatever happens. */
static int in_own_mounts(int (*test)(void))
{
	int status;
	pid_t child;

	if (geteuid() != 0)
		skip();
	child = fork();
	if (child == 0) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(77);
		_exit(test());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	return WEXITSTATUS(status);
}

static int mounted_in_a_tree(void)
{
	char inner[PATH_MAX], made[PATH_MAX];

	(void)snprintf(inner, sizeof(inner), "%s", tree_path(&tree, "made/a/mnt"));
	(void)snprintf(made, sizeof(made), "%s", tree_path(&tree, "made"));
	if (mount(tree_path(&tree, "outside"), inner, NULL, MS_BIND, NULL))
		return 77;
	if (zm_remove_tree(made, &why) != -EXDEV || !tree_has(&tree, "outside/precious"))
		return 1;
	if (tree_has(&tree, "made/file") || zm_remove_tree(inner, &why) != -EXDEV)
		return 2;
	if (!zm_path_is_mount(inner) || zm_remove_mount(inner, &why) || zm_path_is_mount(inner))
		return 3;
	if (zm_remove_mount(inner, &why) || zm_remove_mount("/not/there", &why))
		return 4;
	if (zm_remove_tree(made, &why) || tree_has(&tree, "made"))
		return 5;
	return !tree_has(&tree, "outside/precious");
}

static void a_mount_is_neither_entered_nor_removed_with_its_tree(void **state)
{
	(void)state;
	tree_write(&tree, "outside/precious", "text");
	tree_write(&tree, "made/file", "x");
	tree_mkdir(&tree, "made/a/mnt");
	assert_int_equal(in_own_mounts(mounted_in_a_tree), 0);
}

static int busy_mount(void)
{
	const char *point = tree_path(&tree, "point");
	int fd;

	if (mount("none", point, "tmpfs", 0, "size=64k"))
		return 77;
	fd = open(tree_path(&tree, "point/held"), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || zm_remove_mount(point, &why))
		return 1;
	return zm_path_is_mount(point) || write(fd, "x", 1) != 1;
}

static void a_busy_mount_goes_lazily(void **state)
{
	(void)state;
	tree_mkdir(&tree, "point");
	assert_int_equal(in_own_mounts(busy_mount), 0);
}

static int named_namespace(void)
{
	int fd;

	if (mkdir("/run/netns", 0755) && errno != EEXIST)
		return 77;
	/* Only in these mounts: what is made below is not seen outside, nor left behind. */
	if (mount("none", "/run/netns", "tmpfs", 0, "size=64k"))
		return 77;
	fd = open("/run/netns/zm-test", O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0444);
	if (fd < 0)
		return 77;
	if (mount("/proc/self/ns/net", "/run/netns/zm-test", NULL, MS_BIND, NULL))
		return 77;
	if (!zm_path_is_mount("/run/netns/zm-test"))
		return 1;
	if (zm_remove_netns("/run/netns/zm-test", &why) || access("/run/netns/zm-test", F_OK) == 0)
		return 2;
	return zm_remove_netns("/run/netns/zm-test", &why);
}

static void a_network_namespace_loses_its_name(void **state)
{
	bool was_there = access("/run/netns", F_OK) == 0;

	(void)state;
	assert_int_equal(in_own_mounts(named_namespace), 0);
	if (!was_there)
		(void)rmdir("/run/netns");
	assert_int_equal(zm_remove_netns("/etc/passwd", &why), -EINVAL);
	assert_int_equal(access("/etc/passwd", F_OK), 0);
}

/* --- cgroups --------------------------------------------------------------------------------- */

static const char *const hierarchies[] = {
	"/sys/fs/cgroup",         "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids",
	"/sys/fs/cgroup/freezer", "/sys/fs/cgroup/cpuset",
};

static bool write_file(const char *directory, const char *name, const char *text)
{
	char path[512];
	bool is_done;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	is_done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		(void)close(fd);
	return is_done;
}

/* cpusets of version 1 take no task before they have CPUs and memory. */
static void fill_cpuset(const char *path)
{
	(void)write_file(path, "cpuset.cpus", "0");
	(void)write_file(path, "cpuset.mems", "0");
}

/* What start_in's child does: both it and its child are in the cgroup. */
static void live_in(const char *path, int ready_fd)
{
	pid_t child;

	(void)signal(SIGTERM, SIG_IGN);
	if (!write_file(path, "cgroup.procs", "0"))
		_exit(1);
	child = fork();
	if (child && write(ready_fd, "x", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

/* A process with a child, both in the cgroup. -1 when the cgroup takes no tasks. */
static pid_t start_in(const char *path)
{
	int ready[2];
	char byte;
	pid_t child;
	bool is_ready;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		(void)close(ready[0]);
		live_in(path, ready[1]);
	}
	(void)close(ready[1]);
	is_ready = read(ready[0], &byte, 1) == 1;
	(void)close(ready[0]);
	if (is_ready)
		return child;
	(void)waitpid(child, NULL, 0);
	return -1;
}

static bool try_hierarchy(const char *hierarchy, bool is_only_killed)
{
	char outer[128], inner[160];
	pid_t children[2];

	(void)snprintf(outer, sizeof(outer), "%s/cgroup.procs", hierarchy);
	if (access(outer, W_OK))
		return false;
	(void)snprintf(outer, sizeof(outer), "%s/zm-test-%ld", hierarchy, (long)getpid());
	(void)snprintf(inner, sizeof(inner), "%s/inner", outer);
	if (mkdir(outer, 0755))
		return false;
	fill_cpuset(outer);
	assert_int_equal(mkdir(inner, 0755), 0);
	fill_cpuset(inner);
	children[0] = start_in(inner);
	children[1] = start_in(outer);
	if (strstr(hierarchy, "freezer"))
		(void)write_file(inner, "freezer.state", "FROZEN");
	if (is_only_killed) {
		assert_int_equal(zm_kill_cgroup(outer, &why), 0);
		assert_int_equal(access(inner, F_OK), 0);
	}
	assert_int_equal(zm_remove_cgroup(outer, &why), 0);
	assert_int_not_equal(access(outer, F_OK), 0);
	assert_int_equal(zm_kill_cgroup(outer, &why), -ENOENT);
	for (size_t i = 0; i < 2; i++) {
		int status;

		if (children[i] < 0)
			continue;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	assert_int_equal(zm_remove_cgroup(outer, &why), 0);
	return true;
}

static void cgroups_go_with_their_tasks(void **state)
{
	unsigned int nr_tried = 0;

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < nr_of(hierarchies); i++)
		nr_tried +=
			try_hierarchy(hierarchies[i], false) && try_hierarchy(hierarchies[i], true);
	print_message("%u hierarchies\n", nr_tried);
	if (!nr_tried)
		skip();
}

/* A root, and what is no cgroup, would take the whole machine with it. */
static void what_is_no_cgroup_of_ours_is_left(void **state)
{
	(void)state;
	tree_mkdir(&tree, "directory");
	assert_int_equal(zm_remove_cgroup(tree_path(&tree, "directory"), &why), -EINVAL);
	for (size_t i = 0; i < nr_of(hierarchies); i++)
		if (access(hierarchies[i], F_OK) == 0)
			assert_int_equal(zm_remove_cgroup(hierarchies[i], &why), -EINVAL);
	assert_true(tree_has(&tree, "directory"));
}

static void our_own_cgroup_is_left(void **state)
{
	char path[128], pid[24];

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 1; i < nr_of(hierarchies); i++) {
		(void)snprintf(path, sizeof(path), "%s/zm-own-%ld", hierarchies[i], (long)getpid());
		if (strstr(path, "cpuset") || mkdir(path, 0755))
			continue;
		(void)snprintf(pid, sizeof(pid), "%ld", (long)getpid());
		assert_true(write_file(path, "cgroup.procs", pid));
		assert_int_equal(zm_remove_cgroup(path, &why), -EBUSY);
		assert_true(write_file(hierarchies[i], "cgroup.procs", pid));
		assert_int_equal(zm_remove_cgroup(path, &why), 0);
	}
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(a_file_goes_once),
		test_in_tree(a_tree_goes_without_following_links),
		test_in_tree(a_link_is_no_tree),
		test_in_tree(anothers_things_are_left),
		test_in_tree(a_mount_is_neither_entered_nor_removed_with_its_tree),
		test_in_tree(a_busy_mount_goes_lazily),
		test_in_tree(a_network_namespace_loses_its_name),
		test_in_tree(cgroups_go_with_their_tasks),
		test_in_tree(what_is_no_cgroup_of_ours_is_left),
		test_in_tree(our_own_cgroup_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
