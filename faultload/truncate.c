/*
 * truncate: files that fill the page cache are truncated, all at the same time.
 *
 * Each task reads a sparse file of its own, as long as its part of unit_size, into the page cache; when
 * all have, each gives its file up, all at the same time; and so on. As vm-scalability's truncate, where
 * it is rm that gives them up.
 */
#include "faultload/cutter.h"

static const struct zm_cutter_case own = { .area = { .is_read = true, .is_file = true } };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads sparse files as long as memory, and truncates them all at once",
	.op = "block",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_file_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_cutter_counters,
	.metrics = zm_cutter_metrics,
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
