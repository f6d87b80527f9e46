/*
 * small_allocs: many small mappings.
 *
 * Each task, for ever: maps ten pages after ten pages, private and read-only, until its part of unit_size
 * is mapped, and reads 8 bytes at a time from each of them before it maps the next; then unmaps them all.
 * All of it is the zero page: what grows is the number of mappings, and page tables. As vm-scalability's
 * small-allocs, and with threads its small-allocs-mt; there it is the process's end that unmaps.
 *
 *     mapping 0 | 1 | 2 | … | nr_pieces - 1        10 pages each, wherever the kernel puts them
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faultload/area.h"
#include "faultload/vmscal.h"
#include "faultload/walk.h"
#include "workloads/base/clock.h"
#include "workloads/worker.h"

#define MAX_MAPPINGS  "proc/sys/vm/max_map_count"
#define PIECE_PAGES   10
#define MAPPING_BYTES 256                 /* of the kernel's memory, for a mapping */
#define OTHERS        1024                /* mappings that a process has anyway */
#define MOST_BYTES    (UINT64_C(1) << 42) /* the original's limit */
#define PATIENCE_NS   (600 * ZM_NS_PER_S) /* unmapping millions takes its time */

static const struct zm_area_case own = { .is_read = true };

struct small_run {
	struct zm_vmscal_run vmscal; /* first: vmscal finds it there */
	uint64_t nr_pieces;          /* of one task */
	_Atomic uint64_t nr_checked, nr_wrong;
};

struct small_task {
	struct zm_walk walk; /* over the newest mapping */
	struct zm_vmscal_clock clock;
	int fd; /* of /dev/zero, which the original maps */
	char **pieces;
	uint64_t nr_mapped;
};

/* --- how large --------------------------------------------------------------------------------- */

static uint64_t piece_bytes_of(const struct zm_run *run)
{
	return PIECE_PAGES * run->page_bytes;
}

static uint64_t nr_pieces_of(const struct zm_run *run, uint64_t area_bytes)
{
	return (area_bytes - 1) / piece_bytes_of(run) + 1;
}

/* That one address space may have; at least one for each task. */
static uint64_t nr_allowed(const struct zm_run *run)
{
	uint64_t allowed;

	if (zm_sysroot_read_u64(run->root, MAX_MAPPINGS, &allowed) < 0)
		return UINT64_MAX;
	return allowed > OTHERS + run->nr_tasks ? allowed - OTHERS : run->nr_tasks;
}

/* Only root may raise what is allowed. */
static bool can_raise(const struct zm_run *run)
{
	return run->root->is_live ? geteuid() == 0 : run->root->is_writable;
}

static unsigned int nr_spaces(const struct zm_run *run)
{
	return run->kind == ZM_TASK_PROCESS ? run->nr_tasks : 1;
}

/* A third of the memory is for mappings, half of what is available for page tables. Both as there. */
static uint64_t default_unit_bytes(const struct zm_run *run)
{
	uint64_t memory = zm_area_memory_bytes(run->root);
	uint64_t unit = memory / 2 / sizeof(uint64_t) * run->page_bytes;
	uint64_t nr_most = memory / 3 / MAPPING_BYTES;

	if (unit > MOST_BYTES)
		unit = MOST_BYTES;
	if (!can_raise(run) && nr_most > nr_allowed(run) * nr_spaces(run))
		nr_most = nr_allowed(run) * nr_spaces(run);
	return unit < nr_most * piece_bytes_of(run) ? unit : nr_most * piece_bytes_of(run);
}

static uint64_t area_bytes_of(const struct zm_run *run)
{
	uint64_t unit = zm_area_unit_bytes(run, default_unit_bytes(run));

	return unit / run->nr_tasks / run->page_bytes * run->page_bytes;
}

static uint64_t nr_needed(const struct zm_run *run)
{
	uint64_t nr_pieces = nr_pieces_of(run, area_bytes_of(run));

	return run->kind == ZM_TASK_THREAD ? nr_pieces * run->nr_tasks : nr_pieces;
}

static int check(const struct zm_run *run, struct zm_why *why)
{
	if (area_bytes_of(run) == 0)
		return zm_why_set(why, -EINVAL,
				  "unit_size: less than a page of %llu bytes for each task",
				  (unsigned long long)run->page_bytes);
	if (nr_needed(run) <= nr_allowed(run) || can_raise(run))
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "%llu mappings are needed in one process, and vm.max_map_count allows "
			  "%llu; run as root, or lower unit_size",
			  (unsigned long long)nr_needed(run), (unsigned long long)nr_allowed(run));
}

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	uint64_t area = area_bytes_of(run);

	ret_footprint->task_files = 1;
	ret_footprint->task_bytes = nr_pieces_of(run, area) * (MAPPING_BYTES + sizeof(char *)) +
				    area / run->page_bytes * sizeof(uint64_t);
}

/* --- the run ----------------------------------------------------------------------------------- */

