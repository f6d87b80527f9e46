/* child: fork, exec, and a wait that hears signals. */
#include "runner/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void zm_child_become(const struct zm_child *child, const sigset_t *mask, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	if (child->prepare)
		child->prepare(child->context);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	(void)execv(child->program, (char *const *)child->argv);
	_exit(127);
}

static void fill_ending_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGINT);
	(void)sigaddset(set, SIGTERM);
	(void)sigaddset(set, SIGHUP);
}

static int wait_for(pid_t pid, int *ret_signal)
{
	siginfo_t info;
	sigset_t set;
	int status = 0;

	fill_ending_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (sigwaitinfo(&set, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		*ret_signal = info.si_signo;
		if (info.si_code <= 0) /* from a process, not from the terminal */
			(void)kill(pid, info.si_signo);
	}
	return status;
}

int zm_child_run(const struct zm_child *child, int *ret_status, int *ret_signal)
{
	pid_t parent = getpid(), pid;
	sigset_t set, old;

	fill_ending_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		zm_child_become(child, &old, parent);
	if (pid > 0)
		*ret_status = wait_for(pid, ret_signal);
	else
		pid = -errno;
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return pid < 0 ? (int)pid : 0;
}
