/*
 * tasks: paths from numbers, opened for each reading: a descriptor per task would be too many.
 */
#include "runner/monitors/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define STAT_SIZE 1024

int zm_tasks_read(const struct zm_tasks *tasks, const struct zm_sysroot *root, unsigned int index,
		  const char *file, char *buf, size_t size)
{
	pid_t tid = tasks->list[index].tid;
	char path[96];
	size_t length;

	if (tasks->kind == ZM_TASK_PROCESS)
		(void)snprintf(path, sizeof(path), "proc/%d/%s", tid, file);
	else
		(void)snprintf(path, sizeof(path), "proc/%d/task/%d/%s", tasks->launcher, tid,
			       file);
	return zm_sysroot_read_into(root, path, buf, size, &length);
}

static int read_stat(const struct zm_tasks *tasks, const struct zm_sysroot *root,
		     unsigned int index, struct zm_taskstat *ret_taskstat)
{
	char text[STAT_SIZE];
	int error = zm_tasks_read(tasks, root, index, "stat", text, sizeof(text));

	if (!error && !zm_taskstat_parse(text, ret_taskstat))
		error = -ENODATA;
	return error;
}

int zm_tasks_stat(const struct zm_tasks *tasks, const struct zm_sysroot *root, unsigned int index,
		  struct zm_taskstat *ret_taskstat)
{
	struct zm_taskstat stat;
	int error = read_stat(tasks, root, index, &stat);

	if (!error && stat.start_ticks != tasks->list[index].start_ticks)
		error = -ESRCH;
	if (!error)
		*ret_taskstat = stat;
	return error;
}

int zm_tasks_attach(struct zm_tasks *tasks, const struct zm_sysroot *root,
		    const struct zm_target *target, struct zm_why *why)
{
	struct zm_taskstat stat;
	int error;

	*tasks = (struct zm_tasks){ .kind = target->kind, .launcher = target->launcher };
	tasks->list = calloc((size_t)target->nr_tasks + 1, sizeof(*tasks->list));
	if (!tasks->list)
		return zm_why_errno(why, -ENOMEM, "%u tasks", target->nr_tasks);
	for (unsigned int i = 0; i < target->nr_tasks; i++) {
		tasks->list[i].tid = target->tids[i];
		error = read_stat(tasks, root, i, &stat);
		if (error)
			return zm_why_errno(why, error, "stat of task %u (%d) in /proc", i,
					    target->tids[i]);
		tasks->list[i].start_ticks = stat.start_ticks;
		tasks->nr++;
	}
	return 0;
}

int zm_tasks_declare(struct zm_monitor_context *context, unsigned int index,
		     const struct zm_tasks_figure *figures, unsigned int nr, uint32_t *ret_series)
{
	int error = 0;

	for (unsigned int i = 0; !error && i < nr; i++) {
		const struct zm_series_desc desc = {
			.source = context->monitor->name,
			.metric = figures[i].name,
			.unit = figures[i].unit,
			.kind = ZM_COUNT,
			.scope = ZM_SCOPE_TASK,
			.scope_id = index,
		};

		error = zm_recorder_series(context->recorder, &desc, &ret_series[i]);
	}
	return error;
}

void zm_tasks_release(struct zm_tasks *tasks)
{
	free(tasks->list);
	*tasks = (struct zm_tasks){ 0 };
}
