/*
 * profile: call chains with their functions' names, as the robot's tables count them.
 *
 *     self        samples that were in the function itself
 *     children    samples that were in it or in anything that it called
 *     calltrace   samples that were in it or in anything that it called, when it had been called this
 *                 way: function.caller.caller…
 */
#ifndef ZM_RUNNER_MONITORS_PROFILE_H
#define ZM_RUNNER_MONITORS_PROFILE_H

#include <stdint.h>

#include "runner/monitors/chains.h"
#include "runner/monitors/ksyms.h"
#include "workloads/workload.h"

struct zm_profile_row {
	char name[200];
	uint64_t times;
};

struct zm_profile_table {
	struct zm_profile_row *rows; /* the most frequent first */
	uint32_t nr, capacity;
};

/* A zeroed struct is empty. */
struct zm_profile {
	struct zm_profile_table self, children, traces;
	uint64_t total;
	/* Of all samples, those that were getting a spin lock for the zone, or in its section when the
	 * interrupts came on again, by side (lockside.h): see perf_profile.c for which of them holds. */
	uint64_t slowpath, slowpath_alloc, slowpath_free;
	uint64_t section_alloc, section_free;
};

/* total: samples that the percentages are of. -ENOMEM. */
int zm_profile_count(struct zm_profile *profile, const struct zm_chains *chains,
		     const struct zm_ksyms *ksyms, uint64_t total);
void zm_profile_release(struct zm_profile *profile);

/* Rows from min_percent on, at most max of each table, as "perf-profile.self.EVENT.NAME"… */
int zm_profile_report(const struct zm_profile *profile, const char *event, double min_percent,
		      uint32_t max, uint64_t width_ns, struct zm_report *report);

#endif
