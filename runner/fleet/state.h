/*
 * state: how far a campaign's task is: from its folder, and from what Slurm knows.
 *
 *     a result                      done, whatever else is there
 *     Slurm runs or keeps it        running, waiting
 *     its last attempt has ended    failed, with its status and the last words of its log
 *     it has begun, and not ended   lost: killed, or its machine gone (running, where Slurm is not asked)
 *     nothing                       absent: never begun, and nobody will
 */
#ifndef ZM_RUNNER_FLEET_STATE_H
#define ZM_RUNNER_FLEET_STATE_H

#include "runner/fleet/campaign.h"
#include "runner/fleet/slurm.h"

enum zm_fleet_state {
	ZM_FLEET_DONE,
	ZM_FLEET_RUNNING,
	ZM_FLEET_WAITING,
	ZM_FLEET_FAILED,
	ZM_FLEET_LOST,
	ZM_FLEET_ABSENT,
	ZM_FLEET_STATES,
};

extern const char *const zm_fleet_state_names[];

struct zm_fleet_look {
	enum zm_fleet_state state;
	char node[64];        /* where it is or was last; else where it belongs */
	struct zm_why reason; /* one line; "" when there is nothing to say */
};

/* queue NULL: Slurm was not asked. */
void zm_fleet_look(const struct zm_campaign *campaign, const struct zm_slurm_queue *queue,
		   size_t array, size_t task, struct zm_fleet_look *ret_look);

#endif
