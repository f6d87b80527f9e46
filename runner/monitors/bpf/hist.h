/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hist: how many buckets a program's histogram has: those of workloads/base/hist.h, up to a power of two.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_HIST_H
#define ZM_RUNNER_MONITORS_BPF_HIST_H

#define HIST_SUB_BITS       6
#define HIST_BUCKETS(power) (((power)-HIST_SUB_BITS + 1) << HIST_SUB_BITS)

#endif
