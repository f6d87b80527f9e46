/*
 * tlb_flush1: pages of a private file mapping come and go.
 *
 * Each task has an unlinked, sparse file of 128 MiB of its own, and for ever: maps it private; for each
 * page from the lowest address to the highest writes 1 to its first byte, gives the page up with
 * MADV_DONTNEED, reads 0 there again, and counts one; unmaps. Each operation is one copied page, one
 * flush, and two faults. As will-it-scale's tlb_flush1.
 */
#include "faultload/flush.h"
#include "faultload/scratch.h"
#include "faultload/wis.h"

#define BYTES (UINT64_C(128) << 20)

static int check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_scratch_options *chosen = run->options;

	return zm_scratch_check(chosen->dir, why);
}

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_scratch_options *chosen = run->options;

	ret_footprint->task_bytes = BYTES;
	ret_footprint->task_files = 2;
	ret_footprint->disk_path = zm_scratch_dir(chosen->dir);
	if (zm_scratch_is_memory(chosen->dir))
		ret_footprint->disk_bytes = BYTES * run->nr_tasks;
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_scratch_options *chosen = task->run->options;
	struct zm_region_plan plan = { .size = BYTES,
				       .stride = task->run->page_bytes,
				       .backing = ZM_BACKING_PRIVATE_FILE,
				       .leaves_file_pages = true,
				       .dir = chosen->dir };

	return zm_region_open(task, &plan, why);
}

static int64_t step(struct zm_task *task, uint64_t n)
{
	return zm_flush_step(task, n, 0);
}

static bool expect_ops_per_fault(const struct zm_run *run, double *ret_least, double *ret_most)
{
	return zm_flush_expect(run, ZM_BACKING_PRIVATE_FILE, ret_least, ret_most);
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "writes, gives up and reads again each page of a private file mapping",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = zm_scratch_options,
	.options_size = sizeof(struct zm_scratch_options),
	.metrics = zm_wis_page_metrics,
	.batch = 64,
	.run_bytes = sizeof(struct zm_region_run),
	.task_bytes = sizeof(struct zm_region),
	.check = check,
	.footprint = footprint,
	.setup = setup,
	.teardown = zm_region_teardown,
	.step = step,
	.verify = zm_region_verify,
	.expect_ops_per_fault = expect_ops_per_fault,
	.report = zm_wis_report,
};
