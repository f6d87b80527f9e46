/* border: one deep read of all counters, and the difference of two. */
#include "runner/border.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/kin.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

static size_t nr_values(const struct zm_tally *tally)
{
	return tally->arena->nr_tasks * tally->nr_values;
}

int zm_border_init(struct zm_border *border, const struct zm_tally *tally)
{
	unsigned int nr_hists = tally->arena->nr_hists;

	*border = (struct zm_border){ 0 };
	border->values = calloc(nr_values(tally), sizeof(*border->values));
	if (nr_hists)
		border->hists = calloc(nr_hists, sizeof(*border->hists));
	if (border->values && (border->hists || !nr_hists))
		return 0;
	zm_border_release(border);
	return -ENOMEM;
}

void zm_border_release(struct zm_border *border)
{
	free(border->values);
	free(border->hists);
	*border = (struct zm_border){ 0 };
}

static void read_hists(struct zm_border *border, const struct zm_tally *tally)
{
	const struct zm_arena *arena = tally->arena;

	for (unsigned int h = 0; h < arena->nr_hists; h++) {
		zm_hist_init(&border->hists[h]);
		for (unsigned int i = 0; i < arena->nr_tasks; i++) {
			const struct zm_slot *slot = zm_arena_slot(arena, i);

			if (slot->hists)
				zm_hist_merge(&border->hists[h], &slot->hists[h]);
		}
		zm_recorder_put_hist(tally->recorder, tally->hists[h], border->t_ns,
				     &border->hists[h], 0);
	}
}

static void read_kernel_faults(struct zm_border *border, const struct zm_sysroot *root)
{
	zm_autofree char *text = NULL;
	char *save = NULL;
	size_t length;

	border->has_kernel_faults = false;
	if (zm_sysroot_read(root, "proc/vmstat", &text, &length) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "pgfault ", 8) == 0)
			border->has_kernel_faults =
				zm_units_parse_u64(line + 8, &border->kernel_faults) == 0;
	}
}

/* False: not all of them could be read. */
static bool read_kin(struct zm_border *border, const struct zm_arena *arena)
{
	const struct zm_run *run = arena->run;

	border->kin_ns = 0;
	if (!run->workload->has_children || run->kind == ZM_TASK_THREAD)
		return true;
	for (unsigned int i = 0; i < arena->nr_tasks; i++) {
		uint64_t cpu_ns;

		if (zm_kin_read(run->root, zm_arena_slot(arena, i)->tid, &cpu_ns) < 0)
			return false;
		border->kin_ns += cpu_ns;
	}
	return true;
}

void zm_border_read(struct zm_border *border, struct zm_tally *tally, struct zm_tasktimes *times,
		    const struct zm_cpuset *used)
{
	const struct zm_arena *arena = tally->arena;
	uint64_t t0_ns = zm_clock_now_ns();

	zm_tally_read(tally);
	memcpy(border->values, tally->values, nr_values(tally) * sizeof(*border->values));
	border->t_ns = tally->t_ns;
	border->has_times = zm_tasktimes_read(times, border->t_ns, &border->times) == 0;
	read_kernel_faults(border, arena->run->root);
	border->has_kin = read_kin(border, arena);
	zm_disturb_read(arena->run->root, used, &border->disturb);
	read_hists(border, tally);
	border->took_ns = zm_clock_now_ns() - t0_ns;
}

/* The tally's rows, apart: the operations of each task, and its other counters. */
static uint64_t *split(const struct zm_border *difference, const struct zm_tally *tally)
{
	size_t nr_tasks = tally->arena->nr_tasks, nr = tally->nr_values;
	uint64_t *ops = calloc(nr_tasks * nr, sizeof(*ops));
	uint64_t *counters = ops ? ops + nr_tasks : NULL;

	for (size_t i = 0; ops && i < nr_tasks; i++) {
		ops[i] = difference->values[i * nr];
		memcpy(&counters[i * (nr - 1)], &difference->values[i * nr + 1],
		       (nr - 1) * sizeof(*counters));
	}
	return ops;
}

int zm_border_window(const struct zm_border *from, struct zm_border *to,
		     const struct zm_tally *tally, struct zm_window *ret_window, uint64_t **ret_ops)
{
	const struct zm_arena *arena = tally->arena;
	uint64_t *ops;

	for (size_t i = 0; i < nr_values(tally); i++)
		to->values[i] -= from->values[i];
	for (unsigned int h = 0; h < arena->nr_hists; h++)
		zm_hist_subtract(&to->hists[h], &from->hists[h]);
	ops = split(to, tally);
	if (!ops)
		return -ENOMEM;
	*ret_window = (struct zm_window){
		.run = arena->run,
		.t0_ns = from->t_ns,
		.t1_ns = to->t_ns,
		.ops = ops,
		.counters = ops + arena->nr_tasks,
		.hists = to->hists,
		.nr_counters = arena->nr_counters,
		.nr_hists = arena->nr_hists,
		.task_faults = to->times.faults - from->times.faults,
		.has_task_faults = from->has_times && to->has_times,
	};
	*ret_ops = ops;
	return 0;
}
