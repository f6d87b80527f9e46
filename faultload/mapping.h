/*
 * mapping: mmap and munmap of 128 MiB that nobody touches; what mmap1 and mmap2 share.
 */
#ifndef ZM_FAULTLOAD_MAPPING_H
#define ZM_FAULTLOAD_MAPPING_H

#include "workloads/worker.h"

#define ZM_MAPPING_BYTES (UINT64_C(128) << 20)

struct zm_mapping {
	int fd; /* -1: anonymous */
};

/* n times: a private mapping of the task's file, or anonymous; munmap. */
int64_t zm_mapping_step(struct zm_task *task, uint64_t n);

#endif
