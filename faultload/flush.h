/*
 * flush: a page is written, given up (MADV_DONTNEED) and read, page after page; what tlb_flush1,
 * tlb_flush2 and tlb_flush3 share. The mapping and its cycle are region's. A workload over it has a
 * struct zm_flush in `own`, struct zm_scratch_options when it has a file, and region's states.
 */
#ifndef ZM_FAULTLOAD_FLUSH_H
#define ZM_FAULTLOAD_FLUSH_H

#include "faultload/region.h"

struct zm_flush {
	enum zm_backing backing;
	uint64_t size;
	unsigned char left; /* what a page holds once its 1 was written and the page given up */
};

/* Pages of a step: some two milliseconds. ZM_REGION_BATCH says why so many. */
#define ZM_FLUSH_BATCH 1024

int zm_flush_check(const struct zm_run *run, struct zm_why *why);
void zm_flush_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);
int zm_flush_prepare(struct zm_run *run, struct zm_why *why);
int zm_flush_setup(struct zm_task *task, struct zm_why *why);
int64_t zm_flush_step(struct zm_task *task, uint64_t n);

/* Two faults an operation; fewer where one fault maps more than its page. */
bool zm_flush_expect(const struct zm_run *run, double *ret_least, double *ret_most);

#endif
