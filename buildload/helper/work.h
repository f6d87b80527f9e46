/*
 * work: CPU time in user space, spent as a program spends it: over more code than an instruction cache holds, with
 * branches that nobody foresees, and loads all over a piece of data. What the kernel does after it then
 * costs what it costs after a real program.
 */
#ifndef ZM_BUILDLOAD_HELPER_WORK_H
#define ZM_BUILDLOAD_HELPER_WORK_H

#include <stdint.h>

/* The code that all of it goes over; a process that works less goes over less. */
#define ZM_WORK_BLOCKS 1024

/* So many units, each about a microsecond; on from *random, over the first `blocks` of the code and the
 * `bytes` (above 0, below 2^32) at base. */
void zm_work(uint64_t units, uint32_t blocks, const volatile char *base, uint64_t bytes,
	     uint64_t *random);

#endif
