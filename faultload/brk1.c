/*
 * brk1: the heap's end goes up and down by a page.
 *
 * Each task, for ever: moves the end of its heap up by one page, then down again, and counts two. The
 * page at the end comes and goes together with its mapping. As will-it-scale's brk1.
 */
#include "faultload/brk.h"
#include "faultload/wis.h"

static const unsigned int nr_pages = 0;

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "moves the heap's end up and down by a page, from where it stood",
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
