/*
 * stall: has a task stopped working?
 *
 * Silence alone does not say so: on a crowded machine a task may wait for its turn. One that would
 * like to run and gets no CPU is starved; one that waits, is stopped, or runs without counting has
 * stalled. Of the two ends of a stream one may wait for the other: both must have.
 */
#ifndef ZM_RUNNER_STALL_H
#define ZM_RUNNER_STALL_H

#include "runner/course.h"

/* Any time while the gate is open: silent for longer than the workload and the run allow? -ECHILD, and
 * the failure record says which task. */
int zm_stall_find(struct zm_course *course);

/* After the window: silent in all of it, or stopped? As above; tasks that were starved become a note. */
int zm_stall_find_in_window(struct zm_course *course);

#endif
