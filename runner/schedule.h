/*
 * schedule: in which order the cells of a plan are launched, and what fits into a time.
 *
 * Without a time: repeat by repeat, and in each cell by cell. With one the cells are ordered by how much
 * they tell (their rank: of each line of the matrix the outermost values first, then those between),
 * and of these so many are chosen as fit with three launches each, or all that are asked for; then come
 * the further launches of the chosen, then the other cells. Whoever runs it takes launches in this
 * order and passes over what no longer fits: so what was estimated too long leaves room for more.
 */
#ifndef ZM_RUNNER_SCHEDULE_H
#define ZM_RUNNER_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runner/plan.h"

#define ZM_SCHEDULE_LAUNCHES 3 /* of a cell, before another is taken for less */

struct zm_launch {
	size_t cell;
	unsigned int repeat;
};

struct zm_schedule {
	struct zm_launch *launches; /* all that are asked for */
	size_t nr_launches;
	size_t nr_fitting;    /* the first so many are expected to fit */
	uint64_t expected_ns; /* these together */
	uint64_t budget_ns;   /* 0: no limit */
};

/* -ENOMEM; -ETIME: not even one launch fits, and the sentence says what it takes. */
int zm_schedule_make(const struct zm_plan *plan, unsigned int nr_repeats, uint64_t budget_ns,
		     struct zm_schedule *ret_schedule, struct zm_why *why);
void zm_schedule_release(struct zm_schedule *schedule);

/* How long one launch takes, about. */
uint64_t zm_schedule_cost_ns(const struct zm_cell *cell);

/* "--hours: 12 of 40 cells fit, …; left out: …"; nothing without a limit, or when all fits. */
void zm_schedule_say(const struct zm_schedule *schedule, const struct zm_plan *plan,
		     unsigned int nr_repeats, FILE *out);

/* The place of value `index` of `nr` in the order outermost first: the last, the first, the middle… */
unsigned int zm_schedule_place(size_t index, size_t nr);

#endif
