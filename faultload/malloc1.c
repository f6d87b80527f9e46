/*
 * malloc1: malloc and free of 128 MiB.
 *
 * Each task, for ever: malloc(128 MiB), free, and counts one. The C library maps so large a piece and
 * writes its size in front of it, so one operation is mmap, one page fault, munmap. As will-it-scale's
 * malloc1; its threads hang now and then when they are stopped inside the allocator, these end at
 * a step's end.
 */
#include <stddef.h>

#include "faultload/heap.h"
#include "faultload/wis.h"

static const size_t bytes = (size_t)128 << 20;

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	ret_footprint->task_bytes = run->page_bytes;
}

static bool expect_ops_per_fault(const struct zm_run *run, double *ret_least, double *ret_most)
{
	(void)run;
	*ret_least = *ret_most = 1;
	return true;
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "malloc and free of 128 MiB: mmap, one fault, munmap",
	.op = "allocation",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &bytes,
	.metrics = zm_wis_metrics,
	.batch = 512,
	.footprint = footprint,
	.step = zm_heap_step,
	.expect_ops_per_fault = expect_ops_per_fault,
	.report = zm_wis_report,
};
