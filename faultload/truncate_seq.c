/*
 * truncate_seq: files that fill the page cache are truncated, one after the other.
 *
 * One task after the other reads a sparse file of its own, as long as its part of unit_size, into the page
 * cache; when all have, one after the other gives its file up; and so on. As vm-scalability's truncate-seq,
 * where one cat after the other reads and one rm gives up.
 */
#include "faultload/cutter.h"

static const struct zm_cutter_case own = { .area = { .is_read = true, .is_file = true },
					   .is_in_turns = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads sparse files as long as memory, and truncates one after the other",
	.op = "block",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_file_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_cutter_counters,
	.metrics = zm_cutter_fault_metrics,
	.patience_ns = ZM_CUTTER_PATIENCE_NS,
	.run_bytes = sizeof(struct zm_cutter_run),
	.task_bytes = sizeof(struct zm_cutter),
	.check = zm_cutter_check,
	.footprint = zm_cutter_footprint,
	.prepare = zm_cutter_prepare,
	.setup = zm_cutter_setup,
	.teardown = zm_cutter_teardown,
	.round = zm_cutter_round,
	.verify = zm_cutter_verify,
	.report = zm_cutter_report,
};
