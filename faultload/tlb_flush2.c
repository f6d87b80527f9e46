/*
 * tlb_flush2: pages of anonymous memory come and go.
 *
 * Each task, for ever: maps 1 MiB of private anonymous memory; for each page from the lowest address
 * to the highest writes 1 to its first byte, gives the page up with MADV_DONTNEED, reads 0 there
 * (the zero page), and counts one; unmaps. As will-it-scale's tlb_flush2.
 */
#include "faultload/flush.h"
#include "faultload/wis.h"

static const struct zm_flush flush = { .backing = ZM_BACKING_ANON,
				       .size = UINT64_C(1) << 20,
				       .left = 0 };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "writes, gives up and reads again each page of anonymous memory",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &flush,
	.metrics = zm_wis_page_metrics,
	.batch = ZM_FLUSH_BATCH,
	.run_bytes = sizeof(struct zm_region_run),
	.task_bytes = sizeof(struct zm_region),
	.footprint = zm_flush_footprint,
	.prepare = zm_flush_prepare,
	.setup = zm_flush_setup,
	.teardown = zm_region_teardown,
	.step = zm_flush_step,
	.verify = zm_region_verify,
	.expect_ops_per_fault = zm_flush_expect,
	.report = zm_wis_report,
};
