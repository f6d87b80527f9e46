/* tally: reads the slots; keeps when each task was last seen to move. */
#include "runner/tally.h"

#include <errno.h>
#include <stdlib.h>

#include "workloads/base/clock.h"

static int declare(struct zm_tally *tally, unsigned int task)
{
	const struct zm_workload *workload = tally->arena->run->workload;
	uint32_t *series = &tally->series[task * tally->nr_values];
	struct zm_series_desc desc = { .source = ZM_SOURCE_ENGINE,
				       .metric = ZM_SERIES_TASK_OPS,
				       .unit = workload->op,
				       .kind = ZM_COUNT,
				       .better = ZM_BETTER_MORE,
				       .scope = ZM_SCOPE_TASK,
				       .scope_id = task };
	int r = zm_recorder_series(tally->recorder, &desc, &series[0]);

	desc.source = workload->name;
	for (size_t i = 1; r == 0 && i < tally->nr_values; i++) {
		const struct zm_metric *metric = &workload->counters[i - 1];

		desc.metric = metric->name;
		desc.unit = metric->unit;
		desc.kind = metric->kind;
		desc.better = metric->better;
		r = zm_recorder_series(tally->recorder, &desc, &series[i]);
	}
	return r;
}

static int declare_hists(struct zm_tally *tally)
{
	const struct zm_workload *workload = tally->arena->run->workload;
	int r = 0;

	if (tally->arena->nr_hists == 0)
		return 0;
	tally->hists = calloc(tally->arena->nr_hists, sizeof(*tally->hists));
	if (!tally->hists)
		return -ENOMEM;
	for (unsigned int i = 0; r == 0 && i < tally->arena->nr_hists; i++) {
		const struct zm_metric *metric = &workload->hists[i];
		const struct zm_series_desc desc = { .source = workload->name,
						     .metric = metric->name,
						     .unit = metric->unit,
						     .kind = ZM_HIST,
						     .better = metric->better,
						     .scope = ZM_SCOPE_HOST };

		r = zm_recorder_series(tally->recorder, &desc, &tally->hists[i]);
	}
	return r;
}

int zm_tally_init(struct zm_tally *tally, const struct zm_arena *arena,
		  struct zm_recorder *recorder, struct zm_why *why)
{
	size_t nr = arena->nr_tasks;
	int r = 0;

	*tally = (struct zm_tally){ .arena = arena,
				    .recorder = recorder,
				    .nr_values = 1 + arena->nr_counters };
	tally->values = calloc(nr * tally->nr_values, sizeof(*tally->values));
	tally->series = calloc(nr * tally->nr_values, sizeof(*tally->series));
	tally->moved_ns = calloc(nr, sizeof(*tally->moved_ns));
	tally->heard_ns = calloc(nr, sizeof(*tally->heard_ns));
	if (!tally->values || !tally->series || !tally->moved_ns || !tally->heard_ns)
		r = -ENOMEM;
	for (unsigned int i = 0; r == 0 && i < nr; i++)
		r = declare(tally, i);
	if (r == 0)
		r = declare_hists(tally);
	if (r == 0)
		return 0;
	zm_tally_release(tally);
	return zm_why_errno(why, r, "a series for each of %zu tasks", nr);
}

void zm_tally_release(struct zm_tally *tally)
{
	free(tally->values);
	free(tally->series);
	free(tally->hists);
	free(tally->moved_ns);
	free(tally->heard_ns);
	*tally = (struct zm_tally){ 0 };
}

static bool read_task(struct zm_tally *tally, unsigned int task)
{
	const struct zm_slot *slot = zm_arena_slot(tally->arena, task);
	uint64_t *values = &tally->values[task * tally->nr_values];
	bool has_moved = false;

	for (size_t i = 0; i < tally->nr_values; i++) {
		const _Atomic uint64_t *from = i ? &slot->counters[i - 1] : &slot->ops;
		uint64_t value = atomic_load_explicit(from, memory_order_relaxed);

		has_moved |= value != values[i];
		values[i] = value;
	}
	return has_moved;
}

static void look(struct zm_tally *tally, uint64_t now_ns)
{
	uint64_t gap_ns = tally->t_ns && now_ns > tally->t_ns ? now_ns - tally->t_ns : 0;

	tally->looked_ns += gap_ns < ZM_TALLY_LOOK_NS ? gap_ns : ZM_TALLY_LOOK_NS;
}

static void hear(struct zm_tally *tally, unsigned int task, uint64_t now_ns)
{
	tally->moved_ns[task] = now_ns;
	tally->heard_ns[task] = tally->looked_ns;
}

void zm_tally_read(struct zm_tally *tally)
{
	uint64_t t0_ns = zm_clock_now_ns();
	uint64_t t1_ns;

	look(tally, t0_ns);
	for (unsigned int i = 0; i < tally->arena->nr_tasks; i++) {
		if (read_task(tally, i))
			hear(tally, i, t0_ns);
	}
	t1_ns = zm_clock_now_ns();
	tally->took_ns = t1_ns - t0_ns;
	tally->t_ns = t0_ns + tally->took_ns / 2;
}

void zm_tally_put(const struct zm_tally *tally, uint32_t flags)
{
	size_t nr = tally->arena->nr_tasks * tally->nr_values;

	for (size_t i = 0; i < nr; i++)
		zm_recorder_put_u64(tally->recorder, tally->series[i], tally->t_ns,
				    tally->values[i], flags);
}

uint64_t zm_tally_ops(const struct zm_tally *tally)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < tally->arena->nr_tasks; i++)
		sum += tally->values[i * tally->nr_values];
	return sum;
}

void zm_tally_start_watch(struct zm_tally *tally, uint64_t now_ns)
{
	look(tally, now_ns);
	for (unsigned int i = 0; i < tally->arena->nr_tasks; i++)
		hear(tally, i, now_ns);
}

unsigned int zm_tally_most_silent(const struct zm_tally *tally, uint64_t *ret_silent_ns)
{
	unsigned int found = 0;

	for (unsigned int i = 1; i < tally->arena->nr_tasks; i++) {
		if (tally->heard_ns[i] < tally->heard_ns[found])
			found = i;
	}
	*ret_silent_ns = tally->looked_ns - tally->heard_ns[found];
	return found;
}
