/*
 * usemem: areas, and the cycle of mapping, going over, and unmapping one.
 *
 *     step:  no area -> map -> words … -> the end: the next step unmaps and maps anew
 */
#include "faultload/usemem.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faultload/hugepool.h"
#include "workloads/base/cgroup.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define MOST_BYTES  (UINT64_C(1) << 46)
#define READ_BYTES  (UINT64_C(1) << 42) /* the original's limit for cases that only read */
#define ENTRY_BYTES 8                   /* of page table, for each base page */

#define UNIT_ROW                                                                                   \
	{                                                                                          \
		.name = "unit_size", .type = ZM_OPTION_SIZE,                                       \
		.offset = offsetof(struct zm_usemem_options, unit_size), .preset = "0",            \
		.max = MOST_BYTES, .unit = "bytes",                                                \
		.help = "what all tasks together go over in a round; 0 is half of the memory"      \
	}

#define SIZE_ROW                                                                                   \
	{                                                                                          \
		.name = "size", .type = ZM_OPTION_SIZE,                                            \
		.offset = offsetof(struct zm_usemem_options, size), .preset = "0",                 \
		.max = MOST_BYTES, .unit = "bytes",                                                \
		.help = "most of unit_size per node, as robots' mails give it; 0 is no limit"      \
	}

const struct zm_option zm_usemem_options[] = {
	UNIT_ROW,
	SIZE_ROW,
	{ .name = "thp",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct zm_usemem_options, thp),
	  .preset = "default",
	  .choices = zm_thp_names,
	  .help = "transparent huge pages for this run; default is as the machine is set" },
	{ .name = NULL },
};

const struct zm_option zm_usemem_huge_options[] = {
	UNIT_ROW,
	SIZE_ROW,
	{ .name = "pool",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct zm_usemem_options, pool),
	  .preset = "surplus",
	  .choices = zm_hugepool_kinds,
	  .help = "where huge pages come from: made when they are used, or made before" },
	{ .name = NULL },
};

/* --- how large --------------------------------------------------------------------------------- */

/* What the tightest memory cgroup leaves, or UINT64_MAX. */
static uint64_t cgroup_left(const struct zm_sysroot *root)
{
	struct zm_cgroup cgroup;

	if (zm_cgroup_find(root, "memory", &cgroup) < 0)
		return UINT64_MAX;
	if (cgroup.version == 2)
		return zm_cgroup_left(root, &cgroup, "memory.max", "memory.current", NULL, NULL);
	return zm_cgroup_left(root, &cgroup, "memory.limit_in_bytes", "memory.usage_in_bytes", NULL,
			      NULL);
}

static uint64_t nr_nodes(const struct zm_sysroot *root)
{
	zm_autocpuset struct zm_cpuset nodes = { 0 };
	size_t n = 0;

	if (zm_sysroot_list_numbered(root, "sys/devices/system/node", "node", &nodes) == 0)
		n = zm_cpuset_count(&nodes);
	return n ? n : 1;
}

/* Half of the memory (a quarter where threads share one area); of cases that only read, whose pages
 * are all the zero page, so much that the page tables take half of what is free. */
static uint64_t default_unit_bytes(const struct zm_run *run)
{
	const struct zm_usemem *own = run->workload->own;
	uint64_t total = zm_hugepool_meminfo(run->root, "MemTotal");
	uint64_t left = cgroup_left(run->root);
	uint64_t unit;

	if (own->is_read) {
		uint64_t available = zm_hugepool_meminfo(run->root, "MemAvailable");

		unit = (available < left ? available : left) / 2 / ENTRY_BYTES * run->page_bytes;
		return unit < READ_BYTES ? unit : READ_BYTES;
	}
	unit = (total < left ? total : left) / 2;
	return own->is_prepared && run->kind == ZM_TASK_THREAD ? unit / 2 : unit;
}

static uint64_t unit_bytes_of(const struct zm_run *run)
{
	const struct zm_usemem_options *chosen = run->options;
	uint64_t unit = chosen->unit_size ? chosen->unit_size : default_unit_bytes(run);
	uint64_t most = chosen->size ? chosen->size * nr_nodes(run->root) : unit;

	return unit < most ? unit : most;
}

static uint64_t page_bytes_of(const struct zm_run *run)
{
	const struct zm_usemem *own = run->workload->own;

	return own->is_huge ? zm_hugepool_default_bytes(run->root) : run->page_bytes;
}

/* A prepared area is the parent's share, which as many processes copy, or one for all threads. */
uint64_t zm_usemem_area_bytes(const struct zm_run *run)
{
	const struct zm_usemem *own = run->workload->own;
	uint64_t page_bytes = page_bytes_of(run);
	uint64_t nr_parts = run->nr_tasks;

	if (own->is_prepared)
		nr_parts = run->kind == ZM_TASK_PROCESS ? nr_parts + 1 : 1;
	return page_bytes ? unit_bytes_of(run) / nr_parts / page_bytes * page_bytes : 0;
}

/* --- before the tasks -------------------------------------------------------------------------- */

int zm_usemem_check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_usemem *own = run->workload->own;
	const struct zm_usemem_options *chosen = run->options;
	int r = own->is_huge ? zm_hugepool_check(run->root, why)
			     : zm_thp_check(run->root, chosen->thp, why);

	if (r < 0)
		return r;
	if (zm_usemem_area_bytes(run) == 0)
		return zm_why_set(why, -EINVAL,
				  "unit_size=%llu: less than a page of %llu bytes for each task",
				  (unsigned long long)unit_bytes_of(run),
				  (unsigned long long)page_bytes_of(run));
	return 0;
}

