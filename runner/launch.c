/* launch: fork, one socket, one byte a word, and the launcher's death certificate. */
#include "runner/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/launcher.h"

/* Of a task's own writes to mapped files and huge pages. */
#define SIGBUS_MEANS                                                                               \
	", as memory it wrote to could not be had (file system full, or too few huge pages)"

static int open_channels(struct zm_launch *launch, int *ret_other, struct zm_why *why)
{
	int pair[2];
	int r;

	launch->spec->notice_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (launch->spec->notice_fd >= 0 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0) {
		launch->socket = pair[0];
		*ret_other = pair[1];
		return 0;
	}
	r = -errno;
	return zm_why_errno(why, r, "a line to the launcher");
}

/* What is on its way to stdout and stderr is written by one process only. */
static void flush_stdio(void)
{
	(void)fflush(stdout);
	(void)fflush(stderr);
}

/* Where it may, the runner comes before its tasks: with hundreds of them on a CPU it would otherwise
 * get one turn in hundreds. */
static void rise(struct zm_launch *launch)
{
	errno = 0;
	launch->niceness = getpriority(PRIO_PROCESS, 0);
	launch->has_risen = errno == 0 && setpriority(PRIO_PROCESS, 0, -20) == 0;
}

static void come_down(struct zm_launch *launch)
{
	if (launch->has_risen)
		(void)setpriority(PRIO_PROCESS, 0, launch->niceness);
	launch->has_risen = false;
}

int zm_launch_start(struct zm_launch *launch, struct zm_launch_spec *spec, struct zm_why *why)
{
	pid_t self = getpid();
	int other = -1;
	int r;

	*launch = (struct zm_launch){ .spec = spec, .socket = -1 };
	r = open_channels(launch, &other, why);
	if (r < 0) {
		zm_launch_end(launch);
		return r;
	}
	flush_stdio();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	launch->pid = fork();
	if (launch->pid == 0)
		_exit(zm_launcher_main(spec, self, other));
	rise(launch);
	r = launch->pid < 0 ? -errno : 0;
	(void)close(other);
	if (r < 0) {
		launch->pid = 0;
		zm_launch_end(launch);
		return zm_why_errno(why, r, "starting the launcher");
	}
	return 0;
}

int zm_launch_tell(struct zm_launch *launch, enum zm_word word)
{
	unsigned char byte = (unsigned char)word;

	while (send(launch->socket, &byte, 1, MSG_NOSIGNAL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

void zm_launch_say_death(const struct zm_launch_spec *spec, const char *who, int status, char *buf,
			 size_t size)
{
	char oom[320];

	if (WIFEXITED(status))
		(void)snprintf(buf, size, "%s ended by itself with status %d", who,
			       WEXITSTATUS(status));
	else if (WTERMSIG(status) == SIGKILL &&
		 zm_oom_has_struck(spec->arena->run->root, &spec->oom, oom, sizeof(oom)))
		(void)snprintf(buf, size, "%s was %s", who, oom);
	else
		(void)snprintf(buf, size, "%s was killed by signal %d (%s)%s", who,
			       WTERMSIG(status), strsignal(WTERMSIG(status)),
			       WTERMSIG(status) == SIGBUS ? SIGBUS_MEANS : "");
}

static bool reap(struct zm_launch *launch, int flags)
{
	pid_t pid;

	if (launch->is_reaped)
		return true;
	do
		pid = waitpid(launch->pid, &launch->status, flags);
	while (pid < 0 && errno == EINTR);
	launch->is_reaped = pid != 0;
	return launch->is_reaped;
}

/* The tasks of a dead launcher are dying too (PR_SET_PDEATHSIG), and this process has become their
 * parent: gone means reaped. */
static void reap_orphans(const struct zm_launch *launch)
{
	pid_t pid;

	(void)kill(-launch->pid, SIGKILL);
	do
		pid = waitpid(-launch->pid, NULL, 0);
	while (pid > 0 || (pid < 0 && errno == EINTR));
}

static void record_death(const struct zm_launch *launch)
{
	bool has_threads = launch->spec->arena->run->kind == ZM_TASK_THREAD;
	char who[96], death[ZM_WHY_SIZE];

	(void)snprintf(who, sizeof(who), "%s (pid %d)",
		       has_threads ? "the process of all tasks" : "the tasks' parent",
		       (int)launch->pid);
	zm_launch_say_death(launch->spec, who, launch->status, death, sizeof(death));
	zm_arena_fail(launch->spec->arena, -1, -ECHILD, "%s", death);
}

/* 1: a word; 0: no more will come; -1: none yet. */
static ssize_t receive(struct zm_launch *launch, enum zm_word *ret_word)
{
	unsigned char byte;
	ssize_t n;

	do
		n = recv(launch->socket, &byte, 1, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	*ret_word = n == 1 ? (enum zm_word)byte : ZM_WORD_NONE;
	if (*ret_word == ZM_WORD_FINISHED)
		launch->is_finished = true;
	return n;
}

int zm_launch_hear(struct zm_launch *launch, enum zm_word *ret_word)
{
	ssize_t n = receive(launch, ret_word);

	if (n == 1 || launch->is_finished || !reap(launch, n == 0 ? 0 : WNOHANG))
		return 0;
	/* It may have said its last word, and ended, between the two looks. */
	if (receive(launch, ret_word) == 1)
		return 0;
	record_death(launch);
	reap_orphans(launch);
	return -ECHILD;
}

void zm_launch_kill(struct zm_launch *launch)
{
	if (launch->pid <= 0 || launch->is_reaped)
		return;
	(void)kill(-launch->pid, SIGKILL);
	(void)kill(launch->pid, SIGKILL);
	(void)reap(launch, 0);
	reap_orphans(launch);
}

void zm_launch_end(struct zm_launch *launch)
{
	zm_launch_kill(launch);
	come_down(launch);
	if (launch->socket >= 0)
		(void)close(launch->socket);
	if (launch->spec && launch->spec->notice_fd >= 0)
		(void)close(launch->spec->notice_fd);
	launch->socket = -1;
	if (launch->spec)
		launch->spec->notice_fd = -1;
}
