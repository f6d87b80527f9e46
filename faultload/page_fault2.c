/*
 * page_fault2: a private file mapping, so each write copies a page.
 *
 * Each task has an unlinked, sparse file of 128 MiB of its own, and for ever: maps it private,
 * writes one zero byte to each base page from the lowest address to the highest, counts one per
 * page written, and unmaps. Each write copies the page of the cache into a new one; the first round
 * also fills the cache. As will-it-scale's page_fault2.
 */
#include "faultload/region.h"
#include "faultload/wis.h"

static const enum zm_backing backing = ZM_BACKING_PRIVATE_FILE;

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps a file private, writes to each page (each write copies), unmaps",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &backing,
	.options = zm_region_file_options,
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
