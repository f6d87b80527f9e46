/*
 * mmap2: mmap and munmap of a file.
 *
 * Each task has an unlinked, sparse file of 128 MiB of its own, and for ever: maps it private, unmaps
 * it untouched, and counts one. As will-it-scale's mmap2.
 */
#include <unistd.h>

#include "faultload/mapping.h"
#include "faultload/scratch.h"
#include "faultload/wis.h"

static int check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_scratch_options *chosen = run->options;

	return zm_scratch_check(chosen->dir, why);
}

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	(void)run;
	ret_footprint->task_files = 1;
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_scratch_options *chosen = task->run->options;
	struct zm_mapping *mapping = task->state;

	mapping->fd = -1;
	return zm_scratch_open(chosen->dir, ZM_MAPPING_BYTES, &mapping->fd, why);
}

static void teardown(struct zm_task *task)
{
	struct zm_mapping *mapping = task->state;

	if (mapping->fd >= 0)
		(void)close(mapping->fd);
	mapping->fd = -1;
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps and unmaps a file of 128 MiB, untouched",
	.op = "mapping",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = zm_scratch_options,
	.options_size = sizeof(struct zm_scratch_options),
	.metrics = zm_wis_metrics,
	.batch = 512,
	.task_bytes = sizeof(struct zm_mapping),
	.check = check,
	.footprint = footprint,
	.setup = setup,
	.teardown = teardown,
	.step = zm_mapping_step,
	.report = zm_wis_report,
};
