/*
 * mmap_pread_rand: all tasks read one file, at random.
 *
 * There is one sparse file, and each task for ever: maps its first bytes, as many as a task's part of
 * unit_size, shared and read-only, reads 8 bytes at a time from them, and unmaps. As vm-scalability's
 * mmap-pread-rand, and with threads its mmap-pread-rand-mt.
 */
#include "faultload/usemem.h"

static const struct zm_area_case own = {
	.is_random = true, .is_read = true, .is_file = true, .is_one = true
};

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads one sparse file by all tasks, at random",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_file_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.batch = ZM_WALK_RANDOM_BATCH,
	.run_bytes = sizeof(struct zm_usemem_run),
	.task_bytes = sizeof(struct zm_usemem_task),
	.check = zm_area_check,
	.footprint = zm_area_footprint,
	.prepare = zm_usemem_prepare,
	.cleanup = zm_usemem_cleanup,
	.setup = zm_usemem_setup,
	.teardown = zm_usemem_teardown,
	.step = zm_usemem_step,
	.verify = zm_usemem_verify,
	.expect_ops_per_fault = zm_usemem_expect,
	.report = zm_vmscal_report,
};
