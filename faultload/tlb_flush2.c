/*
 * tlb_flush2: pages of anonymous memory come and go.
 *
 * Each task, for ever: maps 1 MiB of private anonymous memory; for each page from the lowest address
 * to the highest writes 1 to its first byte, gives the page up with MADV_DONTNEED, reads 0 there
 * (the zero page), and counts one; unmaps. As will-it-scale's tlb_flush2.
 */
#include "faultload/flush.h"
#include "faultload/wis.h"

#define BYTES (UINT64_C(1) << 20)

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	(void)run;
	ret_footprint->task_bytes = BYTES;
	ret_footprint->task_files = 1;
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	struct zm_region_plan plan = { .size = BYTES,
				       .stride = task->run->page_bytes,
				       .backing = ZM_BACKING_ANON };

	return zm_region_open(task, &plan, why);
}

static int64_t step(struct zm_task *task, uint64_t n)
{
	return zm_flush_step(task, n, 0);
}

static bool expect_ops_per_fault(const struct zm_run *run, double *ret_least, double *ret_most)
{
	return zm_flush_expect(run, ZM_BACKING_ANON, ret_least, ret_most);
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "writes, gives up and reads again each page of anonymous memory",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.metrics = zm_wis_page_metrics,
	.batch = 64,
	.run_bytes = sizeof(struct zm_region_run),
	.task_bytes = sizeof(struct zm_region),
	.footprint = footprint,
	.setup = setup,
	.teardown = zm_region_teardown,
	.step = step,
	.verify = zm_region_verify,
	.expect_ops_per_fault = expect_ops_per_fault,
	.report = zm_wis_report,
};
