/*
 * activity: what else goes on on this machine, seen over a moment.
 */
#ifndef ZM_RUNNER_ACTIVITY_H
#define ZM_RUNNER_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/cpuset.h"
#include "workloads/base/sysroot.h"

struct zm_activity {
	double busy_share;  /* others' share of the CPUs' time, 0…1 */
	double steal_share; /* the hypervisor's */
	long busiest_pid;   /* 0: none was found; short-lived processes are not */
	char busiest_name[32];
	double busiest_share;   /* of one CPU */
	bool is_busiest_kernel; /* a thread of the kernel: nobody can end it */
	uint64_t managed_pages; /* that the allocator has, in all zones; 0: not known */
	int64_t managed_change; /* in that moment */
	bool has_kdamond;
	bool has_deferred_init; /* threads of deferred memory initialisation run */
};

/* Looks for wait_ns at the given CPUs of this machine; a recorded one has no activity (-ENOTSUP). */
int zm_activity_read(const struct zm_sysroot *root, const struct zm_cpuset *cpus, uint64_t wait_ns,
		     struct zm_activity *ret_activity);

#endif
