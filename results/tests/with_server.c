/*
 * with_server: runs a command with a PostgreSQL server of its own, for the tests of the commands.
 *
 *     with_server COMMAND [WORD …]      $ZM_SERVER_URL is its URL
 *
 * SIGUSR1 takes the server away, SIGUSR2 brings it back; when it has happened, the file away in the folder
 * where this runs is there, or gone. The exit status is the command's, or 77 when there can be no server.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <spawn.h>

#include "results/tests/server.h"

static void take_away(void)
{
	int fd;

	if (!server_say('-'))
		return;
	fd = open("away", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		(void)close(fd);
}

static void bring_back(void)
{
	if (server_say('+'))
		(void)unlink("away");
}

/* Until the command has ended. */
static int attend(pid_t pid, const sigset_t *heard)
{
	int status = 0, number;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (sigwait(heard, &number) != 0)
			continue;
		if (number == SIGUSR1)
			take_away();
		else if (number == SIGUSR2)
			bring_back();
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int spawn(char **argv, pid_t *ret_pid)
{
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	(void)sigemptyset(&none);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	error = posix_spawnp(ret_pid, argv[0], NULL, &attributes, argv, environ);
	(void)posix_spawnattr_destroy(&attributes);
	return error;
}

int main(int argc, char **argv)
{
	sigset_t heard;
	pid_t pid;
	int status = 1;

	(void)server_setup(NULL);
	if (argc < 2 || the_server.lacks) {
		(void)fprintf(stderr, "with_server: %s\n",
			      argc < 2 ? "which command?" : the_server.lacks);
		(void)server_teardown(NULL);
		return argc < 2 ? 2 : 77;
	}
	(void)setenv("ZM_SERVER_URL", the_server.url, 1);
	(void)sigemptyset(&heard);
	(void)sigaddset(&heard, SIGUSR1);
	(void)sigaddset(&heard, SIGUSR2);
	(void)sigaddset(&heard, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &heard, NULL);
	if (spawn(argv + 1, &pid) == 0)
		status = attend(pid, &heard);
	(void)server_teardown(NULL);
	return status;
}
