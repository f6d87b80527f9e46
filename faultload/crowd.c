/* crowd: making the area, and making it anew. */
#include "faultload/crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

#define SCALE 10 /* what mremap makes of the area, in the original */

static int say_failed(struct zm_why *why, int error, const char *call, uint64_t bytes)
{
	return zm_why_errno(why, error, "%s of an area of %llu bytes; lower unit_size", call,
			    (unsigned long long)bytes);
}

static void drop_area(struct zm_crowd_run *shared)
{
	if (shared->usemem.base)
		(void)munmap(shared->usemem.base, shared->map_bytes);
	shared->usemem.base = NULL;
}

static int remap(struct zm_crowd_run *shared, struct zm_why *why)
{
	uint64_t bytes = shared->map_bytes * SCALE;
	void *base = mremap(shared->usemem.base, shared->map_bytes, bytes, MREMAP_MAYMOVE);

	if (base == MAP_FAILED)
		return say_failed(why, -errno, "mremap", bytes);
	shared->usemem.base = base;
	shared->map_bytes = bytes;
	return 0;
}

/* Private memory is mapped from /dev/zero, as there. */
static int make_area(struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_case *own = run->workload->own;
	struct zm_crowd_run *shared = run->state;
	uint64_t bytes = shared->usemem.vmscal.area_bytes;
	uint64_t since_ns = zm_clock_now_ns();
	zm_autoclose int zero = own->is_file ? -1 : open("/dev/zero", O_RDWR | O_CLOEXEC);
	void *base = NULL;
	int r = 0;

	if (!own->is_file && zero < 0)
		return zm_why_errno(why, -errno, "/dev/zero");
	r = zm_area_map(own, own->is_file ? shared->usemem.fd : zero, bytes, 0, &base);
	if (r < 0)
		return say_failed(why, r, "mmap", bytes);
	shared->usemem.base = base;
	shared->map_bytes = bytes;
	if (own->is_remapped)
		r = remap(shared, why);
	if (r == 0 && shared->usemem.is_advised && madvise(base, bytes, MADV_HUGEPAGE) < 0)
		r = say_failed(why, -errno, "madvise", bytes);
	shared->usemem.vmscal.populate_ns = zm_clock_now_ns() - since_ns;
	return r;
}

int zm_crowd_prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_case *own = run->workload->own;
	struct zm_crowd_run *shared = run->state;
	int r = zm_usemem_prepare(run, why);

	shared->usemem.vmscal.is_remapped = own->is_remapped;
	return r < 0 ? r : make_area(run, why);
}

void zm_crowd_cleanup(struct zm_run *run)
{
	drop_area(run->state);
	zm_usemem_cleanup(run);
}

/* What the round has left goes; alone. */
static int renew(struct zm_task *task)
{
	const struct zm_area_case *own = task->run->workload->own;
	struct zm_crowd_run *shared = task->run->state;
	uint64_t since_ns = zm_clock_now_ns();
	int fd = shared->usemem.fd;

	if (task->run->kind == ZM_TASK_THREAD)
		drop_area(shared);
	if (own->is_file &&
	    (ftruncate(fd, 0) < 0 || ftruncate(fd, (off_t)shared->usemem.vmscal.area_bytes) < 0))
		return zm_why_errno(&task->slot->why, -errno, "emptying the file");
	zm_piece_add(&shared->usemem.vmscal.free, zm_clock_now_ns() - since_ns);
	return task->run->kind == ZM_TASK_THREAD ? make_area(task->run, &task->slot->why) : 0;
}

/* The time that a task waits for the others is none of its accesses. */
static int meet(struct zm_task *task)
{
	struct zm_crowd_run *shared = task->run->state;
	uint64_t since_ns = zm_clock_now_ns();
	int r = 0;

	if (zm_meet_wait(&shared->meet, task)) {
		r = renew(task);
		if (r == 0)
			zm_meet_open(&shared->meet);
	}
	zm_task_count(task, ZM_VMSCAL_FREE_NS, zm_clock_now_ns() - since_ns);
	return r;
}

int zm_crowd_round(struct zm_task *task)
{
	int r = zm_cow_round(task);

	return r == 0 && !zm_task_is_stopped(task) ? meet(task) : r;
}
