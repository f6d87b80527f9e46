/*
 * journal_crash: killed at whatever moment, the machine is as before once somebody has recovered.
 *
 * labels: unit slow
 * timeout: 240
 *
 *     each stop     the victim is traced, and killed at its n-th entry to or exit from a system call,
 *                   for every n there is: between two of them nothing outside the process changes
 *     the recoverer  is killed at each of its stops in turn, and another one recovers after it
 *     random        real sysctls, in a network namespace of the test's own (root only), killed after a
 *                   random time, 100 rounds
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/journal.h"
#include "workloads/base/random.h"
#include "workloads/base/tests/tree.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define STOPS_MAX 5000
#ifdef ZM_SANITIZED
#define STRIDE 7 /* each stop costs ten times as much; the plain build takes them all */
#else
#define STRIDE 1
#endif
#define ROUNDS 100

static struct tree tree;
static struct zm_sysroot root;
static char directory[PATH_MAX];

/* Values of one length and none of them a beginning of another. */
static const struct {
	const char *path;
	const char *before;
	const char *during[3];
} files[] = {
	{ "proc/sys/vm/one", "10", { "11", "12", "11" } },
	{ "proc/sys/vm/two", "20", { "21", "20", "23" } },
	{ "sys/kernel/mm/three", "30", { "31", "32", "33" } },
};

static void make_files(void)
{
	for (size_t i = 0; i < nr_of(files); i++)
		tree_write(&tree, files[i].path, files[i].before);
}

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	make_files();
	(void)snprintf(directory, sizeof(directory), "%s/journal", tree.path);
	return zm_sysroot_open_writable(&root, tree.path);
}

static int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

static void assert_all_is_as_before(void)
{
	for (size_t i = 0; i < nr_of(files); i++)
		assert_string_equal(tree_read(&tree, files[i].path), files[i].before);
	assert_false(tree_has(&tree, "made"));
	assert_false(tree_has(&tree, "file"));
}

/* --- the victims ----------------------------------------------------------------------------- */

/* Sets everything several times, makes a few things, and does not undo them. */
static void change_all(void)
{
	struct zm_journal *journal;

	if (zm_journal_open(&root, directory, &journal, NULL))
		_exit(1);
	for (size_t round = 0; round < 3; round++)
		for (size_t i = 0; i < nr_of(files); i++)
			if (zm_journal_set(journal, files[i].path, files[i].during[round], NULL))
				_exit(2);
	if (zm_journal_made(journal, ZM_MADE_TREE, tree_path(&tree, "made"), NULL) ||
	    zm_journal_made(journal, ZM_MADE_FILE, tree_path(&tree, "file"), NULL))
		_exit(3);
	tree_write(&tree, "made/in/it", "x");
	tree_write(&tree, "file", "x");
}

static void change_and_undo(void)
{
	struct zm_journal *journal;

	if (zm_journal_open(&root, directory, &journal, NULL) ||
	    zm_journal_set(journal, files[0].path, "11", NULL) ||
	    zm_journal_set(journal, files[2].path, "31", NULL) ||
	    zm_journal_made(journal, ZM_MADE_TREE, tree_path(&tree, "made"), NULL))
		_exit(1);
	tree_write(&tree, "made/in/it", "x");
	zm_journal_close(journal);
}

static void recover_once(void)
{
	(void)zm_journal_recover(&root, directory, NULL, NULL, NULL);
}

/* --- the tracer ------------------------------------------------------------------------------ */

/* Runs act in a traced child and kills it at stop number `nr`; stops 0, 1… are entries to and exits
 * from its system calls. False when it ended before. */
static bool kill_at_stop(void (*act)(void), unsigned int nr)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(77);
		(void)raise(SIGSTOP);
		act();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFSTOPPED(status));
	for (unsigned int i = 0;; i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
		if (i == nr)
			break;
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return true;
}

static void recover_fully(void)
{
	struct zm_why why = { "" };
	int nr = zm_journal_recover(&root, directory, NULL, NULL, &why);

	if (nr < 0)
		print_error("%s\n", why.text);
	assert_true(nr >= 0);
}

