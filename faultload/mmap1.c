/*
 * mmap1: mmap and munmap of anonymous memory.
 *
 * Each task, for ever: maps 128 MiB of private anonymous memory, unmaps it untouched, and counts one.
 * As will-it-scale's mmap1.
 */
#include "faultload/mapping.h"
#include "faultload/wis.h"

static int setup(struct zm_task *task, struct zm_why *why)
{
	struct zm_mapping *mapping = task->state;

	(void)why;
	mapping->fd = -1;
	return 0;
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps and unmaps 128 MiB of anonymous memory, untouched",
	.op = "mapping",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.metrics = zm_wis_metrics,
	.batch = 512,
	.task_bytes = sizeof(struct zm_mapping),
	.setup = setup,
	.step = zm_mapping_step,
	.report = zm_wis_report,
};
