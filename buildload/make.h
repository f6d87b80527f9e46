/*
 * make: one `make` that runs: its output read line by line, its end, and what it cost.
 *
 *     start -> read, again and again, until it has ended -> finish
 *         read     counts the jobs that it announces, keeps its last lines
 *         finish   status, CPU time and faults of it and of all it has waited for
 */
#ifndef ZM_BUILDLOAD_MAKE_H
#define ZM_BUILDLOAD_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "buildload/cgroup.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/why.h"

#define ZM_MAKE_TAIL 4096 /* bytes of output that are kept */

struct zm_make_spec {
	const char *const *argv;          /* "make", …; NULL-terminated */
	const struct zm_cgroups *cgroups; /* NULL: it stays in this process's */
	unsigned int index;
	const struct zm_cpuset *cpus; /* that it may use; NULL: as this process */
	bool is_kernel; /* only lines as "  CC  name.o" are jobs; else all but make's own words */
};

struct zm_make {
	pid_t pid;
	int out_fd;
	bool is_kernel;
	bool is_quiet; /* its output has ended */
	/* The line that is being read: how much of it, and what it is so far. */
	size_t column;
	char start[6];
	uint64_t nr_jobs;
	char tail[ZM_MAKE_TAIL]; /* a ring */
	size_t written;
};

/* Makes the process, in its cgroup. -ENOENT: there is no such program. */
int zm_make_start(struct zm_make *make, const struct zm_make_spec *spec, struct zm_why *why);

/* Reads what it has said, waiting for at most so long. True while there may be more. */
bool zm_make_read(struct zm_make *make, int timeout_ms);

/* Waits for its end. 0 when it ended with status 0; else -EPROTO and a sentence with its last lines. */
int zm_make_finish(struct zm_make *make, struct rusage *ret_usage, struct zm_why *why);

/* Kills it alone, and reaps it. What was not started is fine. */
void zm_make_abandon(struct zm_make *make);

/* The last lines of its output, with " | " between them, from the first that tells of an error on. */
char *zm_make_last_lines(const struct zm_make *make, char *buf, size_t size);

#endif
