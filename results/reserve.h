/*
 * reserve: some room on the store's disk that is set aside while a run is under way, so that its end
 * can still be written when the disk has become full.
 *
 * It is a file without a name: it goes with the process, however that ends.
 */
#ifndef ZM_RESULTS_RESERVE_H
#define ZM_RESULTS_RESERVE_H

#include <stddef.h>

#include "workloads/base/why.h"

/* In the folder of `path`. *ret_fd is -1 where the file system cannot do this. -ENOSPC: there is no
 * such room. */
int zm_reserve_take(const char *path, size_t bytes, int *ret_fd, struct zm_why *why);

/* Gives the room back. -1 is fine. */
void zm_reserve_release(int *fd);

#endif
