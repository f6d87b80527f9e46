/*
 * package: a Debian kernel package, unpacked below the cache and installed nowhere.
 */
#ifndef ZM_RUNNER_VM_PACKAGE_H
#define ZM_RUNNER_VM_PACKAGE_H

#include "workloads/base/why.h"

/* name NULL: what linux-image-amd64 depends on. The folder holds boot/ and lib/modules/; the caller
 * frees. Fetched once, by apt-get. -ENOENT: no apt-get here, or it knows no such package. */
int zm_vm_package_open(const char *name, const char *cache, char **ret_folder, struct zm_why *why);

#endif
