/*
 * tlb_flush3: pages of a shared file mapping come and go.
 *
 * Each task has an unlinked, sparse file of 128 MiB of its own, and for ever: maps it shared; for each
 * page from the lowest address to the highest writes 1 to its first byte, gives the page up with
 * MADV_DONTNEED, reads the 1 again, which the file has kept, and counts one; unmaps. As
 * will-it-scale's tlb_flush3.
 */
#include "faultload/flush.h"
#include "faultload/scratch.h"
#include "faultload/wis.h"

static const struct zm_flush flush = { .backing = ZM_BACKING_SHARED_FILE,
				       .size = UINT64_C(128) << 20,
				       .left = 1 };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "writes, gives up and reads again each page of a shared file mapping",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &flush,
	.options = zm_scratch_options,
	.options_size = sizeof(struct zm_scratch_options),
	.metrics = zm_wis_page_metrics,
	.batch = ZM_FLUSH_BATCH,
	.run_bytes = sizeof(struct zm_region_run),
	.task_bytes = sizeof(struct zm_region),
	.check = zm_flush_check,
	.footprint = zm_flush_footprint,
	.prepare = zm_flush_prepare,
	.setup = zm_flush_setup,
	.teardown = zm_region_teardown,
	.step = zm_flush_step,
	.verify = zm_region_verify,
	.expect_ops_per_fault = zm_flush_expect,
	.report = zm_wis_report,
};
