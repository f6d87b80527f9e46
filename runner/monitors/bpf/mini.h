/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * mini: the little that the BPF programs know of the kernel's types.
 *
 * Only the members that are used, in any order: where they really are is found in the running kernel's
 * type information when a program is loaded (CO-RE).
 */
#ifndef ZM_RUNNER_MONITORS_BPF_MINI_H
#define ZM_RUNNER_MONITORS_BPF_MINI_H

#include <linux/types.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct pglist_data;

struct spinlock {
	int any;
} KERNEL_TYPE;

struct zone {
	struct pglist_data *zone_pgdat;
	unsigned long flags;
	struct spinlock lock;
} KERNEL_TYPE;

struct pglist_data {
	struct zone node_zones[1];
	int node_id;
} KERNEL_TYPE;

struct per_cpu_pages {
	int count;
	int high;
	int high_min; /* since 6.7 */
	int batch;
} KERNEL_TYPE;

struct task_struct {
	int pid;
	int tgid;
} KERNEL_TYPE;

#endif
