/*
 * guest: the memory of a virtual machine, as a VMM makes it and gives it back.
 *
 *     make   memfd or anonymous, hugetlb or advised for transparent huge pages; mmap
 *     touch  one byte in each page, by several threads at once, each its own slice; or by the guest's
 *            one CPU, page after page
 *     end    munmap, close
 */
#ifndef ZM_FAULTLOAD_GUEST_H
#define ZM_FAULTLOAD_GUEST_H

#include <stdint.h>

#include "workloads/worker.h"

enum zm_guest_backing {
	ZM_GUEST_HUGETLB,       /* anonymous, private, hugetlb pages of page_bytes */
	ZM_GUEST_MEMFD_HUGETLB, /* the same in a memfd, shared */
	ZM_GUEST_THP,           /* anonymous, private, MADV_HUGEPAGE */
	ZM_GUEST_MEMFD,         /* a memfd of base pages (or as shmem_enabled says), shared */
};

extern const char *const zm_guest_backings[]; /* NULL-terminated, in the enum's order */

struct zm_guest {
	enum zm_guest_backing backing;
	uint64_t bytes;
	uint64_t page_bytes; /* from one touched byte to the next */
	char *base;          /* NULL: not mapped */
	int fd;              /* -1: none */
};

int zm_guest_make(struct zm_guest *guest, struct zm_why *why);

/* By nr_threads at once, or by the caller when it is 0. Ends early when the run is stopped: *ret_pages
 * says how many pages were touched. */
int zm_guest_touch(const struct zm_guest *guest, const struct zm_task *task,
		   unsigned int nr_threads, uint64_t *ret_pages, struct zm_why *why);

/* Also of one that was half made. */
void zm_guest_end(struct zm_guest *guest);

#endif
