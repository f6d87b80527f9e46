/*
 * oom: was it the kernel's OOM killer that ended a task?
 *
 * A SIGKILL has no sender's name. The kernel counts its OOM kills, for the machine and for a memory
 * cgroup: a SIGKILL while a count rose is taken for one.
 */
#ifndef ZM_RUNNER_OOM_H
#define ZM_RUNNER_OOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"

struct zm_oom {
	uint64_t machine_kills; /* UINT64_MAX: the kernel does not count */
	uint64_t cgroup_kills;
};

void zm_oom_read(const struct zm_sysroot *root, struct zm_oom *ret_oom);

/* Has it struck since? Then buf says where and what to do: "killed for memory: …". */
bool zm_oom_has_struck(const struct zm_sysroot *root, const struct zm_oom *since, char *buf,
		       size_t size);

#endif
