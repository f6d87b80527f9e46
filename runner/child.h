/*
 * child: a program run to its end, with our signals passed on.
 *
 * It has no input, and its answer is talk here (standard error). INT, TERM and HUP are blocked while it lives:
 * what another process sends us is passed on; what the terminal sends has come to the child, too. However this
 * process ends, the child is told (SIGTERM).
 */
#ifndef ZM_RUNNER_CHILD_H
#define ZM_RUNNER_CHILD_H

#include <signal.h>
#include <sys/types.h>

#define ZM_CHILD_THIS_PROGRAM "/proc/self/exe"

struct zm_child {
	const char *program; /* a path */
	const char *const *argv;
	void (*prepare)(const void *context); /* in the child, before its exec; may be NULL */
	const void *context;
};

/* 0, with its status as of waitpid, and the signal that we heard (else as it was); or -errno: it was not
 * started. One that cannot be executed ends with 127. */
int zm_child_run(const struct zm_child *child, int *ret_status, int *ret_signal);

/* For who forks himself: the child's part, with its signal mask. */
void zm_child_become(const struct zm_child *child, const sigset_t *mask, pid_t parent)
	__attribute__((noreturn));

#endif
