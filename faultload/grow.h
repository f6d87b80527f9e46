/*
 * grow: a file is made longer, 8 KiB at a time to 1 MiB, then cut to nothing; what fallocate1 and
 * fallocate2 share.
 */
#ifndef ZM_FAULTLOAD_GROW_H
#define ZM_FAULTLOAD_GROW_H

#include "faultload/scratch.h"
#include "workloads/worker.h"

struct zm_grow_run {
	_Atomic uint64_t nr_wrong; /* tasks whose file was not as long as it should be */
};

struct zm_grow {
	int fd;
	uint64_t place;
};

int zm_grow_check(const struct zm_run *run, struct zm_why *why);
void zm_grow_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);
int zm_grow_setup(struct zm_task *task, struct zm_why *why);
int64_t zm_grow_step(struct zm_task *task, uint64_t n);
void zm_grow_teardown(struct zm_task *task);
int zm_grow_verify(struct zm_run *run, struct zm_why *why);

#endif
