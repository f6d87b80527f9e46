/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pcp: what pcp.bpf.c counts and pcp.c reads: blocks of pages that went between a zone and the CPUs' page
 * lists, or past them, by order and migrate type; one struct per CPU.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_PCP_H
#define ZM_RUNNER_MONITORS_BPF_PCP_H

#include <linux/types.h>

#define PCP_ORDERS 16 /* powers of two, so that an index can be masked */
#define PCP_TYPES  8

enum pcp_way {
	PCP_REFILL, /* from the zone into a page list */
	PCP_DIRECT, /* from the zone to who asked for it */
	PCP_DRAIN,  /* from a page list back into the zone */
	PCP_NR_WAYS,
};

struct pcp_counts {
	__u64 blocks[PCP_NR_WAYS][PCP_ORDERS][PCP_TYPES];
};

#endif