void zm_usemem_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_usemem *own = run->workload->own;
	uint64_t area = zm_usemem_area_bytes(run);
	uint64_t tables = area / run->page_bytes * ENTRY_BYTES;
	bool is_shared = own->is_prepared && run->kind == ZM_TASK_THREAD;

	ret_footprint->task_files = 1;
	ret_footprint->task_bytes = own->is_read ? tables : area + tables;
	if (own->is_prepared)
		ret_footprint->shared_bytes = ret_footprint->task_bytes;
	if (is_shared)
		ret_footprint->task_bytes = 0;
}

int zm_usemem_map(const struct zm_usemem *own, int fd, uint64_t bytes, int flags, void **ret_base)
{
	void *base = NULL;

	if (own->is_huge)
		flags |= MAP_ANONYMOUS | MAP_HUGETLB;
	base = mmap(NULL, bytes, own->is_read ? PROT_READ : PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | flags, own->is_huge ? -1 : fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	*ret_base = base;
	return 0;
}

static int open_zero(const struct zm_usemem *own, int *ret_fd, struct zm_why *why)
{
	*ret_fd = -1;
	if (own->is_huge)
		return 0;
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
	const struct zm_usemem *own = run->workload->own;
	const struct zm_usemem_options *chosen = run->options;
	uint64_t nr_areas = run->nr_tasks + own->is_prepared;
	uint64_t per_area = zm_usemem_area_bytes(run) / page_bytes_of(run);

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
	const struct zm_usemem *own = run->workload->own;
	struct zm_usemem_run *shared = run->state;
	uint64_t bytes = shared->vmscal.area_bytes;
	uint64_t since_ns = zm_clock_now_ns();
	zm_autoclose int fd = -1;
	void *base = NULL;
	int r = open_zero(own, &fd, why);

	if (r < 0)
		return r;
	r = zm_usemem_map(own, fd, bytes, shared->is_advised ? 0 : MAP_POPULATE, &base);
	if (r == 0 && shared->is_advised)
		r = populate_advised(base, bytes, run->page_bytes);
	shared->base = base;
	shared->vmscal.populate_ns = zm_clock_now_ns() - since_ns;
	return r < 0 ? say_map_failed(why, r, bytes) : 0;
}

int zm_usemem_prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_usemem *own = run->workload->own;
	const struct zm_usemem_options *chosen = run->options;
	struct zm_usemem_run *shared = run->state;
	int r = 0;

	shared->thp_before = -1;
	shared->page_bytes = page_bytes_of(run);
	shared->vmscal.area_bytes = zm_usemem_area_bytes(run);
	if (own->is_huge) {
		r = allow_huge_pages(run, why);
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
	const struct zm_usemem *own = run->workload->own;
	const struct zm_usemem_options *chosen = run->options;
	struct zm_usemem_run *shared = run->state;

	if (shared->base)
		(void)munmap(shared->base, shared->vmscal.area_bytes);
	shared->base = NULL;
	if (!own->is_huge)
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
	const struct zm_usemem *own = task->run->workload->own;
	const struct zm_usemem_run *shared = task->run->state;
	struct zm_usemem_task *state = task->state;

	state->walk.is_random = own->is_random;
	state->walk.is_read = own->is_read;
	state->area_bytes = shared->vmscal.area_bytes;
	state->is_advised = shared->is_advised;
	return open_zero(own, &state->fd, why);
}

static int begin_round(struct zm_task *task, struct zm_usemem_task *state)
{
	uint64_t since_ns = zm_clock_now_ns();
	void *base = NULL;
	int r = zm_usemem_map(task->run->workload->own, state->fd, state->area_bytes, 0, &base);

	if (r == 0 && state->is_advised && madvise(base, state->area_bytes, MADV_HUGEPAGE) < 0)
		r = -errno;
	if (r < 0)
		return say_map_failed(&task->slot->why, r, state->area_bytes);
	zm_walk_begin(&state->walk, base, state->area_bytes,
		      zm_usemem_seed(task, state->clock.round));
	zm_vmscal_begun(task, &state->clock, since_ns);
	return 0;
}

static int end_round(struct zm_task *task, struct zm_usemem_task *state)
{
	uint64_t since_ns = zm_clock_now_ns();

	if (munmap(state->walk.base, state->area_bytes) < 0)
		return -errno;
	state->walk.base = NULL;
	zm_vmscal_freed(task, since_ns);
	return 0;
}

int64_t zm_usemem_step(struct zm_task *task, uint64_t n)
{
	struct zm_usemem_task *state = task->state;
	int r = 0;

	if (state->walk.base && state->walk.done == state->walk.nr_words)
		r = end_round(task, state);
	if (r == 0 && !state->walk.base)
		r = begin_round(task, state);
	if (r < 0)
		return r;
	n = zm_walk_on(&state->walk, n);
	if (state->walk.done == state->walk.nr_words)
		zm_vmscal_accessed(task, &state->clock);
	return (int64_t)n;
}

/* A word that was written holds its number. */
void zm_usemem_teardown(struct zm_task *task)
{
	const struct zm_usemem *own = task->run->workload->own;
	struct zm_usemem_run *shared = task->run->state;
	struct zm_usemem_task *state = task->state;
	struct zm_walk *walk = &state->walk;

	if (walk->base) {
		uint64_t wanted = own->is_read ? 0 : walk->last;

		shared->nr_checked++;
		shared->nr_wrong += walk->base[walk->last] != wanted;
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
	const struct zm_usemem *own = run->workload->own;
	const struct zm_usemem_run *shared = run->state;

	if (own->is_random)
		return false;
	*ret_least = *ret_most = (double)shared->page_bytes / ZM_WORD_BYTES;
	if (shared->thp_sizes)
		*ret_most = (double)zm_thp_largest(shared->thp_sizes) / ZM_WORD_BYTES;
	return true;
}
