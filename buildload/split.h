/*
 * split: how much of each process's CPU time was the system's, where a kernel only samples that.
 *
 * How long a process ran is known to the nanosecond. Most kernels find out by their tick whether it was
 * in user space or in the kernel: a process that is shorter than a tick was seen once or, mostly, never,
 * and what was never seen in the kernel is booked as user time. A thousand shells of 0.8 ms each, 0.6 of
 * them the kernel's, are booked with 0.1 ms of system time on average, with a tick of 4 ms.
 *
 * Right on average is how often a tick found the kernel: a process that has any system time was found
 * there at least once. So the processes of a program, in the order of their CPU time, are put together
 * until they have had enough ticks, and have one share of system time:
 *
 *     ticks that found the kernel * length of a tick / CPU time
 */
#ifndef ZM_BUILDLOAD_SPLIT_H
#define ZM_BUILDLOAD_SPLIT_H

#include <stdint.h>

#include "buildload/trace.h"

/* Of this kernel. */
uint64_t zm_split_tick_ns(void);

/* Splits the CPU time of each process that has ended anew; its sum stays. Where most short processes
 * have both, the kernel counts by more than its tick, and all stays as it is. -ENOMEM. */
int zm_split_times(struct zm_trace *trace, uint64_t tick_ns);

#endif
