/*
 * pulse: how a run waits. While it does, everything periodic happens: monitors and counters are read
 * at their intervals, readings are flushed, the progress line is drawn, the launcher and signals are
 * heard, stalled tasks are found.
 */
#ifndef ZM_RUNNER_PULSE_H
#define ZM_RUNNER_PULSE_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/course.h"

/*
 * Waits until is_over says so (asked after every event; may be NULL) or the moment has come.
 *
 *     0            it is over; or, without is_over, the moment has come
 *     -ETIMEDOUT   the moment came first
 *     -EINTR       a signal came: outcome->signal
 *     -ECHILD      the run has failed: the arena's failure record says how
 *     -EIO         the store has failed: outcome->store_error
 */
int zm_pulse_wait(struct zm_course *course, uint64_t until_ns, bool (*is_over)(struct zm_course *));

/* Waits for the launcher to say `word`, deaf to everything else but a further signal (-EINTR): for the
 * end of a run that has gone wrong. -ETIMEDOUT; -ECHILD when the launcher is dead. */
int zm_pulse_wind_down(struct zm_course *course, enum zm_word word, uint64_t until_ns);

/* All periodic readings have just been done: the next ones are due an interval later. */
void zm_pulse_restart(struct zm_course *course, uint64_t now_ns);

#endif
