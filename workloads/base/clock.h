/*
 * clock: the monotonic clock in nanoseconds, and sleeping until a moment of it.
 *
 * Intervals are always CLOCK_MONOTONIC. The wall clock only names the day a run began.
 */
#ifndef ZM_WORKLOADS_BASE_CLOCK_H
#define ZM_WORKLOADS_BASE_CLOCK_H

#include <stdint.h>

#define ZM_NS_PER_S  UINT64_C(1000000000)
#define ZM_NS_PER_MS UINT64_C(1000000)
#define ZM_NS_PER_US UINT64_C(1000)

/* CLOCK_MONOTONIC now. */
uint64_t zm_clock_now_ns(void);

/* CLOCK_REALTIME now, nanoseconds since the epoch; for records only, never for an interval. */
uint64_t zm_clock_wall_ns(void);

/* Sleeps until the monotonic moment. 0, or -EINTR when a signal came first. */
int zm_clock_sleep_until(uint64_t when_ns);

#endif
