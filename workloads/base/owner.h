/*
 * owner: who a file left on disk belongs to, so that a later process can tell whether it still lives.
 *
 * A pid alone is not enough: it comes again, after a reboot and before. The boot id, the pid
 * namespace and the start time with it name one process for good.
 */
#ifndef ZM_WORKLOADS_BASE_OWNER_H
#define ZM_WORKLOADS_BASE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/why.h"

#define ZM_BOOT_ID_SIZE 40

struct zm_owner {
	uint64_t pid;
	uint64_t start_ticks; /* since boot: field 22 of /proc/PID/stat */
	uint64_t pid_ns;      /* the inode of its pid namespace */
	char boot_id[ZM_BOOT_ID_SIZE];
};

/* This process. -errno when /proc does not say. */
int zm_owner_self(struct zm_owner *ret_owner, struct zm_why *why);

bool zm_owner_is_equal(const struct zm_owner *a, const struct zm_owner *b);

/* Does that process run now? A zombie does not. In another pid namespace it cannot be seen: false. */
bool zm_owner_is_alive(const struct zm_owner *owner);

/* Has it ended for certain? A process of another pid namespace (a container with the same files)
 * cannot be asked about: false. */
bool zm_owner_is_dead(const struct zm_owner *owner);

/* Is it of the boot that runs now? */
bool zm_owner_is_of_this_boot(const struct zm_owner *owner);

#endif
