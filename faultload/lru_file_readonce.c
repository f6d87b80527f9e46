/*
 * lru_file_readonce: files larger than memory are read once.
 *
 * Each task has a sparse file of its own, as long as its part of unit_size, and for ever: reads it from
 * end to end, 4 KiB at a time, and empties it. The cache fills with pages that nobody wants again, and
 * reclaim makes room. As vm-scalability's lru-file-readonce, which runs dd.
 */
#include "faultload/reader.h"

static const struct zm_area_case own = { .is_read = true, .is_file = true, .is_called = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads a sparse file of its own, larger than memory, by read",
	.op = "block",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.nr_ends = 1,
	.own = &own,
	.options = zm_area_file_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.batch = 1024,
	.run_bytes = sizeof(struct zm_reader_run),
	.task_bytes = sizeof(struct zm_reader),
	.check = zm_reader_check,
	.footprint = zm_area_footprint,
	.prepare = zm_reader_prepare,
	.cleanup = zm_reader_cleanup,
	.setup = zm_reader_setup,
	.teardown = zm_reader_teardown,
	.step = zm_reader_step,
	.verify = zm_reader_verify,
	.report = zm_vmscal_report,
};
