/*
 * ksyms: the kernel's functions by address, from /proc/kallsyms.
 *
 * Reading takes a tenth of a second: do it outside of what is timed.
 */
#ifndef ZM_RUNNER_MONITORS_KSYMS_H
#define ZM_RUNNER_MONITORS_KSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

struct zm_ksym {
	uint64_t address;
	const char *name; /* without a module's or a compiler's ending: "foo" of "foo.isra.0" */
};

/* A zeroed struct has none. */
struct zm_ksyms {
	char *text;
	struct zm_ksym *list; /* by address */
	size_t nr;
};

/* -EACCES: the addresses are hidden; the sentence says how to see them. */
int zm_ksyms_read(struct zm_ksyms *ksyms, const struct zm_sysroot *root, struct zm_why *why);
void zm_ksyms_release(struct zm_ksyms *ksyms);

/* The function that an address lies in; NULL below the first. */
const struct zm_ksym *zm_ksyms_find(const struct zm_ksyms *ksyms, uint64_t address);

#endif
