/*
 * perfevent: the events that perf-stat counts, their names in the robot's tables, and the ratios of them.
 */
#ifndef ZM_RUNNER_MONITORS_PERFEVENT_H
#define ZM_RUNNER_MONITORS_PERFEVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zm_perfevent {
	ZM_PERFEVENT_CPU_CLOCK,
	ZM_PERFEVENT_CONTEXT_SWITCHES,
	ZM_PERFEVENT_CPU_MIGRATIONS,
	ZM_PERFEVENT_PAGE_FAULTS,
	ZM_PERFEVENT_MINOR_FAULTS,
	ZM_PERFEVENT_MAJOR_FAULTS,
	ZM_PERFEVENT_CYCLES, /* the first of the hardware's */
	ZM_PERFEVENT_INSTRUCTIONS,
	ZM_PERFEVENT_CACHE_REFERENCES,
	ZM_PERFEVENT_CACHE_MISSES,
	ZM_PERFEVENT_BRANCHES,
	ZM_PERFEVENT_BRANCH_MISSES,
	ZM_PERFEVENT_DTLB_LOADS,
	ZM_PERFEVENT_DTLB_LOAD_MISSES,
	ZM_PERFEVENT_DTLB_STORES,
	ZM_PERFEVENT_DTLB_STORE_MISSES,
	ZM_PERFEVENT_ITLB_LOADS,
	ZM_PERFEVENT_ITLB_LOAD_MISSES,
	ZM_PERFEVENT_NODE_LOADS,
	ZM_PERFEVENT_NODE_LOAD_MISSES,
	ZM_PERFEVENT_NODE_STORES,
	ZM_PERFEVENT_NODE_STORE_MISSES,
	ZM_PERFEVENT_NR,
};

struct zm_perfevent_row {
	const char *name;
	uint32_t type;
	uint64_t config;
};

extern const struct zm_perfevent_row zm_perfevents[ZM_PERFEVENT_NR];

static inline bool zm_perfevent_is_hardware(enum zm_perfevent event)
{
	return event >= ZM_PERFEVENT_CYCLES;
}

/* factor times over per under: "cache-miss-rate%" of misses and references. */
struct zm_perfratio {
	const char *name;
	const char *unit;
	enum zm_perfevent over, under;
	double factor;
};

#define ZM_PERFRATIO_NR 12
extern const struct zm_perfratio zm_perfratios[ZM_PERFRATIO_NR];

/* One event on one CPU, as its descriptor gives it. */
struct zm_perfcount {
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

/* A counter that shares the hardware with others runs part of the time. What it rose by, scaled by the
 * time that it was enabled over the time that it ran; 0 and *ret_has_run false when it did not. */
double zm_perfcount_rise(const struct zm_perfcount *before, const struct zm_perfcount *now,
			 bool *ret_has_run);

#endif
