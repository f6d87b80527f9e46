/*
 * fallocate2: fallocate in a file system.
 *
 * Each task has an unlinked file of its own in /tmp (or dir), and for ever: makes it longer by 8 KiB with
 * fallocate, and counts one; when it is 1 MiB long, it is truncated to nothing. As will-it-scale's
 * fallocate2.
 */
#include "faultload/grow.h"
#include "faultload/wis.h"

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "makes a file longer by 8 KiB at a time, and cuts it at 1 MiB",
	.op = "call of fallocate",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = zm_scratch_options,
	.options_size = sizeof(struct zm_scratch_options),
	.metrics = zm_wis_metrics,
	.batch = 512,
	.run_bytes = sizeof(struct zm_grow_run),
	.task_bytes = sizeof(struct zm_grow),
	.check = zm_grow_check,
	.footprint = zm_grow_footprint,
	.setup = zm_grow_setup,
	.teardown = zm_grow_teardown,
	.step = zm_grow_step,
	.verify = zm_grow_verify,
	.report = zm_wis_report,
};
