/*
 * page_fault3: a shared file mapping, so each write dirties the cache.
 *
 * Each task has an unlinked, sparse file of 128 MiB of its own, and for ever: maps it shared,
 * writes one zero byte to each base page from the lowest address to the highest, counts one per
 * page written, and unmaps. One fault may map all of a large folio of the file, so operations and
 * faults differ by what the file system caches. As will-it-scale's page_fault3.
 */
#include "faultload/region.h"
#include "faultload/wis.h"

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	zm_region_footprint(run, ZM_BACKING_SHARED_FILE, ret_footprint);
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	return zm_region_setup(task, ZM_BACKING_SHARED_FILE, why);
}

static bool expect_ops_per_fault(const struct zm_run *run, double *ret_least, double *ret_most)
{
	return zm_region_expect(run, ZM_BACKING_SHARED_FILE, ret_least, ret_most);
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps a file shared, writes to each page (each write dirties it), unmaps",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = zm_region_file_options,
	.options_size = sizeof(struct zm_region_options),
	.metrics = zm_wis_page_metrics,
	.save = zm_thp_save,
	.batch = ZM_REGION_BATCH,
	.run_bytes = sizeof(struct zm_region_run),
	.task_bytes = sizeof(struct zm_region),
	.check = zm_region_file_check,
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
