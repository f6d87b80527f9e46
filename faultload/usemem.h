/*
 * usemem: the cycle of vm-scalability's cases: each task maps an area, goes over it, and gives it back.
 * Its run's state is a struct zm_usemem_run.
 */
#ifndef ZM_FAULTLOAD_USEMEM_H
#define ZM_FAULTLOAD_USEMEM_H

#include "faultload/area.h"
#include "faultload/thp.h"
#include "faultload/vmscal.h"
#include "faultload/walk.h"
#include "workloads/worker.h"

struct zm_usemem_run {
	struct zm_vmscal_run vmscal; /* first: vmscal finds it there */
	char *base;                  /* of a prepared area */
	uint64_t page_bytes;         /* base page, or the huge page's size */
	int fd;                      /* of the one file of all tasks; -1: none */
	int thp_before;
	bool is_advised;
	uint64_t pmd_bytes; /* the largest huge page, for files */
	uint64_t thp_sizes; /* that the areas may get, as the machine was set during the run */
	_Atomic uint64_t nr_checked, nr_wrong;
};

/* A task with an area of its own. */
struct zm_usemem_task {
	struct zm_walk walk; /* base NULL: no area */
	struct zm_vmscal_clock clock;
	uint64_t area_bytes;
	int fd; /* of the file, or of /dev/zero, which the original maps; -1 with huge pages */
	bool is_advised;
};

int zm_usemem_prepare(struct zm_run *run, struct zm_why *why);
void zm_usemem_cleanup(struct zm_run *run);
int zm_usemem_setup(struct zm_task *task, struct zm_why *why);
int64_t zm_usemem_step(struct zm_task *task, uint64_t n);
void zm_usemem_teardown(struct zm_task *task);
int zm_usemem_verify(struct zm_run *run, struct zm_why *why);
bool zm_usemem_expect(const struct zm_run *run, double *ret_least, double *ret_most);

/* A seed for a task's round: no two walk alike. */
uint64_t zm_usemem_seed(const struct zm_task *task, uint64_t round);

#endif
