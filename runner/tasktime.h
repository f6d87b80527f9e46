/*
 * tasktime: the tasks' own CPU time and faults, from their stat files in /proc.
 *
 * A process's file is /proc/PID/stat, a thread's /proc/PID/task/TID/stat: the same figures as rusage,
 * read from outside while the task runs. User and system time come in ticks of 10 ms or so; schedstat
 * beside the file has the sum in nanoseconds, where the kernel keeps it.
 */
#ifndef ZM_RUNNER_TASKTIME_H
#define ZM_RUNNER_TASKTIME_H

#include <stdint.h>
#include <sys/types.h>

#include "results/recorder.h"
#include "runner/arena.h"
#include "workloads/base/why.h"

struct zm_tasktime {
	uint64_t faults; /* minor and major */
	uint64_t user_ns, system_ns;
	uint64_t cpu_ns;    /* all of it, as exactly as is known */
	uint64_t waited_ns; /* CPU time of its children that it has waited for, with theirs */
	char state;         /* R: runs or would like to; S, D: waits; T: stopped */
};

struct zm_tasktimes {
	const struct zm_arena *arena;
	struct zm_recorder *recorder;
	pid_t launcher;
	uint32_t *series; /* [task * 3]: faults, user, system */
	uint64_t *cpu_ns; /* [task]: by the last read of all … */
	uint64_t t_ns;    /* … at this moment */
};

/* Declares the series; called when every task has its slot (at the gate). */
int zm_tasktimes_init(struct zm_tasktimes *times, const struct zm_arena *arena,
		      struct zm_recorder *recorder, pid_t launcher, struct zm_why *why);
void zm_tasktimes_release(struct zm_tasktimes *times);

/* Reads and records all at moment t_ns. -ENOENT and the like when one could not be read (the others
 * are recorded); *ret_sum then stays. */
int zm_tasktimes_read(struct zm_tasktimes *times, uint64_t t_ns, struct zm_tasktime *ret_sum);

/* One task's, now. */
int zm_tasktimes_look(const struct zm_tasktimes *times, unsigned int task,
		      struct zm_tasktime *ret_time);

/* What utime and its kin in a stat file count in. */
uint64_t zm_tasktime_tick_ns(void);

/* The figures of one stat file's text. -EINVAL. */
int zm_tasktime_parse(const char *text, uint64_t one_tick_ns, struct zm_tasktime *ret_time);

#endif
