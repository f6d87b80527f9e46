/*
 * region: map memory, touch its pages one after the other, unmap it, again and again. What the
 * page-fault workloads share.
 *
 *     setup     the file, if there is one; the first mapping
 *     step      touches pages from the cursor on; a region that was touched to its end is unmapped
 *               and mapped anew by the next step, so unmapping and mapping are inside the rate
 *     teardown  looks at the pages last touched (verify counts them), and unmaps
 *
 * A workload over it names its mapping in `own` (a const enum zm_backing), and has struct zm_region as its
 * tasks' state, struct zm_region_run as its run's, and struct zm_region_options as its options. One
 * with another step has a plan of its own, zm_region_open, and zm_region_take.
 */
#ifndef ZM_FAULTLOAD_REGION_H
#define ZM_FAULTLOAD_REGION_H

#include <stdint.h>

#include "faultload/thp.h"
#include "workloads/worker.h"

enum zm_backing {
	ZM_BACKING_ANON,         /* anonymous, private */
	ZM_BACKING_PRIVATE_FILE, /* the task's own file, private: a write copies the file's page */
	ZM_BACKING_SHARED_FILE,  /* the task's own file, shared: a write dirties the file's page */
};

struct zm_region_options {
	uint64_t size;
	uint64_t stride;  /* 0: the base page */
	unsigned int thp; /* enum zm_thp */
	char *dir;        /* of the file; NULL: the usual one */
};

/* dir, size, stride, thp; without a file there is no dir. */
extern const struct zm_option zm_region_file_options[];
#define ZM_REGION_ANON_OPTIONS (&zm_region_file_options[1])

struct zm_region_run {
	int thp_before;
	bool is_advised;
	/* Huge pages that the tasks' mappings may get, and the largest there is: as the machine was
	 * set during the run. */
	uint64_t thp_sizes, pmd_bytes;
	_Atomic uint64_t nr_checked;  /* pages that teardown looked at */
	_Atomic uint64_t nr_missing;  /* of these, not there, or not of the kind that is expected */
	_Atomic uint32_t check_error; /* errno of a look that failed */
};

/* What a region is; zm_region_setup makes it of the options, a workload without them makes its own. */
struct zm_region_plan {
	uint64_t size;
	uint64_t stride;
	enum zm_backing backing;
	bool leaves_file_pages; /* what a step leaves mapped is the file's page, not the task's own */
	bool is_advised;
	const char *dir;
};

struct zm_region {
	char *cursor;      /* the next page to touch */
	uint64_t ops_left; /* touches up to the region's end */
	uint64_t step_ops; /* at most so many in one step, so that it stays short */
	uint64_t nr_ops;   /* touches from end to end */
	char *base;        /* NULL: not mapped */
	int fd;            /* -1: none */
	struct zm_region_plan plan;
};

int zm_region_check(const struct zm_run *run, struct zm_why *why);
void zm_region_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);
int zm_region_prepare(struct zm_run *run, struct zm_why *why);
void zm_region_look(struct zm_run *run, enum zm_thp thp); /* thp_sizes, pmd_bytes */
void zm_region_cleanup(struct zm_run *run);

int zm_region_setup(struct zm_task *task, struct zm_why *why);
int zm_region_open(struct zm_task *task, const struct zm_region_plan *plan, struct zm_why *why);
int64_t zm_region_step(struct zm_task *task, uint64_t n);
void zm_region_teardown(struct zm_task *task);

int zm_region_verify(struct zm_run *run, struct zm_why *why);
bool zm_region_expect(const struct zm_run *run, double *ret_least, double *ret_most);

/* For a step of another kind: maps anew when the region's end was reached, and says how many of n
 * pages from the cursor on are to be touched now: 1 to n. The step then moves the cursor. -errno. */
int64_t zm_region_take(struct zm_task *task, uint64_t n);
static inline void zm_region_move(struct zm_region *region, uint64_t n)
{
	region->cursor += n * region->plan.stride;
	region->ops_left -= n;
}

/* Operations of a step where a page costs about a microsecond. Between two steps lies a walk through the
 * harness's lines and pages, which so many cleared pages have driven out of every cache: in steps of
 * 128 pages it took 6 % of page_fault1 here, in steps of 2,048 half a percent, in steps of 8,192 less
 * than the half of that. */
#define ZM_REGION_BATCH 8192

#endif
