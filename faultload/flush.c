/* flush: the step, and what its faults are. */
#include "faultload/flush.h"

#include <errno.h>
#include <sys/mman.h>

#include "faultload/thp.h"

int64_t zm_flush_step(struct zm_task *task, uint64_t n, char left)
{
	struct zm_region *region = task->state;
	int64_t taken = zm_region_take(task, n);

	if (taken < 0)
		return taken;

	size_t stride = region->plan.stride;
	volatile char *page = region->cursor;

	for (int64_t i = 0; i < taken; i++, page += stride) {
		*page = 1;
		if (madvise((void *)page, stride, MADV_DONTNEED) < 0)
			return zm_why_errno(&task->slot->why, -errno, "madvise(MADV_DONTNEED)");
		if (*page != left)
			return zm_why_set(&task->slot->why, -EBADMSG,
					  "%d was read where MADV_DONTNEED must leave %d", *page,
					  left);
	}
	zm_region_move(region, (uint64_t)taken);
	return taken;
}

/* The write and the read behind it fault. Where the read of a shared file maps the pages around it
 * writable, or a write gets a large folio, the next writes find their page there. */
bool zm_flush_expect(const struct zm_run *run, enum zm_backing backing, double *ret_least,
		     double *ret_most)
{
	bool may_find = backing == ZM_BACKING_SHARED_FILE;

	if (backing == ZM_BACKING_ANON)
		may_find = zm_thp_sizes(run->root, ZM_THP_DEFAULT, run->page_bytes) != 0;
	*ret_least = 0.5;
	*ret_most = may_find ? 1 : 0.5;
	return true;
}
