/*
 * bare: the bare loop: mmap, one zero byte in each page, munmap. Two lines, and nothing that counts.
 */
#ifndef ZM_BENCH_BARE_H
#define ZM_BENCH_BARE_H

#include <stdint.h>

struct zm_bare {
	uint64_t size;
	uint64_t page_bytes;
	int flags; /* of mmap */
	int fd;
};

/* 0 or -errno. Never inlined, so that a profiler can tell it. */
int zm_bare_rounds(const struct zm_bare *bare, uint64_t nr_rounds);

#endif
