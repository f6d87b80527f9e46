/*
 * lru_shm: reads files in tmpfs, from end to end.
 *
 * Each task has a sparse file of its own in a tmpfs, as long as its part of unit_size, and for ever:
 * maps it shared and read-only, reads 8 bytes at a time from it (each hole becomes a page), unmaps and
 * empties it. As vm-scalability's lru-shm.
 */
#include "faultload/usemem.h"

static const struct zm_area_case own = { .is_read = true, .is_file = true, .is_shm = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads a sparse file of its own in tmpfs, from end to end",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_shm_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.batch = ZM_WALK_BATCH,
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
