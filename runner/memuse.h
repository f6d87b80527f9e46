/*
 * memuse: the used memory of a run on this machine, without what only waits in the CPUs' page lists.
 *
 *     meminfo.Memused - pcp.count.* (all CPUs and zones)  -->  before the builds, mean and peak of them
 *
 * MemFree does not count the free pages of those lists, so they stand as used. How full they are is the
 * doing of whoever ran before: on a kernel that tunes them (since 6.7) a baseline behind one that freed
 * much has 100 MiB in them, and one behind files that were made has 40, on 2 CPUs.
 */
#ifndef ZM_RUNNER_MEMUSE_H
#define ZM_RUNNER_MEMUSE_H

#include <stdint.h>

#include "results/query.h"
#include "results/store.h"
#include "workloads/base/why.h"

/* In kB; NaN: the run has no readings of it. */
struct zm_memuse {
	double idle; /* mean of the idle phase */
	double mean; /* of the window */
	double peak; /* among the readings of the lists, which are rarer than those of used memory */
};

/* A run without readings of the lists is taken as it is. -errno of the store. */
int zm_memuse_read(struct zm_store *store, uint64_t run, const struct zm_phase_row *idle,
		   const struct zm_phase_row *window, struct zm_memuse *ret_memuse,
		   struct zm_why *why);

#endif
