/*
 * window: what one figure did in the measured window, in a few words of memory.
 *
 * Fed with every reading and its phase, it keeps the first and the last value of the window, the
 * largest, and the mean over time. The first is the reading at the border where measuring begins, the
 * last the one at the border where it ends.
 */
#ifndef ZM_RUNNER_MONITORS_WINDOW_H
#define ZM_RUNNER_MONITORS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/monitor.h"
#include "workloads/sample.h"

/* A zeroed struct has seen nothing. */
struct zm_window_figure {
	uint64_t t0_ns, t1_ns; /* of the first and the last reading */
	double first, last;
	double max;
	double area; /* value times ns, by trapezoids */
	bool has_begun;
	bool has_ended;
};

void zm_window_feed(struct zm_window_figure *figure, enum zm_phase phase, uint64_t t_ns,
		    double value);

/* Were there readings at both ends of [t0, t1], within a fiftieth of its width? What is derived from
 * less would be of another window. */
bool zm_window_is_whole(const struct zm_window_figure *figure, uint64_t t0_ns, uint64_t t1_ns);

double zm_window_mean(const struct zm_window_figure *figure);

/* Last minus first; false when the count went backwards. */
bool zm_window_delta(const struct zm_window_figure *figure, double *ret_delta);

/* Records that the monitor's derived figures are absent because a border's reading failed. */
int zm_window_say_absent(struct zm_monitor_context *context);

#endif
