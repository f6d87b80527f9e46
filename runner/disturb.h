/*
 * disturb: what else had the CPUs while the tasks ran: the hypervisor (steal), other processes, and a
 * cgroup's quota.
 *
 * Two samples and their difference. Busy time is what /proc/stat says of the CPUs that the tasks use,
 * without interrupts; what neither the tasks (with what they start, kin.h) nor the runner
 * account for is others'. Kernel threads count as others.
 */
#ifndef ZM_RUNNER_DISTURB_H
#define ZM_RUNNER_DISTURB_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/tasktime.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/sysroot.h"

struct zm_disturb_sample {
	bool has_cpu;
	uint64_t busy_ns; /* user, nice, system of the CPUs used */
	uint64_t steal_ns;
	uint64_t total_ns; /* all that was accounted, idle too */
	uint64_t self_ns;  /* the runner's own CPU time */
	bool has_throttle;
	uint64_t throttled_ns;
};

/* In percent; negative where it is not known. */
struct zm_disturb {
	double steal, others, throttled;
};

void zm_disturb_read(const struct zm_sysroot *root, const struct zm_cpuset *used,
		     struct zm_disturb_sample *ret_sample);

/* tasks: the tasks' CPU time between the two samples, NULL when not known. */
void zm_disturb_between(const struct zm_disturb_sample *from, const struct zm_disturb_sample *to,
			const struct zm_tasktime *tasks, uint64_t interval_ns,
			struct zm_disturb *ret_disturb);

/* Does it pass the mark above which a run is called disturbed? Then buf says what was seen. */
bool zm_disturb_is_much(const struct zm_disturb *disturb, char *buf, size_t size);

#endif
