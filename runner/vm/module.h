/*
 * module: the kernel modules a guest gets, unpacked, in the order in which they can be loaded.
 *
 * An unpacked package has no modules.dep, so the order comes from what each module says it depends on.
 */
#ifndef ZM_RUNNER_VM_MODULE_H
#define ZM_RUNNER_VM_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

struct zm_vm_module {
	char *name; /* with '_' for '-' */
	uint8_t *bytes;
	size_t length;
};

struct zm_vm_modules {
	struct zm_vm_module *rows; /* what others need comes before them */
	size_t nr;
};

/* Those of the NULL-terminated list that lie below folder as .ko, .ko.xz, .ko.zst or .ko.gz, with what
 * they need. One that is not there is left out: it may be built in. */
int zm_vm_modules_find(const char *folder, const char *const *wanted,
		       struct zm_vm_modules *ret_modules, struct zm_why *why);
void zm_vm_modules_release(struct zm_vm_modules *modules);

#endif
