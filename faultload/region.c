/*
 * region: the cycle of mmap, touch, munmap, with its cursor kept from one step to the next.
 *
 *     base            cursor              base + size
 *      |-- touched -----|------ ops_left -------|
 *
 * With ops_left at 0 the next step unmaps and maps again. Nothing is unmapped before, so that
 * whenever the tasks are stopped, pages stand there that can be looked at.
 */
#include "faultload/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faultload/scratch.h"
#include "faultload/thp.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/touch.h"

#define STEP_BYTES     (UINT64_C(1) << 25) /* a step zeroes about so much at most */
#define CHECKED_PAGES  64                  /* that teardown looks at */
#define TABLE_BYTES    8                   /* of page table, per page */
#define PAGEMAP_FILE   (UINT64_C(1) << 61) /* the page is a file's, not the task's own copy */
#define PAGEMAP_SWAP   (UINT64_C(1) << 62)
#define PAGEMAP_MAPPED (UINT64_C(1) << 63)

const struct zm_option zm_region_file_options[] = {
	{ .name = "dir",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct zm_region_options, dir),
	  .help = "directory of the tasks' files; $TMPDIR or /tmp when not given" },
	{ .name = "size",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct zm_region_options, size),
	  .preset = "128M",
	  .min = 4096,
	  .max = UINT64_C(1) << 46,
	  .unit = "bytes",
	  .help = "bytes that a task maps, touches and unmaps" },
	{ .name = "stride",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct zm_region_options, stride),
	  .preset = "0",
	  .max = UINT64_C(1) << 46,
	  .unit = "bytes",
	  .help = "from one touched byte to the next; 0 is the base page" },
	{ .name = "thp",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct zm_region_options, thp),
	  .preset = "default",
	  .choices = zm_thp_names,
	  .help = "transparent huge pages for this run; default is as the machine is set" },
	{ .name = NULL },
};

static enum zm_backing backing_of(const struct zm_run *run)
{
	return *(const enum zm_backing *)run->workload->own;
}

static uint64_t stride_of(const struct zm_run *run)
{
	const struct zm_region_options *chosen = run->options;

	return chosen->stride ? chosen->stride : run->page_bytes;
}

static int check_multiple(const struct zm_run *run, const char *name, uint64_t bytes,
			  struct zm_why *why)
{
	if (bytes % run->page_bytes == 0)
		return 0;
	return zm_why_set(why, -EINVAL,
			  "%s=%llu: not a multiple of this machine's base page of %llu bytes", name,
			  (unsigned long long)bytes, (unsigned long long)run->page_bytes);
}

int zm_region_check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_region_options *chosen = run->options;
	int r = check_multiple(run, "size", chosen->size, why);

	if (r == 0)
		r = check_multiple(run, "stride", chosen->stride, why);
	if (r < 0)
		return r;
	if (chosen->stride > chosen->size)
		return zm_why_set(why, -EINVAL, "stride=%llu: larger than size=%llu",
				  (unsigned long long)chosen->stride,
				  (unsigned long long)chosen->size);
	if (backing_of(run) != ZM_BACKING_ANON) {
		r = zm_scratch_check(chosen->dir, why);
		if (r < 0)
			return r;
	}
	return zm_thp_check(run->root, chosen->thp, why);
}

void zm_region_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_region_options *chosen = run->options;
	enum zm_backing backing = backing_of(run);

	ret_footprint->task_bytes = chosen->size + chosen->size / run->page_bytes * TABLE_BYTES;
	ret_footprint->task_files = 1; /* for the look at the page map */
	if (backing == ZM_BACKING_ANON)
		return;
	ret_footprint->task_files++;
	ret_footprint->disk_path = zm_scratch_dir(chosen->dir);
	if (backing == ZM_BACKING_PRIVATE_FILE)
		ret_footprint->task_bytes += chosen->size; /* the page cache beside the copies */
	/* A private mapping never writes its file, but a hole in memory becomes a page when read. */
	if (backing == ZM_BACKING_SHARED_FILE || zm_scratch_is_memory(chosen->dir))
		ret_footprint->disk_bytes = chosen->size * run->nr_tasks;
}

