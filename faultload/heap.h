/*
 * heap: malloc and free, over and over; what malloc1 and malloc2 share. A workload over it
 * has the bytes in `own` (a const size_t).
 */
#ifndef ZM_FAULTLOAD_HEAP_H
#define ZM_FAULTLOAD_HEAP_H

#include "workloads/worker.h"

/* n times: malloc, free. */
int64_t zm_heap_step(struct zm_task *task, uint64_t n);

#endif
