/*
 * taskexit: every task that ends on this machine, with what the kernel has accounted for it.
 *
 * From taskstats (generic netlink, CONFIG_TASKSTATS, root in the first user namespace): one message per
 * ended thread. What is not fetched in time is lost, and said to be.
 */
#ifndef ZM_RUNNER_MONITORS_TASKEXIT_H
#define ZM_RUNNER_MONITORS_TASKEXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

struct zm_taskexit {
	char comm[32];
	uint32_t tid, tgid;
	uint64_t faults; /* minor and major */
	uint64_t user_us, system_us;
	uint64_t peak_rss_kb; /* of its address space so far */
	uint64_t switches;    /* voluntary and not */
};

struct zm_taskexits {
	int fd;           /* -1: not open */
	uint16_t family;  /* taskstats' number on this machine */
	uint64_t nr_lost; /* times that messages were lost */
	unsigned char *buffer;
};

/* -ENOTSUP, -EPERM: the sentence says what is missing. zm_taskexits_close accepts a zeroed one whose fd
 * is -1. */
int zm_taskexits_open(struct zm_taskexits *exits, const struct zm_sysroot *root,
		      struct zm_why *why);
void zm_taskexits_close(struct zm_taskexits *exits);

/* All that have come so far; never blocks. */
int zm_taskexits_fetch(struct zm_taskexits *exits,
		       void (*each)(void *context, const struct zm_taskexit *task), void *context);

/* The messages of one packet of that family; what is cut or foreign is passed over. */
void zm_taskexits_parse(const void *packet, size_t length, uint16_t family,
			void (*each)(void *context, const struct zm_taskexit *task), void *context);

#endif
