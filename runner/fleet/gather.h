/*
 * gather: the results of a campaign's tasks, taken into one store.
 *
 * Each task's store is taken as it is, by its runs' UUIDs: gathering twice changes nothing.
 */
#ifndef ZM_RUNNER_FLEET_GATHER_H
#define ZM_RUNNER_FLEET_GATHER_H

#include "results/import.h"
#include "runner/fleet/campaign.h"

/* Called for each run that failed or could not run: its title, why, and how it ended. */
typedef void zm_gather_each(void *context, const char *task, const char *status,
			    const char *workload, const char *reason);

/* One task's, added to *sum. -ENOENT: it has none. Whatever is wrong with its store is in the sentence. */
int zm_gather_task(const struct zm_campaign *campaign, size_t array, size_t task,
		   struct zm_store *into, struct zm_import *sum, zm_gather_each *each,
		   void *context, struct zm_why *why);

#endif
