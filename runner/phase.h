/*
 * phase: one launch of one cell, from check to restore: the one state machine.
 *
 *     check -> journal -> PREPARE -> IDLE -> SETUP -> WARMUP -> MEASURE -> STOP -> DRAIN -> CLEANUP
 *           -> restore -> figures
 *
 * A phase is a function that waits (pulse.h) until it is over. At every border all counters and all
 * monitors are read at one moment. Whatever goes wrong, in whatever phase, goes one way: the tasks are
 * stopped, the launcher cleans up or is killed, the machine is restored, the run is closed with its
 * reason and without figures.
 */
#ifndef ZM_RUNNER_PHASE_H
#define ZM_RUNNER_PHASE_H

#include "runner/session.h"

/* Always fills in the outcome (release its report). */
void zm_phase_run(struct zm_session *session, const struct zm_cell *cell, unsigned int repeat,
		  struct zm_outcome *ret_outcome);
void zm_outcome_release(struct zm_outcome *outcome);

#endif
