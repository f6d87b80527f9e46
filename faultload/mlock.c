/*
 * mlock: writes to fresh memory, from end to end, and locks it.
 *
 * Each task, for ever: maps its part of unit_size private, writes 8 bytes at a time to it, locks it into
 * memory, and unmaps. As vm-scalability's mlock, whose figure is that of the writes; the locking is timed
 * apart.
 */
#include "faultload/usemem.h"

static const struct zm_area_case own = { .is_locked = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps memory, writes to it, and locks it",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_anon_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.save = zm_thp_save,
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
