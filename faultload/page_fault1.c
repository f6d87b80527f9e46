/*
 * page_fault1: anonymous memory, one fault after the other.
 *
 * Each task, for ever: maps 128 MiB of private anonymous memory, writes one zero byte to each base
 * page from the lowest address to the highest, counts one per page written, and unmaps. As
 * will-it-scale's page_fault1.
 */
#include "faultload/region.h"
#include "faultload/wis.h"

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	zm_region_footprint(run, ZM_BACKING_ANON, ret_footprint);
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	return zm_region_setup(task, ZM_BACKING_ANON, why);
}

static bool expect_ops_per_fault(const struct zm_run *run, double *ret_least, double *ret_most)
{
	return zm_region_expect(run, ZM_BACKING_ANON, ret_least, ret_most);
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps anonymous memory, writes to each page, unmaps",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = ZM_REGION_ANON_OPTIONS,
	.options_size = sizeof(struct zm_region_options),
	.metrics = zm_wis_page_metrics,
	.save = zm_thp_save,
	.batch = ZM_REGION_BATCH,
	.run_bytes = sizeof(struct zm_region_run),
	.task_bytes = sizeof(struct zm_region),
	.check = zm_region_check,
	.footprint = footprint,
	.prepare = zm_region_prepare,
	.cleanup = zm_region_cleanup,
	.setup = setup,
	.teardown = zm_region_teardown,
	.step = zm_region_step,
	.verify = zm_region_verify,
	.expect_ops_per_fault = expect_ops_per_fault,
	.report = zm_wis_report,
};
