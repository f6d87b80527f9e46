/*
 * lru_file_readtwice: files larger than memory are read twice.
 *
 * The two tasks of a pair read the same sparse file, as long as the pair's part of unit_size, from end to
 * end, 4 KiB at a time, for ever: a page that one has brought in is wanted again by the other, so it
 * becomes active. nr_task counts pairs. As vm-scalability's lru-file-readtwice, which runs two dd for
 * each file.
 */
#include "faultload/reader.h"

static const struct zm_area_case own = { .is_read = true, .is_file = true, .is_called = true };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "reads sparse files larger than memory by read, each by two tasks",
	.op = "block",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.nr_ends = 2,
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
