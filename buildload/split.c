/*
 * split: processes sorted by program and CPU time; a block at a time has one share.
 *
 *     cc1 | cc1 cc1 | cc1 cc1 cc1 …     sh × 500 | sh × 480 | …     what is rare, all together
 */
#include "buildload/split.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define BLOCK_TICKS 100 /* of a block: the share's error is a tenth of that */

uint64_t zm_split_tick_ns(void)
{
	struct timespec tick;

	/* The coarse clock goes on by a tick at a time. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0)
		return 0;
	return (uint64_t)tick.tv_sec * ZM_NS_PER_S + (uint64_t)tick.tv_nsec;
}

static uint64_t cpu_of(const struct zm_trace_process *process)
{
	return process->user_ns + process->system_ns;
}

static bool is_sampled(const struct zm_trace *trace, uint64_t tick_ns)
{
	size_t nr = 0, nr_both = 0;

	for (size_t i = 0; i < trace->nr; i++) {
		const struct zm_trace_process *process = &trace->processes[i];

		if (!process->has_ended || cpu_of(process) >= tick_ns)
			continue;
		nr++;
		nr_both += process->user_ns > 0 && process->system_ns > 0;
	}
	return nr_both * 2 <= nr;
}

static int compare_programs(const struct zm_trace_process *a, const struct zm_trace_process *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : (int)a->has_execed - (int)b->has_execed;
}

static int compare_cpu(const void *a, const void *b)
{
	uint64_t x = cpu_of(*(const struct zm_trace_process *const *)a);
	uint64_t y = cpu_of(*(const struct zm_trace_process *const *)b);

	return (x > y) - (x < y);
}

static int compare(const void *a, const void *b)
{
	int order = compare_programs(*(const struct zm_trace_process *const *)a,
				     *(const struct zm_trace_process *const *)b);

	return order ? order : compare_cpu(a, b);
}

static uint64_t sum_cpu(struct zm_trace_process *const *processes, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += cpu_of(processes[i]);
	return sum;
}

/* At least a tick of whoever was found in the kernel. */
static uint64_t sum_system(struct zm_trace_process *const *processes, size_t nr, uint64_t tick_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t system_ns = processes[i]->system_ns;

		sum += system_ns == 0 ? 0 : system_ns > tick_ns ? system_ns : tick_ns;
	}
	return sum;
}

static void share_out(struct zm_trace_process *const *processes, size_t nr, uint64_t tick_ns)
{
	double cpu = (double)sum_cpu(processes, nr);
	double share = cpu > 0 ? (double)sum_system(processes, nr, tick_ns) / cpu : 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t all = cpu_of(processes[i]);

		processes[i]->system_ns = share < 1 ? (uint64_t)((double)all * share) : all;
		processes[i]->user_ns = all - processes[i]->system_ns;
	}
}

/* Sorted by CPU time; what is left at the end belongs to the last block. */
static void share_out_blocks(struct zm_trace_process *const *processes, size_t nr, uint64_t tick_ns)
{
	const uint64_t least = BLOCK_TICKS * tick_ns;
	uint64_t left = sum_cpu(processes, nr), sum = 0;
	size_t from = 0;

	for (size_t i = 0; i < nr; i++) {
		sum += cpu_of(processes[i]);
		left -= cpu_of(processes[i]);
		if ((sum < least || left < least) && i + 1 < nr)
			continue;
		share_out(&processes[from], i + 1 - from, tick_ns);
		from = i + 1;
		sum = 0;
	}
}

static size_t count_program(struct zm_trace_process *const *processes, size_t nr)
{
	size_t n = 1;

	while (n < nr && compare_programs(processes[0], processes[n]) == 0)
		n++;
	return n;
}

int zm_split_times(struct zm_trace *trace, uint64_t tick_ns)
{
	zm_autofree struct zm_trace_process **sorted =
		calloc(trace->nr + 1, sizeof(struct zm_trace_process *));
	size_t nr = 0, nr_rare = 0;

	if (!sorted)
		return -ENOMEM;
	if (!is_sampled(trace, tick_ns))
		return 0;
	for (size_t i = 0; i < trace->nr; i++)
		if (trace->processes[i].has_ended)
			sorted[nr++] = &trace->processes[i];
	qsort(sorted, nr, sizeof(sorted[0]), compare);
	for (size_t i = 0, n; i < nr; i += n) {
		n = count_program(&sorted[i], nr - i);
		if (sum_cpu(&sorted[i], n) >= BLOCK_TICKS * tick_ns) {
			share_out_blocks(&sorted[i], n, tick_ns);
			continue;
		}
		memmove(&sorted[nr_rare], &sorted[i], n * sizeof(sorted[0]));
		nr_rare += n;
	}
	qsort(sorted, nr_rare, sizeof(sorted[0]), compare_cpu);
	share_out_blocks(sorted, nr_rare, tick_ns);
	return 0;
}
