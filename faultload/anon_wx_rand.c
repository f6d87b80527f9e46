/*
 * anon_wx_rand: all threads write to one area, at random.
 *
 * The area is as long as a thread's part of unit_size, private, and mapped before the threads are made;
 * each of them writes 8 bytes at a time to it, as often as there are words. As vm-scalability's
 * anon-wx-rand-mt.
 */
#include "faultload/crowd.h"

static const struct zm_area_case own = { .is_random = true, .is_crowd = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "writes to one area by all threads, at random",
	.op = "word",
	.kinds = ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_anon_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.save = zm_thp_save,
	.patience_ns = ZM_CROWD_PATIENCE_NS,
	.run_bytes = sizeof(struct zm_crowd_run),
	.task_bytes = sizeof(struct zm_cow_task),
	.check = zm_area_check,
	.footprint = zm_area_footprint,
	.prepare = zm_crowd_prepare,
	.cleanup = zm_crowd_cleanup,
	.setup = zm_cow_setup,
	.teardown = zm_cow_teardown,
	.round = zm_crowd_round,
	.verify = zm_usemem_verify,
	.report = zm_vmscal_report,
};