void zm_region_look(struct zm_run *run, enum zm_thp thp)
{
	struct zm_region_run *shared = run->state;

	shared->thp_sizes = zm_thp_sizes(run->root, thp, run->page_bytes);
	shared->pmd_bytes = zm_thp_pmd_bytes(run->root);
}

int zm_region_prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_region_options *chosen = run->options;
	struct zm_region_run *shared = run->state;
	int r;

	shared->thp_before = -1; /* cleanup comes after a failed prepare too */
	r = zm_thp_prepare(run->root, chosen->thp, &shared->thp_before, why);
	if (r < 0)
		return r;
	shared->is_advised = zm_thp_needs_advice(run->root, chosen->thp);
	zm_region_look(run, chosen->thp);
	return 0;
}

void zm_region_cleanup(struct zm_run *run)
{
	const struct zm_region_options *chosen = run->options;
	const struct zm_region_run *shared = run->state;

	zm_thp_cleanup(chosen->thp, shared->thp_before);
}

static int map(struct zm_region *region)
{
	const struct zm_region_plan *plan = &region->plan;
	int flags = plan->backing == ZM_BACKING_SHARED_FILE ? MAP_SHARED : MAP_PRIVATE;

	if (plan->backing == ZM_BACKING_ANON)
		flags |= MAP_ANONYMOUS;

	void *base = mmap(NULL, plan->size, PROT_READ | PROT_WRITE, flags, region->fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	region->base = base;
	region->cursor = base;
	region->ops_left = region->nr_ops;
	if (plan->is_advised && madvise(base, plan->size, MADV_HUGEPAGE) < 0)
		return -errno;
	return 0;
}

static int unmap(struct zm_region *region)
{
	if (region->base && munmap(region->base, region->plan.size) < 0)
		return -errno;
	region->base = NULL;
	return 0;
}

static int say_map_failed(const struct zm_region *region, int error, struct zm_why *why)
{
	return zm_why_errno(why, error, "cannot map %llu bytes; lower size or nr_task",
			    (unsigned long long)region->plan.size);
}

int zm_region_open(struct zm_task *task, const struct zm_region_plan *plan, struct zm_why *why)
{
	struct zm_region *region = task->state;
	int r;

	*region = (struct zm_region){ .step_ops = plan->stride < STEP_BYTES
							  ? STEP_BYTES / plan->stride
							  : 1,
				      .nr_ops = (plan->size - 1) / plan->stride + 1,
				      .fd = -1,
				      .plan = *plan };
	if (plan->backing != ZM_BACKING_ANON) {
		r = zm_scratch_open(plan->dir, plan->size, &region->fd, why);
		if (r < 0)
			return r;
	}
	r = map(region);
	return r < 0 ? say_map_failed(region, r, why) : 0;
}

int zm_region_setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_region_options *chosen = task->run->options;
	const struct zm_region_run *shared = task->run->state;
	enum zm_backing backing = backing_of(task->run);
	struct zm_region_plan plan = { .size = chosen->size,
				       .stride = stride_of(task->run),
				       .backing = backing,
				       .leaves_file_pages = backing == ZM_BACKING_SHARED_FILE,
				       .is_advised = shared->is_advised,
				       .dir = chosen->dir };

	return zm_region_open(task, &plan, why);
}

static int remap(struct zm_task *task, struct zm_region *region)
{
	int r = unmap(region);

	if (r == 0)
		r = map(region);
	return r < 0 ? say_map_failed(region, r, &task->slot->why) : 0;
}

int64_t zm_region_take(struct zm_task *task, uint64_t n)
{
	struct zm_region *region = task->state;

	if (region->ops_left == 0) {
		int r = remap(task, region);

		if (r < 0)
			return r;
	}
	if (n > region->step_ops)
		n = region->step_ops;
	if (n > region->ops_left)
		n = region->ops_left;
	return (int64_t)n;
}

int64_t zm_region_step(struct zm_task *task, uint64_t n)
{
	struct zm_region *region = task->state;
	int64_t taken = zm_region_take(task, n);

	if (taken < 0)
		return taken;

	uint64_t stride = region->plan.stride;
	char *page = region->cursor;

	zm_touch_write(page, page + (uint64_t)taken * stride, stride);
	zm_region_move(region, (uint64_t)taken);
	return taken;
}

