/*
 * package: a Debian kernel package, unpacked below the cache and installed nowhere.
 */
#ifndef ZM_RUNNER_VM_PACKAGE_H
#define ZM_RUNNER_VM_PACKAGE_H

#include <stddef.h>

#include "workloads/base/why.h"

/* name NULL: what linux-image-amd64 depends on. The folder holds boot/ and lib/modules/; the caller
 * frees. Fetched once, by apt-get. -ENOENT: no apt-get here, or it knows no such package. */
int zm_vm_package_open(const char *name, const char *cache, char **ret_folder, struct zm_why *why);

/* Any package, as NAME below the cache: fetched, unpacked, and then made what it shall be by `finish`
 * (in its folder, may be NULL); a folder that is there already is taken as it is. One at a time, and
 * under another name until it is whole. */
int zm_vm_package_fetch(const char *name, const char *cache,
			int (*finish)(const char *folder, const char *name, struct zm_why *why),
			char **ret_folder, struct zm_why *why);

/* What a package that only stands for another depends on ("linux-source": linux-source-6.1). */
int zm_vm_package_find(const char *usual, const char *prefix, char *name, size_t size,
		       struct zm_why *why);

/* Removes what a fetch left behind that was killed; nothing where another is under way. */
void zm_vm_package_clean(const char *name, const char *cache);

#endif