static int prepare(struct zm_run *run, struct zm_why *why)
{
	struct small_run *shared = run->state;
	char text[24];
	int r = 0;

	shared->vmscal.area_bytes = area_bytes_of(run);
	shared->nr_pieces = nr_pieces_of(run, shared->vmscal.area_bytes);
	if (nr_needed(run) <= nr_allowed(run))
		return 0;
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)nr_needed(run) + OTHERS);
	r = zm_sysroot_write(run->root, MAX_MAPPINGS, text);
	return r < 0 ? zm_why_errno(why, r, "/" MAX_MAPPINGS " cannot be set to %s", text) : 0;
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	const struct small_run *shared = task->run->state;
	struct small_task *state = task->state;
	void *pieces;

	state->walk.is_read = true;
	state->fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (state->fd < 0)
		return zm_why_errno(why, -errno, "/dev/zero");
	pieces = mmap(NULL, shared->nr_pieces * sizeof(char *), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pieces == MAP_FAILED)
		return zm_why_errno(why, -errno, "a list of %llu mappings",
				    (unsigned long long)shared->nr_pieces);
	state->pieces = pieces;
	return 0;
}

static uint64_t length_of(const struct zm_run *run, uint64_t piece)
{
	const struct small_run *shared = run->state;
	uint64_t from = piece * piece_bytes_of(run);
	uint64_t left = shared->vmscal.area_bytes - from;

	return left < piece_bytes_of(run) ? left : piece_bytes_of(run);
}

static int map_next(struct zm_task *task, struct small_task *state)
{
	uint64_t length = length_of(task->run, state->nr_mapped);
	uint64_t since_ns = state->nr_mapped == 0 ? zm_clock_now_ns() : 0;
	void *base = mmap(NULL, length, PROT_READ, MAP_PRIVATE, state->fd, 0);

	if (base == MAP_FAILED)
		return zm_why_errno(&task->slot->why, -errno,
				    "mapping %llu of a task; see vm.max_map_count, or lower "
				    "unit_size",
				    (unsigned long long)state->nr_mapped);
	state->pieces[state->nr_mapped++] = base;
	zm_walk_begin(&state->walk, base, length, 0);
	if (since_ns)
		zm_vmscal_begun(task, &state->clock, since_ns);
	return 0;
}

static void unmap_all(const struct zm_run *run, struct small_task *state)
{
	for (uint64_t i = 0; i < state->nr_mapped; i++)
		(void)munmap(state->pieces[i], length_of(run, i));
	state->nr_mapped = 0;
	state->walk.nr_words = state->walk.done = 0;
}

static bool is_at_end(const struct small_task *state, const struct small_run *shared)
{
	return state->nr_mapped == shared->nr_pieces && state->walk.done == state->walk.nr_words;
}

/* Mapping after mapping, until n words were read or the last one is. */
static int64_t step(struct zm_task *task, uint64_t n)
{
	const struct small_run *shared = task->run->state;
	struct small_task *state = task->state;
	uint64_t done = 0;
	int r;

	if (is_at_end(state, shared)) {
		uint64_t since_ns = zm_clock_now_ns();

		unmap_all(task->run, state);
		zm_vmscal_freed(task, since_ns);
	}
	do {
		r = state->walk.done == state->walk.nr_words ? map_next(task, state) : 0;
		if (r < 0)
			return r;
		done += zm_walk_on(&state->walk, n - done);
	} while (done < n && !is_at_end(state, shared));
	if (is_at_end(state, shared))
		zm_vmscal_accessed(task, &state->clock);
	return (int64_t)done;
}

/* Whoever read has read zeroes. */
static void teardown(struct zm_task *task)
{
	struct small_run *shared = task->run->state;
	struct small_task *state = task->state;

	if (state->nr_mapped > 0) {
		shared->nr_checked++;
		shared->nr_wrong += zm_walk_last(&state->walk) != 0;
	}
	unmap_all(task->run, state);
	if (state->pieces)
		(void)munmap(state->pieces, shared->nr_pieces * sizeof(char *));
	state->pieces = NULL;
	if (state->fd > 0)
		(void)close(state->fd);
	state->fd = -1;
}

static int verify(struct zm_run *run, struct zm_why *why)
{
	const struct small_run *shared = run->state;

	if (shared->nr_checked > 0 && shared->nr_wrong == 0)
		return 0;
	return zm_why_set(why, -EBADMSG, "of %llu tasks that read, %llu did not read zeroes",
			  (unsigned long long)shared->nr_checked,
			  (unsigned long long)shared->nr_wrong);
}

/* Each page is one fault. */
static bool expect(const struct zm_run *run, double *ret_least, double *ret_most)
{
	*ret_least = *ret_most = (double)run->page_bytes / ZM_WORD_BYTES;
	return true;
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "maps ten pages at a time, very often, and reads them",
	.op = "word",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.own = &own,
	.options = zm_area_small_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = zm_vmscal_counters,
	.metrics = zm_vmscal_metrics,
	.save = (const char *const[]){ MAX_MAPPINGS, NULL },
	.batch = 50 * 5120, /* mappings of 4-KiB pages */
	.patience_ns = PATIENCE_NS,
	.run_bytes = sizeof(struct small_run),
	.task_bytes = sizeof(struct small_task),
	.check = check,
	.footprint = footprint,
	.prepare = prepare,
	.setup = setup,
	.teardown = teardown,
	.step = step,
	.verify = verify,
	.expect_ops_per_fault = expect,
	.report = zm_vmscal_report,
};
