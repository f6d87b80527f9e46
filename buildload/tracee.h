/*
 * tracee: the command that is traced (trace.h), until it is the command. It stops once for its tracer, and
 * then at each call that the trace wants to know of.
 */
#ifndef ZM_BUILDLOAD_TRACEE_H
#define ZM_BUILDLOAD_TRACEE_H

#include "workloads/base/why.h"

/* What kept the command from starting, as it is written to the pipe. */
struct zm_tracee_failure {
	int error; /* -errno */
	enum { ZM_TRACEE_NO_PTRACE, ZM_TRACEE_NO_SECCOMP, ZM_TRACEE_NO_EXEC } where;
};

/* In a new process: becomes the command, or writes a failure to say_fd, which exec closes. */
_Noreturn void zm_tracee_be(const char *const *argv, int say_fd);

/* Makes a sentence of it: -ENOTSUP, or what exec said. */
int zm_tracee_say(const char *command, const struct zm_tracee_failure *failure, struct zm_why *why);

#endif
