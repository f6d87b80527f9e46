/*
 * taskstat: what a task has used so far, by its stat and status in procfs.
 *
 *     stat     pid (name) state ppid …   a name may hold spaces and brackets: fields count from its end
 *     status   voluntary_ctxt_switches: 150
 */
#ifndef ZM_RUNNER_MONITORS_TASKSTAT_H
#define ZM_RUNNER_MONITORS_TASKSTAT_H

#include <stdbool.h>
#include <stdint.h>

struct zm_taskstat {
	uint64_t minor_faults, child_minor_faults;
	uint64_t major_faults, child_major_faults;
	uint64_t user_ticks, child_user_ticks;
	uint64_t system_ticks, child_system_ticks;
	uint64_t start_ticks; /* since the boot: with the pid it names one task */
};

/* The children's are those that have ended and been waited for. */
bool zm_taskstat_parse(const char *stat, struct zm_taskstat *ret_taskstat);

struct zm_taskswitches {
	uint64_t voluntary;
	uint64_t involuntary;
};

bool zm_taskswitches_parse(const char *status, struct zm_taskswitches *ret_switches);

#endif
