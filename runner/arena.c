/* arena: one shared mapping, laid out once, and the failure record in it. */
#include "runner/arena.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/units.h"

/* Where everything stands, as offsets from the base. */
struct layout {
	size_t control, run, state, slots, slot_bytes, hists, end;
	unsigned int nr_counters, nr_hists;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) / to * to;
}

static unsigned int count_metrics(const struct zm_metric *metrics)
{
	unsigned int n = 0;

	while (metrics && metrics[n].name)
		n++;
	return n;
}

static void lay_out(const struct zm_workload *workload, unsigned int nr_tasks,
		    struct layout *ret_layout)
{
	size_t page = page_bytes();
	struct layout at = { .nr_counters = count_metrics(workload->counters),
			     .nr_hists = count_metrics(workload->hists) };

	at.control = page;
	at.run = round_up(at.control + sizeof(struct zm_control), 64);
	at.state = round_up(at.run + sizeof(struct zm_run), 64);
	at.slots = round_up(at.state + workload->run_bytes, page);
	at.hists = round_up(sizeof(struct zm_slot), page);
	at.slot_bytes = at.hists + round_up(at.nr_hists * sizeof(struct zm_hist), page);
	at.end = at.slots + at.slot_bytes * nr_tasks;
	*ret_layout = at;
}

size_t zm_arena_bytes(const struct zm_workload *workload, unsigned int nr_tasks,
		      size_t *ret_task_bytes)
{
	struct layout layout;

	lay_out(workload, nr_tasks, &layout);
	*ret_task_bytes = layout.slot_bytes;
	return layout.end;
}

static void fill_in(struct zm_arena *arena, const struct layout *layout,
		    const struct zm_workload *workload, unsigned int nr_tasks)
{
	arena->stop = (_Atomic uint32_t *)(void *)arena->base;
	arena->control = (struct zm_control *)(void *)(arena->base + layout->control);
	arena->run = (struct zm_run *)(void *)(arena->base + layout->run);
	arena->slots = arena->base + layout->slots;
	arena->slot_bytes = layout->slot_bytes;
	arena->hists_offset = layout->hists;
	arena->nr_tasks = nr_tasks;
	arena->nr_counters = layout->nr_counters;
	arena->nr_hists = layout->nr_hists;
	arena->run->workload = workload;
	arena->run->nr_tasks = nr_tasks;
	arena->run->page_bytes = page_bytes();
	arena->run->state = arena->base + layout->state;
	zm_gate_init(&arena->control->gate);
}

int zm_arena_init(struct zm_arena *arena, const struct zm_workload *workload, unsigned int nr_tasks,
		  struct zm_why *why)
{
	struct layout layout;
	void *base;

	lay_out(workload, nr_tasks, &layout);
	base = mmap(NULL, layout.end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED) {
		int r = -errno;
		char size[32];

		return zm_why_errno(why, r, "%s of memory to share between %u tasks",
				    zm_units_human_bytes(size, sizeof(size), (double)layout.end),
				    nr_tasks);
	}
	/* Huge pages would put many tasks' slots on one node. */
	(void)madvise(base, layout.end, MADV_NOHUGEPAGE);
	*arena = (struct zm_arena){ .base = base, .bytes = layout.end };
	fill_in(arena, &layout, workload, nr_tasks);
	return 0;
}

void zm_arena_release(struct zm_arena *arena)
{
	if (arena->base)
		(void)munmap(arena->base, arena->bytes);
	*arena = (struct zm_arena){ 0 };
}

struct zm_slot *zm_arena_slot(const struct zm_arena *arena, unsigned int index)
{
	return (struct zm_slot *)(void *)(arena->slots + arena->slot_bytes * index);
}

struct zm_slot *zm_arena_enter(const struct zm_arena *arena, unsigned int index)
{
	struct zm_slot *slot = zm_arena_slot(arena, index);

	slot->stop = arena->stop;
	slot->tid = (int32_t)syscall(SYS_gettid);
	slot->hists = (struct zm_hist *)(void *)((unsigned char *)slot + arena->hists_offset);
	for (unsigned int i = 0; i < arena->nr_hists; i++)
		zm_hist_init(&slot->hists[i]);
	atomic_store(&slot->state, ZM_SLOT_SETUP);
	return slot;
}

void zm_arena_stop(const struct zm_arena *arena)
{
	atomic_store(arena->stop, 1);
}

bool zm_arena_fail(const struct zm_arena *arena, int task, int error, const char *format, ...)
{
	struct zm_failure *failure = &arena->control->failure;
	uint32_t unclaimed = 0;
	va_list list;

	if (!atomic_compare_exchange_strong(&failure->is_claimed, &unclaimed, 1))
		return false;
	failure->task = task;
	failure->error = error;
	va_start(list, format);
	(void)vsnprintf(failure->why.text, sizeof(failure->why.text), format, list);
	va_end(list);
	atomic_store(&failure->is_set, 1);
	return true;
}

const struct zm_failure *zm_arena_failure(const struct zm_arena *arena)
{
	const struct zm_failure *failure = &arena->control->failure;

	return atomic_load(&failure->is_set) ? failure : NULL;
}
