/*
 * limits: what the cgroups leave this process, in any hierarchy.
 */
#ifndef ZM_RUNNER_LIMITS_H
#define ZM_RUNNER_LIMITS_H

#include <stdint.h>

#include "workloads/base/sysroot.h"

struct zm_limits {
	const char *mode;      /* "v1", "v2", "hybrid", "none"; "" when not known */
	uint64_t memory_bytes; /* the tightest of the cgroup and its ancestors; UINT64_MAX: none */
	uint64_t memory_high_bytes; /* from here on its tasks are slowed; UINT64_MAX: none */
	double cpu_quota;           /* in CPUs; infinite: none */
	char cpuset[1024];          /* a list; "" when no cpuset controller says */
};

void zm_limits_read(const struct zm_sysroot *root, struct zm_limits *ret_limits);

#endif
