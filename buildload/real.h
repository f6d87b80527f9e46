/*
 * real: what a user chooses for real builds, and what they will need.
 */
#ifndef ZM_BUILDLOAD_REAL_H
#define ZM_BUILDLOAD_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "buildload/cgroup.h"
#include "workloads/workload.h"

struct zm_real_options {
	uint64_t nr_instances;
	struct zm_amount jobs;
	uint64_t iterations;
	uint64_t build_bytes, job_bytes;
	char *source, *config, *target, *dir;
	struct zm_cgroup_limits limits;
};

extern const struct zm_option zm_real_options[];

/* Do they fit each other, and this machine's files? -EINVAL. */
int zm_real_check(const struct zm_real_options *chosen, struct zm_why *why);

/* Is there anything to configure? */
bool zm_real_has_config(const struct zm_real_options *chosen);

/* Memory of all jobs at once, and the disk of the build trees. */
void zm_real_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);

#endif
