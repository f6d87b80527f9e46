/*
 * submit: a campaign's arrays, to Slurm.
 *
 * All or nothing: when sbatch refuses one, those that it took before are cancelled. What was taken is said on
 * stderr, a line each.
 */
#ifndef ZM_RUNNER_FLEET_SUBMIT_H
#define ZM_RUNNER_FLEET_SUBMIT_H

#include <stdio.h>

#include "runner/fleet/campaign.h"
#include "runner/fleet/hostlist.h"
#include "runner/fleet/slurm.h"

/* Writes the campaign's folder first; when nothing is submitted, it goes again. */
int zm_fleet_submit(const struct zm_campaign *campaign, bool wants_reboot, struct zm_why *why);

/* The lines and the scripts, and nothing else. */
int zm_fleet_submit_print(const struct zm_campaign *campaign, bool wants_reboot, FILE *out,
			  struct zm_why *why);

/* The tasks without a result that are not under way; nodes: instead of their own, in turn; none: their own. */
int zm_fleet_submit_again(const struct zm_campaign *campaign, const struct zm_slurm_queue *queue,
			  const struct zm_hostlist *nodes, bool wants_reboot, struct zm_why *why);

#endif
