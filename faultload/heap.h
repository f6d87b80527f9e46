/*
 * heap: malloc and free, over and over; what malloc1 and malloc2 share.
 */
#ifndef ZM_FAULTLOAD_HEAP_H
#define ZM_FAULTLOAD_HEAP_H

#include <stddef.h>

#include "workloads/worker.h"

/* n times: malloc(bytes), free. */
int64_t zm_heap_step(struct zm_task *task, uint64_t n, size_t bytes);

#endif
