/*
 * brk: the end of the heap goes up by a page and down again; what brk1 and brk2 share.
 *
 * One operation is one call of brk, up and down by turns. Threads share one heap: each sets its end to
 * the places that it has fixed before the gate, as the originals do, so some calls change nothing.
 *
 * A workload over it says in `own` (a const unsigned int) by how many pages the heap grows first.
 */
#ifndef ZM_FAULTLOAD_BRK_H
#define ZM_FAULTLOAD_BRK_H

#include <stdbool.h>

#include "workloads/worker.h"

struct zm_brk {
	char *low; /* NULL: not set up */
	bool is_up;
};

/* The launcher's own allocations must not need the heap's end while the tasks move it. */
int zm_brk_prepare(struct zm_run *run, struct zm_why *why);

int zm_brk_setup(struct zm_task *task, struct zm_why *why);
int64_t zm_brk_step(struct zm_task *task, uint64_t n);
void zm_brk_teardown(struct zm_task *task);

#endif
