/*
 * stat: /proc/stat, by its lines' names.
 *
 *     cpu  2127 0 3031 176416 1160 0 79 11 0 0     all CPUs, then one line per CPU that is online
 *     cpu0 637 0 1045 89628 82 0 7 4 0 0
 *     intr 219788 0 0 …                             the sum first
 *     ctxt 452160
 *     procs_running 6
 *
 * Times are in ticks of USER_HZ. Older kernels have fewer columns.
 */
#ifndef ZM_RUNNER_MONITORS_STAT_H
#define ZM_RUNNER_MONITORS_STAT_H

#include <stdbool.h>
#include <stdint.h>

enum zm_stat_time {
	ZM_STAT_USER, /* with guest */
	ZM_STAT_NICE, /* with guest_nice */
	ZM_STAT_SYSTEM,
	ZM_STAT_IDLE,
	ZM_STAT_IOWAIT,
	ZM_STAT_IRQ,
	ZM_STAT_SOFTIRQ,
	ZM_STAT_STEAL,
	ZM_STAT_GUEST,
	ZM_STAT_GUEST_NICE,
	ZM_STAT_NR_TIMES,
};

struct zm_stat_cpu {
	int cpu; /* -1: the line of all CPUs */
	unsigned int nr_times;
	uint64_t ticks[ZM_STAT_NR_TIMES];
};

/* The next CPU's line; *text moves behind it. false: no more of them. */
bool zm_stat_next_cpu(const char **text, struct zm_stat_cpu *ret_cpu);

/* Nanoseconds of one tick of USER_HZ, and of many (saturating). */
uint64_t zm_stat_tick_ns(void);
uint64_t zm_stat_ns(uint64_t ticks, uint64_t tick_ns);

#endif
