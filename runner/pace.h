/*
 * pace: throughput interval by interval: how fast now, is it steady, how much does it vary.
 */
#ifndef ZM_RUNNER_PACE_H
#define ZM_RUNNER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define ZM_PACE_LAST 4

struct zm_pace {
	uint64_t least_ns;          /* shorter intervals are not counted */
	uint64_t t_ns, ops;         /* the last reading */
	double rates[ZM_PACE_LAST]; /* of the last intervals, per second: a ring */
	double counts[ZM_PACE_LAST];
	unsigned int nr;
	double now;           /* the last interval's rate, of the one before a new start too */
	double mean, squares; /* of all rates since the start */
};

/* From this reading on; earlier intervals are forgotten. */
void zm_pace_start(struct zm_pace *pace, uint64_t interval_ns, uint64_t t_ns, uint64_t ops);
void zm_pace_add(struct zm_pace *pace, uint64_t t_ns, uint64_t ops);

/* Operations per second in the last interval, which may lie before the start; 0 before the first. */
double zm_pace_now(const struct zm_pace *pace);

/* Could it be judged, and is it so: do the last ZM_PACE_LAST intervals show no drift (their halves
 * within 5 %, or within what so few operations can show) and no jump (all within 20 %)? */
bool zm_pace_can_judge(const struct zm_pace *pace);
bool zm_pace_is_steady(const struct zm_pace *pace);

/* Standard deviation of the intervals' rates in percent of their mean; negative with fewer than two. */
double zm_pace_spread(const struct zm_pace *pace);

#endif
