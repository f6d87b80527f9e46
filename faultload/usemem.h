/*
 * usemem: what vm-scalability's anonymous cases share: how large an area is, where it comes from, and
 * the cycle in which each task maps an area of its own, goes over it, and gives it back.
 *
 *     unit_size  bytes that all tasks together use in a round: half of the memory when not given, at
 *                most `size` per node, as robots' mails give it
 *     area       a task's part of it, in whole pages
 *
 * A case says in `own` (a struct zm_usemem) what it is. Its run's state is a struct zm_usemem_run.
 */
#ifndef ZM_FAULTLOAD_USEMEM_H
#define ZM_FAULTLOAD_USEMEM_H

#include "faultload/thp.h"
#include "faultload/vmscal.h"
#include "faultload/walk.h"
#include "workloads/worker.h"

struct zm_usemem {
	bool is_random;
	bool is_read;
	bool is_huge;     /* hugetlb pages of the default size */
	bool is_prepared; /* the area is mapped and populated before the tasks are made */
};

struct zm_usemem_options {
	uint64_t unit_size; /* 0: the default */
	uint64_t size;      /* 0: no limit */
	unsigned int pool;  /* enum zm_hugepool_kind */
	unsigned int thp;   /* enum zm_thp */
};

extern const struct zm_option zm_usemem_options[];      /* unit_size, size, thp */
extern const struct zm_option zm_usemem_huge_options[]; /* unit_size, size, pool */

struct zm_usemem_run {
	struct zm_vmscal_run vmscal; /* first: vmscal finds it there */
	char *base;                  /* of a prepared area */
	uint64_t page_bytes;         /* base page, or the huge page's size */
	int thp_before;
	bool is_advised;
	uint64_t thp_sizes; /* that the areas may get, as the machine was set during the run */
	_Atomic uint64_t nr_checked, nr_wrong;
};

/* A task with an area of its own. */
struct zm_usemem_task {
	struct zm_walk walk; /* base NULL: no area */
	struct zm_vmscal_clock clock;
	uint64_t area_bytes;
	int fd; /* of /dev/zero, which the original maps; -1 with huge pages */
	bool is_advised;
};

int zm_usemem_check(const struct zm_run *run, struct zm_why *why);
void zm_usemem_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);
int zm_usemem_prepare(struct zm_run *run, struct zm_why *why);
void zm_usemem_cleanup(struct zm_run *run);
int zm_usemem_setup(struct zm_task *task, struct zm_why *why);
int64_t zm_usemem_step(struct zm_task *task, uint64_t n);
void zm_usemem_teardown(struct zm_task *task);
int zm_usemem_verify(struct zm_run *run, struct zm_why *why);
bool zm_usemem_expect(const struct zm_run *run, double *ret_least, double *ret_most);

/* For other cycles over the same areas. */
uint64_t zm_usemem_area_bytes(const struct zm_run *run);

/* Private memory as the original maps it; flags are beyond MAP_PRIVATE. */
int zm_usemem_map(const struct zm_usemem *own, int fd, uint64_t bytes, int flags, void **ret_base);

/* A seed for a task's round: no two walk alike. */
uint64_t zm_usemem_seed(const struct zm_task *task, uint64_t round);

#endif
