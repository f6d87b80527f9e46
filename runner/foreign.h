/*
 * foreign: a run of a command that is none of ours, with all monitors watching.
 *
 *     runner                                 the command's process
 *       | fork ----------------------------->  waits
 *       | monitors are opened, attached to it
 *       | a reading of all of them
 *       | the word -------------------------->  exec
 *       | readings, until it ends
 *       | a reading, while it is not reaped yet: its own figures are still there
 *       | reaps it
 *
 * From word to end it is the measured phase. The command has our standard input, output and error, our
 * process group and working directory, and the signals' dispositions that we were started with.
 */
#ifndef ZM_RUNNER_FOREIGN_H
#define ZM_RUNNER_FOREIGN_H

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>

#include "runner/session.h"

#define ZM_FOREIGN_NAME "profile" /* as the runs' workload, and the source of their figures */

struct zm_foreign {
	struct zm_session *session;
	char *const *argv;    /* ends with NULL */
	const char *line;     /* argv as one would type it */
	const sigset_t *mask; /* the command's */
	uint64_t interval_ns; /* between two readings of a monitor */
	int status;           /* of waitpid; -1: it was not started */
	int exec_error;       /* -errno of its exec */
	struct rusage usage;  /* once it has ended */
};

/* Where a command is that has no '/' in its name is looked up on PATH. 0; -ENOENT; -EACCES: there, but
 * not to be run. The sentence says which. */
int zm_foreign_find(const char *command, struct zm_why *why);

/*
 * One launch. Always fills in the outcome (release its report). A signal of ours goes on to the command;
 * the second one of them kills it. However the command ended, it was measured, and has its figures:
 *
 *     it exited             ok, and a note when its status was not 0
 *     a signal killed it    failed
 *     a signal came to us   interrupted
 *     it could not start    failed, without figures
 */
void zm_foreign_run(struct zm_foreign *foreign, unsigned int repeat,
		    struct zm_outcome *ret_outcome);

#endif
