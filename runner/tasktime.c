/*
 * tasktime: fields 10, 12 and 14 to 17 of a stat file: minflt, majflt, utime, stime, cutime, cstime; and the
 * first of schedstat.
 */
#include "runner/tasktime.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/clock.h"

#define NR_SERIES 3

static int declare(struct zm_tasktimes *times, unsigned int task)
{
	static const char *const names[NR_SERIES][2] = {
		{ ZM_SERIES_TASK_FAULTS, "faults" },
		{ ZM_SERIES_TASK_USER, "ns" },
		{ ZM_SERIES_TASK_SYSTEM, "ns" },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < NR_SERIES; i++) {
		struct zm_series_desc desc = { .source = ZM_SOURCE_ENGINE,
					       .metric = names[i][0],
					       .unit = names[i][1],
					       .kind = ZM_COUNT,
					       .scope = ZM_SCOPE_TASK,
					       .scope_id = task };

		r = zm_recorder_series(times->recorder, &desc,
				       &times->series[task * NR_SERIES + i]);
	}
	return r;
}

int zm_tasktimes_init(struct zm_tasktimes *times, const struct zm_arena *arena,
		      struct zm_recorder *recorder, pid_t launcher, struct zm_why *why)
{
	int r = 0;

	*times =
		(struct zm_tasktimes){ .arena = arena, .recorder = recorder, .launcher = launcher };
	times->series = calloc((size_t)arena->nr_tasks * NR_SERIES, sizeof(*times->series));
	times->cpu_ns = calloc(arena->nr_tasks, sizeof(*times->cpu_ns));
	if (!times->series || !times->cpu_ns)
		r = -ENOMEM;
	for (unsigned int i = 0; r == 0 && i < arena->nr_tasks; i++)
		r = declare(times, i);
	if (r == 0)
		return 0;
	zm_tasktimes_release(times);
	return zm_why_errno(why, r, "a series for each of %u tasks", arena->nr_tasks);
}

void zm_tasktimes_release(struct zm_tasktimes *times)
{
	free(times->series);
	free(times->cpu_ns);
	*times = (struct zm_tasktimes){ 0 };
}

/* The name, field 2, is in brackets and may hold anything: the fields are counted from its end. */
int zm_tasktime_parse(const char *text, uint64_t one_tick_ns, struct zm_tasktime *ret_time)
{
	const char *behind = strrchr(text, ')');
	uint64_t minor, major, user, system, waited_user, waited_system;
	char state;

	if (!behind ||
	    sscanf(behind + 1,
		   " %c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &state, &minor, &major, &user, &system, &waited_user, &waited_system) != 7)
		return -EINVAL;
	*ret_time = (struct zm_tasktime){ .faults = minor + major,
					  .user_ns = user * one_tick_ns,
					  .system_ns = system * one_tick_ns,
					  .cpu_ns = (user + system) * one_tick_ns,
					  .waited_ns = (waited_user + waited_system) * one_tick_ns,
					  .state = state };
	return 0;
}

uint64_t zm_tasktime_tick_ns(void)
{
	return ZM_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
}

int zm_tasktimes_look(const struct zm_tasktimes *times, unsigned int task,
		      struct zm_tasktime *ret_time)
{
	const struct zm_run *run = times->arena->run;
	int tid = zm_arena_slot(times->arena, task)->tid;
	char directory[48], path[64], line[1024];
	uint64_t exact_ns;
	int r;

	if (run->kind == ZM_TASK_THREAD)
		(void)snprintf(directory, sizeof(directory), "proc/%d/task/%d",
			       (int)times->launcher, tid);
	else
		(void)snprintf(directory, sizeof(directory), "proc/%d", tid);
	(void)snprintf(path, sizeof(path), "%s/stat", directory);
	r = zm_sysroot_read_line(run->root, path, line, sizeof(line));
	if (r == 0)
		r = zm_tasktime_parse(line, zm_tasktime_tick_ns(), ret_time);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "%s/schedstat", directory);
	if (zm_sysroot_read_line(run->root, path, line, sizeof(line)) == 0 &&
	    sscanf(line, "%" SCNu64, &exact_ns) == 1 && exact_ns > ret_time->cpu_ns)
		ret_time->cpu_ns = exact_ns;
	return 0;
}

static void put(const struct zm_tasktimes *times, unsigned int task, uint64_t t_ns,
		const struct zm_tasktime *time)
{
	const uint32_t *series = &times->series[task * NR_SERIES];

	zm_recorder_put_u64(times->recorder, series[0], t_ns, time->faults, 0);
	zm_recorder_put_u64(times->recorder, series[1], t_ns, time->user_ns, 0);
	zm_recorder_put_u64(times->recorder, series[2], t_ns, time->system_ns, 0);
}

int zm_tasktimes_read(struct zm_tasktimes *times, uint64_t t_ns, struct zm_tasktime *ret_sum)
{
	struct zm_tasktime sum = { 0 };
	int error = 0;

	times->t_ns = t_ns;
	for (unsigned int i = 0; i < times->arena->nr_tasks; i++) {
		struct zm_tasktime time;
		int r = zm_tasktimes_look(times, i, &time);

		if (r < 0) {
			error = r;
			continue;
		}
		put(times, i, t_ns, &time);
		times->cpu_ns[i] = time.cpu_ns;
		sum.faults += time.faults;
		sum.user_ns += time.user_ns;
		sum.system_ns += time.system_ns;
		sum.cpu_ns += time.cpu_ns;
	}
	if (error == 0)
		*ret_sum = sum;
	return error;
}
