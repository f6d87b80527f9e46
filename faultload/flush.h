/*
 * flush: a page is written, given up (MADV_DONTNEED) and read, page after page; what tlb_flush1,
 * tlb_flush2 and tlb_flush3 share. The mapping and its cycle are region's.
 */
#ifndef ZM_FAULTLOAD_FLUSH_H
#define ZM_FAULTLOAD_FLUSH_H

#include "faultload/region.h"

/* n pages: writes 1, gives the page up, and must read `left` there. */
int64_t zm_flush_step(struct zm_task *task, uint64_t n, char left);

/* Two faults an operation; fewer where one fault maps more than its page. */
bool zm_flush_expect(const struct zm_run *run, enum zm_backing backing, double *ret_least,
		     double *ret_most);

#endif
