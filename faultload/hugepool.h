/*
 * hugepool: hugetlb pages, by what the kernel says: which sizes there are, how many of each, and
 * making more.
 *
 *     pool      nr_hugepages             pages that are there whether somebody uses them or not
 *     surplus   nr_overcommit_hugepages  pages that are made when they are used, and given back after
 *
 * The numbers of the default size are sysctls too (proc/sys/vm/…), which is what zm_hugepool_save
 * names for the journal.
 */
#ifndef ZM_FAULTLOAD_HUGEPOOL_H
#define ZM_FAULTLOAD_HUGEPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

enum zm_hugepool_kind {
	ZM_HUGEPOOL_SURPLUS,
	ZM_HUGEPOOL_POOL,
};

extern const char *const zm_hugepool_kinds[]; /* NULL-terminated, in the enum's order */
extern const char *const zm_hugepool_save[];  /* what zm_hugepool_add may write */

/* The default size in bytes; 0: this kernel has no huge pages. */
uint64_t zm_hugepool_default_bytes(const struct zm_sysroot *root);

/* -ENOTSUP and the sentence when there is no default size. */
int zm_hugepool_check(const struct zm_sysroot *root, struct zm_why *why);

/* A field of /proc/meminfo in bytes ("MemAvailable"); 0 when it is not there. */
uint64_t zm_hugepool_meminfo(const struct zm_sysroot *root, const char *field);

/* The file with the number of pages of a size, of all nodes (node -1) or of one. Returns buf. */
char *zm_hugepool_path(char *buf, size_t size, uint64_t page_bytes, int node);

/* Lets nr_pages more of the default size be used than the machine lets now; -ENOMEM when the kernel
 * made fewer, and the sentence says how many. */
int zm_hugepool_add(const struct zm_sysroot *root, enum zm_hugepool_kind kind, uint64_t nr_pages,
		    struct zm_why *why);

/* The same of any size, through its numbers in sysfs, which the caller has journalled. Sizes that the kernel does
 * not make when they are used (1 GiB) have no surplus: the sentence says so. */
int zm_hugepool_add_of(const struct zm_sysroot *root, uint64_t page_bytes,
		       enum zm_hugepool_kind kind, uint64_t nr_pages, struct zm_why *why);

/* -ENOTSUP and the sentence when the kernel has no pages of that size. */
int zm_hugepool_check_size(const struct zm_sysroot *root, uint64_t page_bytes, struct zm_why *why);

#endif
