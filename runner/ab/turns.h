/*
 * turns: boots in turn, each measured once, until it is decided, the boots are used up or the time is.
 *
 *     guests   one process does all of it
 *     metal    each call goes on from the plan: it measures, or asks for the next kernel and reboots
 *
 * The plan on disk is always ahead of what happens, so this can be killed at any moment and called again.
 */
#ifndef ZM_RUNNER_AB_TURNS_H
#define ZM_RUNNER_AB_TURNS_H

#include "runner/ab/look.h"
#include "runner/ab/plan.h"

enum zm_ab_outcome {
	ZM_AB_ENDED,     /* plan->end says how */
	ZM_AB_REBOOTING, /* the machine is on its way down */
	ZM_AB_SIGNALLED, /* *ret_signal came; it can go on later */
};

/* 0, or -errno and the sentence; the plan can be taken up again. -ENOENT: nothing of it can run there. */
int zm_ab_turns(const char *path, struct zm_ab_plan *plan, enum zm_ab_outcome *ret_outcome,
		int *ret_signal, struct zm_why *why);

/* What the boots up to the last look say. -ENODATA: there was no look yet, or nothing can be compared. */
int zm_ab_turns_look(const struct zm_ab_plan *plan, struct zm_ab_look *ret_look,
		     struct zm_looks *ret_looks, struct zm_why *why);

#endif
