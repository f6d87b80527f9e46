/*
 * malloc2: malloc and free of 1 KiB.
 *
 * Each task, for ever: malloc(1 KiB), free, and counts one. The C library keeps the piece at hand, so
 * the kernel sees nothing of it: it measures the library, and whether tasks disturb each other in
 * user space. As will-it-scale's malloc2.
 */
#include <stddef.h>

#include "faultload/heap.h"
#include "faultload/wis.h"

static const size_t bytes = 1024;

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "malloc and free of 1 KiB: the C library alone",
	.op = "allocation",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &bytes,
	.metrics = zm_wis_metrics,
	.batch = 4096,
	.step = zm_heap_step,
	.report = zm_wis_report,
};
