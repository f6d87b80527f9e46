/*
 * page_fault1: anonymous memory, one fault after the other.
 *
 * Each task, for ever: maps 128 MiB of private anonymous memory, writes one zero byte to each base
 * page from the lowest address to the highest, counts one per page written, and unmaps. As
 * will-it-scale's page_fault1.
 */
#include "faultload/region.h"
#include "faultload/wis.h"

static const enum zm_backing backing = ZM_BACKING_ANON;

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps anonymous memory, writes to each page, unmaps",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &backing,
	.options = ZM_REGION_ANON_OPTIONS,
	.options_size = sizeof(struct zm_region_options),
	.metrics = zm_wis_page_metrics,
	.save = zm_thp_save,
	.batch = ZM_REGION_BATCH,
	.run_bytes = sizeof(struct zm_region_run),
	.task_bytes = sizeof(struct zm_region),
	.check = zm_region_check,
	.footprint = zm_region_footprint,
	.prepare = zm_region_prepare,
	.cleanup = zm_region_cleanup,
	.setup = zm_region_setup,
	.teardown = zm_region_teardown,
	.step = zm_region_step,
	.verify = zm_region_verify,
	.expect_ops_per_fault = zm_region_expect,
	.report = zm_wis_report,
};
