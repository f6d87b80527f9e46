/*
 * instance: one emulated build that runs: started, watched, ended.
 *
 *     open     its descriptors                              once
 *     start    writes the script, makes the process         per build
 *     wait     until it has ended, or so long               again and again
 *     finish   0, or why it failed
 *     stop     kills what runs
 *
 * The process that starts it becomes the one to which its orphans come, and takes them.
 */
#ifndef ZM_BUILDLOAD_INSTANCE_H
#define ZM_BUILDLOAD_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buildload/cgroup.h"
#include "buildload/progress.h"
#include "buildload/script.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/why.h"

struct zm_instance_spec {
	const char *folder;               /* of the scene */
	unsigned int index;               /* which instance of it */
	unsigned int jobs;                /* slots; 1 or more */
	const struct zm_cgroups *cgroups; /* NULL: it stays in this process's */
	const struct zm_cpuset *cpus;     /* that it may use; NULL: as this process */
};

struct zm_instance {
	pid_t pid; /* 0: nothing runs */
	int pid_fd;
	int progress_fd, complaints_fd; /* -1: not open */
	struct zm_progress *progress;
	int status; /* once it has ended */
};

/* A zeroed one with its descriptors -1 may be closed. */
int zm_instance_open(struct zm_instance *instance, struct zm_why *why);
void zm_instance_close(struct zm_instance *instance);

int zm_instance_start(struct zm_instance *instance, const struct zm_instance_spec *spec,
		      const struct zm_script *script, struct zm_why *why);

/* False once it has ended. */
bool zm_instance_wait(struct zm_instance *instance, int timeout_ms);

/* After zm_instance_wait was false. -EPROTO: the sentence has what the first that failed said. */
int zm_instance_finish(struct zm_instance *instance, struct zm_why *why);

/* Kills all of it and waits for that. Nothing runs: fine. */
void zm_instance_stop(struct zm_instance *instance, const struct zm_instance_spec *spec);

#endif
