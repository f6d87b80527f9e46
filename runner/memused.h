/*
 * memused: used memory, MemTotal - MemFree of one read of /proc/meminfo.
 *
 * Both from the same file and moment: MemTotal itself changes while deferred memory comes up.
 */
#ifndef ZM_RUNNER_MEMUSED_H
#define ZM_RUNNER_MEMUSED_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"

#define ZM_MEMUSED_LAST 16

struct zm_memused {
	struct zm_sysfile file;
	bool is_open;
	uint64_t used_bytes;            /* by the last read */
	uint64_t peak_bytes;            /* of all reads */
	uint64_t last[ZM_MEMUSED_LAST]; /* the last reads, a ring */
	uint64_t nr_reads;
};

int zm_memused_open(struct zm_memused *memused, const struct zm_sysroot *root);
int zm_memused_read(struct zm_memused *memused);
void zm_memused_release(struct zm_memused *memused);

/* Have the last `nr` (at most ZM_MEMUSED_LAST) reads stayed within so many bytes of each other? */
bool zm_memused_is_settled(const struct zm_memused *memused, unsigned int nr,
			   uint64_t within_bytes);

/* Forgets the last reads, so that only later ones are settled or not. */
void zm_memused_restart(struct zm_memused *memused);

#endif