/* What one of the victims left is undone by the next command, at whichever stop it was killed. */
static void try_each_stop(void (*act)(void))
{
	unsigned int nr = 0;

	while (nr < STOPS_MAX && kill_at_stop(act, nr)) {
		recover_fully();
		assert_all_is_as_before();
		nr += STRIDE;
	}
	recover_fully();
	assert_all_is_as_before();
	print_message("%u stops\n", nr);
	assert_in_range(nr, 50, STOPS_MAX - 1);
}

static void a_changer_killed_at_each_stop(void **state)
{
	(void)state;
	try_each_stop(change_all);
}

static void an_undoer_killed_at_each_stop(void **state)
{
	(void)state;
	try_each_stop(change_and_undo);
}

static void run_child(void (*act)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		act();
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static void a_recoverer_killed_at_each_stop(void **state)
{
	unsigned int nr = 0;
	bool is_killed;

	(void)state;
	do {
		run_child(change_all);
		is_killed = kill_at_stop(recover_once, nr);
		nr += STRIDE;
		recover_fully();
		assert_all_is_as_before();
	} while (is_killed && nr < STOPS_MAX);
	print_message("%u stops\n", nr);
	assert_in_range(nr, 50, STOPS_MAX - 1);
}

/* --- real sysctls ---------------------------------------------------------------------------- */

static const struct {
	const char *path;
	const char *values[2];
} sysctls[] = {
	{ "proc/sys/net/ipv4/ip_default_ttl", { "65", "66" } },
	{ "proc/sys/net/ipv4/tcp_keepalive_time", { "7201", "7202" } },
	{ "proc/sys/net/ipv4/tcp_rmem", { "4096 131073 6291457", "4096 131074 6291458" } },
};

static void set_for_ever(const struct zm_sysroot *live)
{
	struct zm_journal *journal;

	if (zm_journal_open(live, directory, &journal, NULL))
		_exit(1);
	for (size_t i = 0;; i++)
		if (zm_journal_set(journal, sysctls[i % nr_of(sysctls)].path,
				   sysctls[i % nr_of(sysctls)].values[i / nr_of(sysctls) % 2],
				   NULL))
			_exit(2);
}

/* These are its namespace's own: no other test, and no run, sees them change. */
static void real_sysctls_killed_at_random(void **state)
{
	char before[nr_of(sysctls)][64], after[64];
	struct zm_sysroot live;
	struct zm_random random;
	uint64_t seed = zm_clock_now_ns();

	(void)state;
	if (unshare(CLONE_NEWNET))
		skip();
	assert_int_equal(zm_sysroot_open(&live, NULL), 0);
	for (size_t i = 0; i < nr_of(sysctls); i++)
		if (faccessat(live.dir_fd, sysctls[i].path, W_OK, AT_EACCESS) ||
		    zm_sysroot_read_line(&live, sysctls[i].path, before[i], sizeof(before[i]))) {
			zm_sysroot_release(&live);
			skip();
		}
	print_message("seed %llu\n", (unsigned long long)seed);
	zm_random_init(&random, seed, 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct timespec wait = { 0, (long)zm_random_below(&random, 20000000) };
		int status;
		pid_t child = fork();

		if (child == 0)
			set_for_ever(&live);
		(void)nanosleep(&wait, NULL);
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		assert_true(zm_journal_recover(&live, directory, NULL, NULL, NULL) >= 0);
		for (size_t i = 0; i < nr_of(sysctls); i++) {
			assert_int_equal(
				zm_sysroot_read_line(&live, sysctls[i].path, after, sizeof(after)),
				0);
			assert_string_equal(after, before[i]);
		}
	}
	zm_sysroot_release(&live);
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(a_changer_killed_at_each_stop),
		test_in_tree(an_undoer_killed_at_each_stop),
		test_in_tree(a_recoverer_killed_at_each_stop),
		test_in_tree(real_sysctls_killed_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
