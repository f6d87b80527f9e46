/*
 * anon_w_rand_hugetlb: writes to fresh huge pages (hugetlb), at random.
 *
 * Each task, for ever: maps its part of unit_size private, writes 8 bytes at a time to it,
 * a word at random, as often as there are words, and unmaps. As vm-scalability's
 * anon-w-rand-hugetlb.
 */
#include "faultload/hugepool.h"
#include "faultload/usemem.h"

static const struct zm_area_case own = { .is_random = true, .is_huge = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps huge pages and writes to it, at random",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.need = { .root = true },
	.own = &own,
	.options = zm_area_huge_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.save = zm_hugepool_save,
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
