/* flush: the step, and what its faults are. */
#include "faultload/flush.h"

#include <errno.h>

#include "faultload/scratch.h"
#include "faultload/thp.h"
#include "workloads/base/touch.h"

static const char *dir_of(const struct zm_run *run)
{
	const struct zm_scratch_options *chosen = run->options;

	return run->workload->options ? chosen->dir : NULL;
}

int zm_flush_check(const struct zm_run *run, struct zm_why *why)
{
	return zm_scratch_check(dir_of(run), why);
}

void zm_flush_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_flush *own = run->workload->own;
	bool is_in_memory = zm_scratch_is_memory(dir_of(run));

	ret_footprint->task_bytes = own->size;
	ret_footprint->task_files = 1;
	if (own->backing == ZM_BACKING_ANON)
		return;
	ret_footprint->task_files++;
	ret_footprint->disk_path = zm_scratch_dir(dir_of(run));
	if (own->backing == ZM_BACKING_SHARED_FILE || is_in_memory)
		ret_footprint->disk_bytes = own->size * run->nr_tasks;
}

int zm_flush_prepare(struct zm_run *run, struct zm_why *why)
{
	(void)why;
	zm_region_look(run, ZM_THP_DEFAULT);
	return 0;
}

int zm_flush_setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_flush *own = task->run->workload->own;
	struct zm_region_plan plan = { .size = own->size,
				       .stride = task->run->page_bytes,
				       .backing = own->backing,
				       .leaves_file_pages = own->backing != ZM_BACKING_ANON,
				       .dir = dir_of(task->run) };

	return zm_region_open(task, &plan, why);
}

int64_t zm_flush_step(struct zm_task *task, uint64_t n)
{
	const struct zm_flush *own = task->run->workload->own;
	struct zm_region *region = task->state;
	int64_t taken = zm_region_take(task, n);
	uint64_t stride = region->plan.stride;
	char *page = region->cursor;
	uint64_t sum = 0;
	int r;

	if (taken < 0)
		return taken;
	r = zm_touch_flush(page, page + (uint64_t)taken * stride, stride, &sum);
	if (r < 0)
		return zm_why_errno(&task->slot->why, r, "madvise(MADV_DONTNEED)");
	if (sum != (uint64_t)taken * own->left)
		return zm_why_set(&task->slot->why, -EBADMSG,
				  "%llu is the sum of what was read in %lld pages, and "
				  "MADV_DONTNEED must leave %u in each",
				  (unsigned long long)sum, (long long)taken, own->left);
	zm_region_move(region, (uint64_t)taken);
	return taken;
}

/* The write and the read behind it fault. Where the read of a shared file maps the pages around it
 * writable, or a write gets a large folio, the next writes find their page there. */
bool zm_flush_expect(const struct zm_run *run, double *ret_least, double *ret_most)
{
	const struct zm_flush *own = run->workload->own;
	const struct zm_region_run *shared = run->state;
	bool may_find = own->backing == ZM_BACKING_SHARED_FILE;

	if (own->backing == ZM_BACKING_ANON)
		may_find = shared->thp_sizes != 0;
	*ret_least = 0.5;
	*ret_most = may_find ? 1 : 0.5;
	return true;
}
