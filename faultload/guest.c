/* guest: a mapping, and threads that go through it in slices. */
#include "faultload/guest.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/touch.h"

#define STEP_BYTES (UINT64_C(1) << 23) /* touched between two looks at the stop word */

const char *const zm_guest_backings[] = { "hugetlb", "memfd-hugetlb", "thp", "memfd", NULL };

static bool is_memfd(enum zm_guest_backing backing)
{
	return backing == ZM_GUEST_MEMFD_HUGETLB || backing == ZM_GUEST_MEMFD;
}

/* The size of hugetlb pages, as mmap and memfd_create are told it. */
static unsigned int huge_flags(const struct zm_guest *guest)
{
	return (unsigned int)__builtin_ctzll(guest->page_bytes) << MAP_HUGE_SHIFT;
}

static int open_memfd(struct zm_guest *guest)
{
	unsigned int flags = MFD_CLOEXEC;

	if (guest->backing == ZM_GUEST_MEMFD_HUGETLB)
		flags |= MFD_HUGETLB | huge_flags(guest); /* the same place */
	guest->fd = memfd_create("zonemark-guest", flags);
	if (guest->fd < 0 || ftruncate(guest->fd, (off_t)guest->bytes) < 0)
		return -errno;
	return 0;
}

static int map(struct zm_guest *guest)
{
	int flags = is_memfd(guest->backing) ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *base;

	if (guest->backing == ZM_GUEST_HUGETLB)
		flags |= MAP_HUGETLB | (int)huge_flags(guest);
	base = mmap(NULL, guest->bytes, PROT_READ | PROT_WRITE, flags, guest->fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	guest->base = base;
	if (guest->backing == ZM_GUEST_THP && madvise(base, guest->bytes, MADV_HUGEPAGE) < 0)
		return -errno;
	return 0;
}

int zm_guest_make(struct zm_guest *guest, struct zm_why *why)
{
	int r = 0;

	guest->base = NULL;
	guest->fd = -1;
	if (is_memfd(guest->backing))
		r = open_memfd(guest);
	if (r == 0)
		r = map(guest);
	return r < 0 ? zm_why_errno(why, r, "a guest's memory of %llu bytes (backing=%s)",
				    (unsigned long long)guest->bytes,
				    zm_guest_backings[guest->backing])
		     : 0;
}

void zm_guest_end(struct zm_guest *guest)
{
	if (guest->base)
		(void)munmap(guest->base, guest->bytes);
	guest->base = NULL;
	if (guest->fd >= 0)
		(void)close(guest->fd);
	guest->fd = -1;
}

/* A part of the pages, for one thread. */
struct slice {
	const struct zm_guest *guest;
	const struct zm_task *task;
	uint64_t first, end; /* pages */
	uint64_t nr_touched;
	pthread_t thread;
};

static void *touch_slice(void *context)
{
	struct slice *slice = context;
	uint64_t page_bytes = slice->guest->page_bytes;
	uint64_t most = page_bytes < STEP_BYTES ? STEP_BYTES / page_bytes : 1;
	uint64_t page = slice->first;

	while (page < slice->end && !zm_task_is_stopped(slice->task)) {
		uint64_t left = slice->end - page, n = left < most ? left : most;
		char *from = slice->guest->base + page * page_bytes;

		zm_touch_write(from, from + n * page_bytes, page_bytes);
		page += n;
	}
	slice->nr_touched = page - slice->first;
	return NULL;
}

static void cut(struct slice *slices, unsigned int n, const struct zm_guest *guest,
		const struct zm_task *task)
{
	uint64_t nr_pages = guest->bytes / guest->page_bytes;

	for (unsigned int i = 0; i < n; i++)
		slices[i] = (struct slice){ .guest = guest,
					    .task = task,
					    .first = nr_pages * i / n,
					    .end = nr_pages * (i + 1) / n };
}

/* Those that could be started are joined, whatever became of the others. */
static int touch_together(struct slice *slices, unsigned int n)
{
	unsigned int nr_started = 0;
	int r = 0;

	for (; r == 0 && nr_started < n; nr_started += r == 0)
		r = -pthread_create(&slices[nr_started].thread, NULL, touch_slice,
				    &slices[nr_started]);
	for (unsigned int i = 0; i < nr_started; i++)
		(void)pthread_join(slices[i].thread, NULL);
	return r;
}

int zm_guest_touch(const struct zm_guest *guest, const struct zm_task *task,
		   unsigned int nr_threads, uint64_t *ret_pages, struct zm_why *why)
{
	unsigned int n = nr_threads ? nr_threads : 1;
	zm_autofree struct slice *slices = calloc(n, sizeof(*slices));
	uint64_t nr_pages = 0;
	int r = 0;

	if (!slices)
		return zm_why_errno(why, -ENOMEM, "%u slices", n);
	cut(slices, n, guest, task);
	if (nr_threads)
		r = touch_together(slices, n);
	else
		(void)touch_slice(&slices[0]);
	if (r < 0)
		return zm_why_errno(why, r, "threads=%u: a thread that touches memory", n);
	for (unsigned int i = 0; i < n; i++)
		nr_pages += slices[i].nr_touched;
	*ret_pages = nr_pages;
	return 0;
}
