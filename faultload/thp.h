/*
 * thp: the transparent huge pages that an anonymous mapping gets, by what the kernel says.
 *
 * A run asks for them in four ways. What each does is the least that brings it about:
 *
 *     default  nothing: the machine's setting decides
 *     never    PR_SET_THP_DISABLE for the launcher, which its tasks inherit
 *     madvise  MADV_HUGEPAGE on the task's own mapping
 *     always   nothing where the machine's setting is `always`; else as madvise
 *
 * Only where the machine's setting is `never` do madvise and always write `madvise` into
 * /sys/kernel/mm/transparent_hugepage/enabled (zm_thp_save names it for the journal, which puts it
 * back). Sizes are sets: a set is the sum of its members, each a power of two.
 */
#ifndef ZM_FAULTLOAD_THP_H
#define ZM_FAULTLOAD_THP_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

enum zm_thp {
	ZM_THP_DEFAULT,
	ZM_THP_NEVER,
	ZM_THP_MADVISE,
	ZM_THP_ALWAYS,
};

extern const char *const zm_thp_names[]; /* NULL-terminated, in the enum's order */
extern const char *const zm_thp_save[];  /* what zm_thp_prepare may write: for workload->save */

/* -ENOTSUP and the sentence: this kernel has no transparent huge pages. */
int zm_thp_check(const struct zm_sysroot *root, enum zm_thp thp, struct zm_why *why);

/* For the calling process and its later children; in prepare. *ret_before is what prctl said
 * before, for zm_thp_cleanup, which undoes the calling process's part. */
int zm_thp_prepare(const struct zm_sysroot *root, enum zm_thp thp, int *ret_before,
		   struct zm_why *why);
void zm_thp_cleanup(enum zm_thp thp, int before);

/* Must a mapping of this run be advised (MADV_HUGEPAGE)? */
bool zm_thp_needs_advice(const struct zm_sysroot *root, enum zm_thp thp);

/* The sizes in bytes that such a run's anonymous mapping may be given, as a set; 0: base pages
 * only. */
uint64_t zm_thp_sizes(const struct zm_sysroot *root, enum zm_thp thp, uint64_t page_bytes);

/* The largest of a set; 0 of none. */
uint64_t zm_thp_largest(uint64_t sizes);

/* The kernel's largest (hpage_pmd_size); 0 where there are none. */
uint64_t zm_thp_pmd_bytes(const struct zm_sysroot *root);

#endif
