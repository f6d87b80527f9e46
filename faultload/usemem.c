/*
 * usemem: areas, and the cycle of mapping, going over, and unmapping one.
 *
 *     step:  no area -> map -> words … -> the end: the next step unmaps and maps anew
 */
#include "faultload/usemem.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faultload/hugepool.h"
#include "faultload/scratch.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

/* At random the first words of a round are a fault each, until four have been drawn for each page. A step
 * has fewer of these. */
#define FAULTING_DRAWS  4
#define FAULTING_WORDS  512
#define FAULTING_COPIES 64 /* of huge pages */

/* --- before the tasks -------------------------------------------------------------------------- */

/* What an area is mapped from; -1 with huge pages. As long as the area that prepare decided on: what a memory
 * cgroup leaves, or what is available, is less by now. */
static int open_source(const struct zm_run *run, int *ret_fd, struct zm_why *why)
{
	const struct zm_area_case *own = run->workload->own;
	const struct zm_usemem_run *shared = run->state;
	const struct zm_area_options *chosen = run->options;

	*ret_fd = -1;
	if (own->is_huge)
		return 0;
	if (own->is_file)
		return zm_scratch_open(chosen->dir, shared->vmscal.area_bytes, ret_fd, why);
	*ret_fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	return *ret_fd < 0 ? zm_why_errno(why, -errno, "/dev/zero") : 0;
}

static int say_map_failed(struct zm_why *why, int error, uint64_t bytes)
{
	return zm_why_errno(why, error, "cannot map an area of %llu bytes; lower unit_size",
			    (unsigned long long)bytes);
}

/* As many as the areas have, and one more for each task and for what is not aligned. */
static int allow_huge_pages(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_case *own = run->workload->own;
	const struct zm_area_options *chosen = run->options;
	const struct zm_usemem_run *shared = run->state;
	uint64_t nr_areas = run->nr_tasks + own->is_prepared;
	uint64_t per_area = shared->vmscal.area_bytes / shared->page_bytes;

	return zm_hugepool_add(run->root, chosen->pool, nr_areas * (per_area + 1), why);
}

/* The advice must come before the pages. */
static int populate_advised(void *base, uint64_t bytes, uint64_t page_bytes)
{
	volatile char *area = base;

	if (madvise(base, bytes, MADV_HUGEPAGE) < 0)
		return -errno;
	for (uint64_t i = 0; i < bytes; i += page_bytes)
		area[i] = 0;
	return 0;
}

static int populate(struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_case *own = run->workload->own;
	struct zm_usemem_run *shared = run->state;
	uint64_t bytes = shared->vmscal.area_bytes;
	uint64_t since_ns = zm_clock_now_ns();
	zm_autoclose int fd = -1;
	void *base = NULL;
	int r = open_source(run, &fd, why);

	if (r < 0)
		return r;
	r = zm_area_map(own, fd, bytes, shared->is_advised ? 0 : MAP_POPULATE, &base);
	if (r == 0 && shared->is_advised)
		r = populate_advised(base, bytes, run->page_bytes);
	shared->base = base;
	shared->vmscal.populate_ns = zm_clock_now_ns() - since_ns;
	return r < 0 ? say_map_failed(why, r, bytes) : 0;
}

int zm_usemem_prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_case *own = run->workload->own;
	const struct zm_area_options *chosen = run->options;
	struct zm_usemem_run *shared = run->state;
	int r = 0;

	shared->thp_before = -1;
	shared->fd = -1;
	shared->page_bytes = zm_area_page_bytes(run);
	shared->vmscal.area_bytes = zm_area_bytes(run);
	if (own->is_huge) {
		r = allow_huge_pages(run, why);
	} else if (own->is_file) {
		shared->pmd_bytes = zm_thp_pmd_bytes(run->root);
		r = own->is_one ? open_source(run, &shared->fd, why) : 0;
	} else {
		r = zm_thp_prepare(run->root, chosen->thp, &shared->thp_before, why);
		shared->is_advised = r == 0 && zm_thp_needs_advice(run->root, chosen->thp);
		shared->thp_sizes = zm_thp_sizes(run->root, chosen->thp, run->page_bytes);
	}
	if (r == 0 && own->is_prepared)
		r = populate(run, why);
	return r;
}

void zm_usemem_cleanup(struct zm_run *run)
{
	const struct zm_area_case *own = run->workload->own;
	const struct zm_area_options *chosen = run->options;
	struct zm_usemem_run *shared = run->state;

	if (shared->base)
		(void)munmap(shared->base, shared->vmscal.area_bytes);
	shared->base = NULL;
	if (shared->fd >= 0)
		(void)close(shared->fd);
	shared->fd = -1;
	if (!own->is_huge && !own->is_file)
		zm_thp_cleanup(chosen->thp, shared->thp_before);
}

/* --- the tasks --------------------------------------------------------------------------------- */

uint64_t zm_usemem_seed(const struct zm_task *task, uint64_t round)
{
	return task->run->seed + UINT64_C(0x9e3779b97f4a7c15) * (task->index + 1) +
	       UINT64_C(0xd1b54a32d192ed03) * round;
}

