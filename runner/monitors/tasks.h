/*
 * tasks: the files in procfs of the tasks that a monitor looks at.
 *
 * A process's files are proc/PID/…, a thread's proc/LAUNCHER/task/TID/…. A number that belongs to
 * another task by now is told by its start time.
 */
#ifndef ZM_RUNNER_MONITORS_TASKS_H
#define ZM_RUNNER_MONITORS_TASKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runner/monitor.h"
#include "runner/monitors/taskstat.h"

struct zm_tasks_one {
	pid_t tid;
	uint64_t start_ticks;
};

/* A zeroed struct has none. */
struct zm_tasks {
	struct zm_tasks_one *list;
	unsigned int nr;
	enum zm_task_kind kind;
	pid_t launcher;
};

/* Remembers who they are. A task that cannot be found is an error. */
int zm_tasks_attach(struct zm_tasks *tasks, const struct zm_sysroot *root,
		    const struct zm_target *target, struct zm_why *why);
void zm_tasks_release(struct zm_tasks *tasks);

/* A file of a task, terminated; allocates nothing. -ENOENT or -ESRCH: it is gone. */
int zm_tasks_read(const struct zm_tasks *tasks, const struct zm_sysroot *root, unsigned int index,
		  const char *file, char *buf, size_t size);

/* Declares counts of one task, each in its unit. */
struct zm_tasks_figure {
	const char *name, *unit;
};

int zm_tasks_declare(struct zm_monitor_context *context, unsigned int index,
		     const struct zm_tasks_figure *figures, unsigned int nr, uint32_t *ret_series);

/* Its stat; -ESRCH also when the number belongs to another task by now. */
int zm_tasks_stat(const struct zm_tasks *tasks, const struct zm_sysroot *root, unsigned int index,
		  struct zm_taskstat *ret_taskstat);

#endif
