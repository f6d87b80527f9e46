/* lock: one holder at a time, named to those who are refused; planted files fool nobody. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "runner/lock.h"
#include "workloads/base/tests/tree.h"

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

static int take(int *ret_fd)
{
	return zm_lock_take_at(tree_path(&tree, "lock"), ret_fd, &why);
}

static void the_second_is_refused_and_told_who_holds_it(void **state)
{
	char pid[32];
	int fd, second = -7;

	(void)state;
	assert_int_equal(take(&fd), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(take(&second), -EBUSY);
	assert_int_equal(second, -7);
	(void)snprintf(pid, sizeof(pid), "process %ld ", (long)getpid());
	assert_non_null(strstr(why.text, pid));
	assert_non_null(strstr(why.text, "lock"));
	assert_non_null(strstr(why.text, "--share"));
	(void)close(fd);
	assert_int_equal(take(&fd), 0);
	(void)close(fd);
}

static void it_goes_with_its_holder(void **state)
{
	int ready[2], fd;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (take(&fd) == 0 && write(ready[1], "x", 1) == 1)
			(void)pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(take(&fd), -EBUSY);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(take(&fd), 0);
	(void)close(fd);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void everybody_may_open_it(void **state)
{
	struct stat status;
	mode_t before = umask(0077);
	int fd;

	(void)state;
	assert_int_equal(take(&fd), 0);
	(void)umask(before);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0666);
	(void)close(fd);
}

/* In a sticky directory the kernel refuses O_CREAT on another's file, even to root. */
static void another_users_file_is_taken(void **state)
{
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(tree.path, 01777), 0);
	tree_write(&tree, "lock", "left over\n");
	assert_int_equal(chown(tree_path(&tree, "lock"), 65534, 65534), 0);
	assert_int_equal(chmod(tree_path(&tree, "lock"), 0666), 0);
	assert_int_equal(take(&fd), 0);
	(void)close(fd);
}

static void planted_files_are_refused(void **state)
{
	int fd = -7;

	(void)state;
	tree_write(&tree, "precious", "text");
	assert_int_equal(symlink("precious", tree_path(&tree, "lock")), 0);
	assert_int_equal(take(&fd), -ELOOP);
	assert_non_null(strstr(why.text, "link"));
	assert_int_equal(unlink(tree_path(&tree, "lock")), 0);
	assert_int_equal(link(tree_path(&tree, "precious"), tree_path(&tree, "lock")), 0);
	assert_int_equal(take(&fd), -EPERM);
	assert_int_equal(unlink(tree_path(&tree, "lock")), 0);
	assert_int_equal(mkfifo(tree_path(&tree, "lock"), 0666), 0);
	assert_int_equal(take(&fd), -EPERM);
	assert_int_equal(unlink(tree_path(&tree, "lock")), 0);
	tree_mkdir(&tree, "lock");
	assert_int_equal(take(&fd), -EISDIR);
	assert_int_equal(fd, -7);
	assert_string_equal(tree_read(&tree, "precious"), "text");
}

/* What a holder of another program's making wrote does not reach a terminal as it is. */
static void a_holders_text_is_made_harmless(void **state)
{
	static const char *const texts[] = {
		"", "x", "0\n", "-5 me\n", "12 a\033[2Jb\n", "77", "99999999999999999999 x"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int fd, other;

		assert_int_equal(take(&fd), 0);
		tree_write(&tree, "lock", texts[i]);
		assert_int_equal(take(&other), -EBUSY);
		assert_null(strchr(why.text, '\033'));
		assert_null(strchr(why.text, '\n'));
		(void)close(fd);
	}
}

static void the_usual_place_works(void **state)
{
	int fd, error = zm_lock_take(&fd, &why);

	(void)state;
	assert_true(error == 0 || error == -EBUSY);
	if (!error)
		(void)close(fd);
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(the_second_is_refused_and_told_who_holds_it),
		test_in_tree(it_goes_with_its_holder),
		test_in_tree(everybody_may_open_it),
		test_in_tree(another_users_file_is_taken),
		test_in_tree(planted_files_are_refused),
		test_in_tree(a_holders_text_is_made_harmless),
		test_in_tree(the_usual_place_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
