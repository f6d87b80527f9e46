/*
 * lock: two measuring runs at once on one machine spoil each other, so the second is refused.
 *
 * An flock on a file in /run/lock (or /tmp): it goes with its holder, however that ends.
 */
#ifndef ZM_RUNNER_LOCK_H
#define ZM_RUNNER_LOCK_H

#include "workloads/base/why.h"

/* 0 and a descriptor to close (close-on-exec; a forked child closes it too); -EBUSY, and the sentence
 * names the holder's pid and command and --share. */
int zm_lock_take(int *ret_fd, struct zm_why *why);

/* The same on a file of another name. */
int zm_lock_take_at(const char *path, int *ret_fd, struct zm_why *why);

#endif