/* Is this page what a step leaves: there (or swapped out), and the task's own copy or the file's page,
 * as it should be? 1, 0 or -errno. */
static int is_as_left(const struct zm_region *region, int pagemap, uint64_t page_bytes,
		      const char *page)
{
	uint64_t wanted = region->plan.leaves_file_pages ? PAGEMAP_FILE : 0;
	off_t offset = (off_t)((uintptr_t)page / page_bytes * sizeof(uint64_t));
	uint64_t entry;
	ssize_t length = pread(pagemap, &entry, sizeof(entry), offset);

	if (length != (ssize_t)sizeof(entry))
		return length < 0 ? -errno : -EIO;
	return (entry & (PAGEMAP_MAPPED | PAGEMAP_SWAP)) && (entry & PAGEMAP_FILE) == wanted;
}

/* The pages that were touched last, for verify. */
static int look_at_pages(struct zm_task *task, const struct zm_region *region)
{
	struct zm_region_run *shared = task->run->state;
	zm_autoclose int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	const char *page = region->cursor;

	if (pagemap < 0)
		return -errno;
	for (int i = 0; i < CHECKED_PAGES && page > region->base; i++) {
		page -= region->plan.stride;

		int r = is_as_left(region, pagemap, task->run->page_bytes, page);

		if (r < 0)
			return r;
		shared->nr_checked++;
		shared->nr_missing += r == 0;
	}
	return 0;
}

void zm_region_teardown(struct zm_task *task)
{
	struct zm_region_run *shared = task->run->state;
	struct zm_region *region = task->state;

	if (region->base) {
		int r = look_at_pages(task, region);

		if (r < 0)
			shared->check_error = (uint32_t)-r;
	}
	(void)unmap(region);
	if (region->fd >= 0)
		(void)close(region->fd);
	region->fd = -1;
}

/* Where the page map cannot be read there is nothing to be said against the run. */
int zm_region_verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_region_run *shared = run->state;

	if (shared->nr_checked == 0 && shared->check_error == 0)
		return zm_why_set(why, -EBADMSG, "no task touched a page");
	if (shared->nr_missing > 0)
		return zm_why_set(why, -EBADMSG,
				  "%llu of the %llu pages touched last are not in memory as a "
				  "write leaves them",
				  (unsigned long long)shared->nr_missing,
				  (unsigned long long)shared->nr_checked);
	return 0;
}

/* A huge page of `huge_bytes` serves huge_bytes / stride touches with one fault. The kernel may
 * have put the mapping on their border or not: in the worst case one of them is lost to small
 * pages, at both ends together. */
static void expect_huge(const struct zm_region_options *chosen, uint64_t stride,
			uint64_t huge_bytes, double *ret_least, double *ret_most)
{
	double ops = (double)((chosen->size - 1) / stride + 1);
	double per_page = stride < huge_bytes ? (double)huge_bytes / (double)stride : 1;
	double nr_pages = ops / per_page;

	*ret_least = nr_pages < 2 ? 1 : ops / (nr_pages - 1 + per_page);
	*ret_most = per_page;
}

bool zm_region_expect(const struct zm_run *run, double *ret_least, double *ret_most)
{
	const struct zm_region_options *chosen = run->options;
	const struct zm_region_run *shared = run->state;
	uint64_t stride = stride_of(run);
	uint64_t sizes = shared->thp_sizes;

	*ret_least = *ret_most = 1;
	switch (backing_of(run)) {
	case ZM_BACKING_PRIVATE_FILE:
		break; /* the copies are made base page by base page, whatever the file's folios */
	case ZM_BACKING_SHARED_FILE:
		/* One fault may map a whole folio of the file, up to the largest huge page. */
		if (shared->pmd_bytes > stride)
			*ret_most = (double)shared->pmd_bytes / (double)stride;
		break;
	case ZM_BACKING_ANON:
		while (zm_thp_largest(sizes) > chosen->size)
			sizes -= zm_thp_largest(sizes);
		if (sizes)
			expect_huge(chosen, stride, zm_thp_largest(sizes), ret_least, ret_most);
		break;
	}
	return true;
}
