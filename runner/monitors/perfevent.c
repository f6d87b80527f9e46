/* perfevent: two tables, and a multiplication. */
#include "runner/monitors/perfevent.h"

#include <linux/perf_event.h>

#define CACHE(cache, op, result)                                                                   \
	PERF_TYPE_HW_CACHE, (uint64_t)PERF_COUNT_HW_CACHE_##cache |                                \
				    (uint64_t)PERF_COUNT_HW_CACHE_OP_##op << 8 |                   \
				    (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16
#define SOFTWARE(event) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event
#define HARDWARE(event) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event

const struct zm_perfevent_row zm_perfevents[ZM_PERFEVENT_NR] = {
	[ZM_PERFEVENT_CPU_CLOCK] = { "cpu-clock", SOFTWARE(CPU_CLOCK) },
	[ZM_PERFEVENT_CONTEXT_SWITCHES] = { "context-switches", SOFTWARE(CONTEXT_SWITCHES) },
	[ZM_PERFEVENT_CPU_MIGRATIONS] = { "cpu-migrations", SOFTWARE(CPU_MIGRATIONS) },
	[ZM_PERFEVENT_PAGE_FAULTS] = { "page-faults", SOFTWARE(PAGE_FAULTS) },
	[ZM_PERFEVENT_MINOR_FAULTS] = { "minor-faults", SOFTWARE(PAGE_FAULTS_MIN) },
	[ZM_PERFEVENT_MAJOR_FAULTS] = { "major-faults", SOFTWARE(PAGE_FAULTS_MAJ) },
	[ZM_PERFEVENT_CYCLES] = { "cpu-cycles", HARDWARE(CPU_CYCLES) },
	[ZM_PERFEVENT_INSTRUCTIONS] = { "instructions", HARDWARE(INSTRUCTIONS) },
	[ZM_PERFEVENT_CACHE_REFERENCES] = { "cache-references", HARDWARE(CACHE_REFERENCES) },
	[ZM_PERFEVENT_CACHE_MISSES] = { "cache-misses", HARDWARE(CACHE_MISSES) },
	[ZM_PERFEVENT_BRANCHES] = { "branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS) },
	[ZM_PERFEVENT_BRANCH_MISSES] = { "branch-misses", HARDWARE(BRANCH_MISSES) },
	[ZM_PERFEVENT_DTLB_LOADS] = { "dTLB-loads", CACHE(DTLB, READ, ACCESS) },
	[ZM_PERFEVENT_DTLB_LOAD_MISSES] = { "dTLB-load-misses", CACHE(DTLB, READ, MISS) },
	[ZM_PERFEVENT_DTLB_STORES] = { "dTLB-stores", CACHE(DTLB, WRITE, ACCESS) },
	[ZM_PERFEVENT_DTLB_STORE_MISSES] = { "dTLB-store-misses", CACHE(DTLB, WRITE, MISS) },
	[ZM_PERFEVENT_ITLB_LOADS] = { "iTLB-loads", CACHE(ITLB, READ, ACCESS) },
	[ZM_PERFEVENT_ITLB_LOAD_MISSES] = { "iTLB-load-misses", CACHE(ITLB, READ, MISS) },
	[ZM_PERFEVENT_NODE_LOADS] = { "node-loads", CACHE(NODE, READ, ACCESS) },
	[ZM_PERFEVENT_NODE_LOAD_MISSES] = { "node-load-misses", CACHE(NODE, READ, MISS) },
	[ZM_PERFEVENT_NODE_STORES] = { "node-stores", CACHE(NODE, WRITE, ACCESS) },
	[ZM_PERFEVENT_NODE_STORE_MISSES] = { "node-store-misses", CACHE(NODE, WRITE, MISS) },
};

#define RATIO(name, unit, over, under, factor)                                                     \
	{                                                                                          \
		name, unit, ZM_PERFEVENT_##over, ZM_PERFEVENT_##under, factor                      \
	}

const struct zm_perfratio zm_perfratios[ZM_PERFRATIO_NR] = {
	RATIO("ipc", "instructions", INSTRUCTIONS, CYCLES, 1),
	RATIO("cpi", "cycles", CYCLES, INSTRUCTIONS, 1),
	RATIO("cache-miss-rate%", "%", CACHE_MISSES, CACHE_REFERENCES, 100),
	RATIO("MPKI", "misses", CACHE_MISSES, INSTRUCTIONS, 1000),
	RATIO("cycles-between-cache-misses", "cycles", CYCLES, CACHE_MISSES, 1),
	RATIO("branch-miss-rate%", "%", BRANCH_MISSES, BRANCHES, 100),
	RATIO("dTLB-load-miss-rate%", "%", DTLB_LOAD_MISSES, DTLB_LOADS, 100),
	RATIO("dTLB-store-miss-rate%", "%", DTLB_STORE_MISSES, DTLB_STORES, 100),
	RATIO("iTLB-load-miss-rate%", "%", ITLB_LOAD_MISSES, ITLB_LOADS, 100),
	RATIO("instructions-per-iTLB-miss", "instructions", INSTRUCTIONS, ITLB_LOAD_MISSES, 1),
	RATIO("node-load-miss-rate%", "%", NODE_LOAD_MISSES, NODE_LOADS, 100),
	RATIO("node-store-miss-rate%", "%", NODE_STORE_MISSES, NODE_STORES, 100),
};

double zm_perfcount_rise(const struct zm_perfcount *before, const struct zm_perfcount *now,
			 bool *ret_has_run)
{
	double value = (double)(now->value - before->value);
	double enabled = (double)(now->enabled_ns - before->enabled_ns);
	double running = (double)(now->running_ns - before->running_ns);

	*ret_has_run = running > 0;
	if (running <= 0)
		return 0;
	return enabled > running ? value * enabled / running : value;
}
