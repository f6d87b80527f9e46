/*
 * anon_cow_rand: writes to memory that is shared with a parent, at random.
 *
 * The parent maps its part of unit_size private and populates it; each task's children inherit it and
 * write 8 bytes at a time to it, a word at random, as often as there are words: the first
 * write to each page copies it. As vm-scalability's anon-cow-rand; threads copy nothing,
 * as in its anon-cow-rand-mt.
 */
#include "faultload/cow.h"

static const struct zm_area_case own = { .is_random = true, .is_prepared = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "writes to memory shared with a parent, at random: copies on write",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.has_children = true,
	.own = &own,
	.options = zm_area_anon_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.save = zm_thp_save,
	.run_bytes = sizeof(struct zm_usemem_run),
	.task_bytes = sizeof(struct zm_cow_task),
	.check = zm_area_check,
	.footprint = zm_area_footprint,
	.prepare = zm_usemem_prepare,
	.cleanup = zm_usemem_cleanup,
	.setup = zm_cow_setup,
	.teardown = zm_cow_teardown,
	.round = zm_cow_round,
	.verify = zm_cow_verify,
	.report = zm_vmscal_report,
};