int zm_usemem_setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_area_case *own = task->run->workload->own;
	const struct zm_usemem_run *shared = task->run->state;
	struct zm_usemem_task *state = task->state;

	state->walk.is_random = own->is_random;
	state->walk.is_read = own->is_read;
	state->area_bytes = shared->vmscal.area_bytes;
	state->is_advised = shared->is_advised;
	if (!own->is_one)
		return open_source(task->run, &state->fd, why);
	state->fd = fcntl(shared->fd, F_DUPFD_CLOEXEC, 0);
	return state->fd < 0 ? zm_why_errno(why, -errno, "the file of all tasks") : 0;
}

static int begin_round(struct zm_task *task, struct zm_usemem_task *state)
{
	uint64_t since_ns = zm_clock_now_ns();
	void *base = NULL;
	int r = zm_area_map(task->run->workload->own, state->fd, state->area_bytes, 0, &base);

	if (r == 0 && state->is_advised && madvise(base, state->area_bytes, MADV_HUGEPAGE) < 0)
		r = -errno;
	if (r < 0)
		return say_map_failed(&task->slot->why, r, state->area_bytes);
	zm_walk_begin(&state->walk, base, state->area_bytes,
		      zm_usemem_seed(task, state->clock.round));
	zm_vmscal_begun(task, &state->clock, since_ns);
	return 0;
}

/* A task's own file is emptied, so that the next round finds nothing of it in memory. */
static int empty_file(const struct zm_usemem_task *state)
{
	if (ftruncate(state->fd, 0) < 0 || ftruncate(state->fd, (off_t)state->area_bytes) < 0)
		return -errno;
	return 0;
}

static int end_round(struct zm_task *task, struct zm_usemem_task *state)
{
	const struct zm_area_case *own = task->run->workload->own;
	uint64_t since_ns = zm_clock_now_ns();
	int r;

	if (munmap(state->walk.base, state->area_bytes) < 0)
		return -errno;
	r = own->is_file && !own->is_one ? empty_file(state) : 0;
	if (r < 0)
		return r;
	state->walk.base = NULL;
	zm_vmscal_freed(task, since_ns);
	return 0;
}

static int end_access(struct zm_task *task, struct zm_usemem_task *state)
{
	const struct zm_area_case *own = task->run->workload->own;
	uint64_t since_ns;

	zm_vmscal_accessed(task, &state->clock);
	if (!own->is_locked)
		return 0;
	since_ns = zm_clock_now_ns();
	if (mlock(state->walk.base, state->area_bytes) < 0)
		return zm_why_errno(&task->slot->why, -errno,
				    "mlock of %llu bytes; see ulimit -l, or lower unit_size",
				    (unsigned long long)state->area_bytes);
	zm_vmscal_locked(task, since_ns);
	return 0;
}

static uint64_t most_words(const struct zm_task *task, const struct zm_usemem_task *state)
{
	const struct zm_area_case *own = task->run->workload->own;
	const struct zm_usemem_run *shared = task->run->state;
	uint64_t nr_pages = state->area_bytes / shared->page_bytes;

	if (!own->is_random || state->walk.done >= FAULTING_DRAWS * nr_pages)
		return UINT64_MAX;
	return own->is_huge ? FAULTING_COPIES : FAULTING_WORDS;
}

int64_t zm_usemem_step(struct zm_task *task, uint64_t n)
{
	struct zm_usemem_task *state = task->state;
	uint64_t most;
	int r = 0;

	if (state->walk.base && state->walk.done == state->walk.nr_words)
		r = end_round(task, state);
	if (r == 0 && !state->walk.base)
		r = begin_round(task, state);
	if (r < 0)
		return r;
	most = most_words(task, state);
	n = zm_walk_on(&state->walk, n < most ? n : most);
	if (state->walk.done == state->walk.nr_words)
		r = end_access(task, state);
	return r < 0 ? r : (int64_t)n;
}

/* A word that was written holds its number. */
void zm_usemem_teardown(struct zm_task *task)
{
	const struct zm_area_case *own = task->run->workload->own;
	struct zm_usemem_run *shared = task->run->state;
	struct zm_usemem_task *state = task->state;
	struct zm_walk *walk = &state->walk;

	if (walk->base) {
		uint64_t wanted = own->is_read ? 0 : walk->last;

		shared->nr_checked++;
		shared->nr_wrong += zm_walk_last(walk) != wanted;
		(void)munmap(walk->base, state->area_bytes);
	}
	walk->base = NULL;
	if (state->fd > 0)
		(void)close(state->fd);
	state->fd = -1;
}

int zm_usemem_verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_usemem_run *shared = run->state;

	if (shared->nr_checked > 0 && shared->nr_wrong == 0)
		return 0;
	return zm_why_set(
		why, -EBADMSG, "of %llu words looked at, %llu do not hold what was written",
		(unsigned long long)shared->nr_checked, (unsigned long long)shared->nr_wrong);
}

/* From one end to the other a page is one fault; at random, from one a word at a round's beginning to
 * none at its end. */
bool zm_usemem_expect(const struct zm_run *run, double *ret_least, double *ret_most)
{
	const struct zm_area_case *own = run->workload->own;
	const struct zm_usemem_run *shared = run->state;

	if (own->is_random)
		return false;
	*ret_least = *ret_most = (double)shared->page_bytes / ZM_WORD_BYTES;
	if (own->is_file) /* what is around comes along with a read, up to a large folio */
		*ret_most = fmax(*ret_most, (double)shared->pmd_bytes / ZM_WORD_BYTES);
	if (shared->thp_sizes)
		*ret_most = (double)zm_thp_largest(shared->thp_sizes) / ZM_WORD_BYTES;
	return true;
}
