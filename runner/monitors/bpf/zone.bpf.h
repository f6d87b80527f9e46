/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * zone: is this lock a zone's?
 *
 * It is when it lies where a zone has its lock, and that zone is one of its node's zones. No symbol is
 * needed for that, and a lock of something else would have to lie in memory that looks so by chance.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_ZONE_BPF_H
#define ZM_RUNNER_MONITORS_BPF_ZONE_BPF_H

#include "runner/monitors/bpf/mini.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define MAX_ZONES 8 /* of a node */

static __always_inline int is_zone_lock(__u64 lock)
{
	__u64 zone = lock - bpf_core_field_offset(struct zone, lock);
	__u64 size = bpf_core_type_size(struct zone);
	struct pglist_data *node = NULL;
	__u64 first;

	if (bpf_probe_read_kernel(&node, sizeof(node),
				  (void *)(zone + bpf_core_field_offset(struct zone, zone_pgdat))))
		return 0;
	first = (__u64)node + bpf_core_field_offset(struct pglist_data, node_zones);
#pragma unroll
	for (int i = 0; i < MAX_ZONES; i++)
		if (zone == first + i * size)
			return 1;
	return 0;
}

#endif
