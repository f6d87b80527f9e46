/*
 * owner: which process is behind a run that is under way, and whether it still lives.
 *
 * A pid alone is used again, so its start time and the boot stand beside it. A process of another pid
 * namespace (a container with the same store) cannot be asked about: it counts as alive.
 */
#ifndef ZM_RESULTS_OWNER_H
#define ZM_RESULTS_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct zm_owner {
	int64_t pid;
	int64_t start; /* clock ticks since the boot */
	int64_t space; /* the pid namespace's inode */
	char boot[40]; /* the boot's id; "" when it cannot be read */
};

/* This process. */
void zm_owner_self(struct zm_owner *ret_owner);

bool zm_owner_is_dead(const struct zm_owner *owner);

#endif
