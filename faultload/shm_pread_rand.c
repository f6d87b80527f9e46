/*
 * shm_pread_rand: all tasks read one file in tmpfs, at random.
 *
 * There is one sparse file of unit_size in a tmpfs, and each task for ever: maps all of it shared and
 * read-only, reads 8 bytes at a time from it, and unmaps. As vm-scalability's shm-pread-rand, and
 * with threads its shm-pread-rand-mt.
 */
#include "faultload/usemem.h"

static const struct zm_area_case own = { .is_random = true,
					 .is_read = true,
					 .is_file = true,
					 .is_one = true,
					 .is_shm = true,
					 .is_whole = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads one sparse file in tmpfs by all tasks, at random",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_shm_options,
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
