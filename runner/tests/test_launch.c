/*
 * launch: a launcher that ends in the moment between two looks at it: its last word counts, and a death without
 * one is told. recv stands in for that moment.
 *
 * links: -Wl,--wrap=recv
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/launch.h"

static pid_t child;
static int go_fd = -1; /* a byte lets the child go on */

ssize_t __real_recv(int fd, void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);

/* The first look finds nothing, and behind it the launcher says what it says, and ends. */
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
	ssize_t n = __real_recv(fd, data, size, flags);
	siginfo_t info;

	if (go_fd < 0)
		return n;
	assert_int_equal(n, -1);
	assert_int_equal(write(go_fd, "", 1), 1);
	(void)close(go_fd);
	go_fd = -1;
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	errno = EAGAIN;
	return n;
}

static void start_child(int socket, int word)
{
	unsigned char byte = (unsigned char)word;
	int go[2];
	char any;

	assert_int_equal(pipe(go), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setsid();
		if (read(go[0], &any, 1) != 1 || (word && send(socket, &byte, 1, 0) != 1))
			_exit(9);
		_exit(0);
	}
	(void)close(go[0]);
	(void)close(socket);
	go_fd = go[1];
}

static void test_last_word(void **state)
{
	static const struct {
		enum zm_word word;
		int first, second; /* what hearing gives */
	} cases[] = {
		{ ZM_WORD_FINISHED, 0, 0 },
		{ ZM_WORD_FAILED, 0, -ECHILD },
		{ ZM_WORD_NONE, -ECHILD, -ECHILD },
	};
	static const struct zm_workload nothing = { .name = "nothing" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_launch launch = { .socket = -1 };
		struct zm_launch_spec spec = { .notice_fd = -1 };
		const struct zm_failure *failure;
		struct zm_sysroot root;
		struct zm_arena arena;
		enum zm_word word;
		int pair[2];

		assert_int_equal(zm_sysroot_open(&root, NULL), 0);
		assert_int_equal(zm_arena_init(&arena, &nothing, 1, NULL), 0);
		arena.run->root = &root;
		arena.run->kind = ZM_TASK_PROCESS;
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
		start_child(pair[1], (int)cases[i].word);
		spec.arena = &arena;
		launch.spec = &spec;
		launch.socket = pair[0];
		launch.pid = child;
		assert_int_equal(zm_launch_hear(&launch, &word), cases[i].first);
		assert_int_equal(word, cases[i].word);
		assert_int_equal(zm_launch_hear(&launch, &word), cases[i].second);
		assert_int_equal(word, ZM_WORD_NONE);
		failure = zm_arena_failure(&arena);
		assert_int_equal(failure != NULL, cases[i].word != ZM_WORD_FINISHED);
		if (failure)
			assert_non_null(strstr(failure->why.text, "ended by itself with status 0"));
		zm_launch_end(&launch);
		zm_arena_release(&arena);
		zm_sysroot_release(&root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
