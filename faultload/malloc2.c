/*
 * malloc2: malloc and free of 1 KiB.
 *
 * Each task, for ever: malloc(1 KiB), free, and counts one. The C library keeps the piece at hand, so
 * the kernel sees nothing of it: it measures the library, and whether tasks disturb each other in
 * user space. As will-it-scale's malloc2.
 */
#include "faultload/heap.h"
#include "faultload/wis.h"

#define BYTES ((size_t)1024)

static int64_t step(struct zm_task *task, uint64_t n)
{
	return zm_heap_step(task, n, BYTES);
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "malloc and free of 1 KiB: the C library alone",
	.op = "allocation",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.metrics = zm_wis_metrics,
	.batch = 4096,
	.step = step,
	.report = zm_wis_report,
};
