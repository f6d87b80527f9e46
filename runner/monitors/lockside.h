/*
 * lockside: from whom a wait for a zone lock came, by its call chain.
 *
 *     bpf_prog_…  bpf_trace_run2  __pv_queued_spin_lock_slowpath  _raw_spin_lock_irqsave   passed over
 *     __rmqueue_pcplist | free_pcppages_bulk | …                                           who called
 *
 * The allocating side takes pages out of the zone (rmqueue and its like), the freeing side gives them back
 * (free_…, drain_…, decay_pcp_high); everything else is other: compaction, isolation, memory hotplug.
 */
#ifndef ZM_RUNNER_MONITORS_LOCKSIDE_H
#define ZM_RUNNER_MONITORS_LOCKSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/monitors/ksyms.h"
#include "workloads/workload.h"

#define ZM_LOCKSIDE_FRAMES 24

enum zm_lockside_side {
	ZM_LOCKSIDE_ALLOC,
	ZM_LOCKSIDE_FREE,
	ZM_LOCKSIDE_OTHER,
	ZM_LOCKSIDE_NR,
};

struct zm_lockside_chain {
	uint64_t frames[ZM_LOCKSIDE_FRAMES]; /* innermost first; 0 ends them */
	uint64_t times;
};

struct zm_lockside_trace {
	char name[256]; /* "lock function.caller.caller…" */
	uint64_t times;
};

/* A zeroed struct has judged nothing. */
struct zm_lockside {
	uint64_t times[ZM_LOCKSIDE_NR];
	uint64_t total;
	bool is_pv;                       /* the spin locks are paravirtual */
	struct zm_lockside_trace *traces; /* the most frequent first */
	unsigned int nr_traces;
};

/* The side of a function that called for the lock. */
enum zm_lockside_side zm_lockside_of(const char *function);

/* Is it a part of the lock itself, or of what watches it? */
bool zm_lockside_is_lock(const char *function);

int zm_lockside_judge(struct zm_lockside *lockside, const struct zm_ksyms *ksyms,
		      const struct zm_lockside_chain *chains, unsigned int nr_chains);
void zm_lockside_release(struct zm_lockside *lockside);

/* The most frequent chains as figures "PREFIX.A.B.C", in percent of all. */
int zm_lockside_report(const struct zm_lockside *lockside, const char *prefix, unsigned int max,
		       uint64_t width_ns, struct zm_report *report);

#endif
