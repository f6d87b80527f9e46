/*
 * shm_xread_rand: all tasks read one mapped file in tmpfs, at random.
 *
 * The file is sparse and as long as unit_size, mapped shared and read-only before the tasks are made; each
 * of them reads 8 bytes at a time from it, as often as it has words: whoever comes first to a hole makes
 * it a page. As vm-scalability's shm-xread-rand, and with threads its shm-xread-rand-mt.
 */
#include "faultload/crowd.h"

static const struct zm_area_case own = { .is_random = true,
					 .is_read = true,
					 .is_file = true,
					 .is_one = true,
					 .is_shm = true,
					 .is_whole = true,
					 .is_crowd = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads one mapped file in tmpfs by all tasks, at random",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.has_children = true,
	.own = &own,
	.options = zm_area_shm_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
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
