/*
 * brk2: the end of a heap that has grown goes up and down by a page.
 *
 * Each task grows its heap by one page, and then for ever: moves its end up by one page, then down
 * again, and counts two. A mapping is always there and is made larger and smaller. As will-it-scale's
 * brk2.
 */
#include "faultload/brk.h"
#include "faultload/wis.h"

static const unsigned int nr_pages = 1;

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "grows the heap by a page, then moves its end up and down by a page",
	.op = "call of brk",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &nr_pages,
	.metrics = zm_wis_metrics,
	.batch = 1024,
	.task_bytes = sizeof(struct zm_brk),
	.prepare = zm_brk_prepare,
	.setup = zm_brk_setup,
	.teardown = zm_brk_teardown,
	.step = zm_brk_step,
	.report = zm_wis_report,
};
