/*
 * cache: $XDG_CACHE_HOME/zonemark (~/.cache/zonemark), where kernels that were unpacked and initramfs
 * lie, named after their content. All of it can be removed at any time.
 */
#ifndef ZM_RUNNER_VM_CACHE_H
#define ZM_RUNNER_VM_CACHE_H

#include "workloads/base/why.h"

/* The folder, made with those above it; the caller frees. */
int zm_vm_cache_open(char **ret_folder, struct zm_why *why);

/* Of the files whose names begin with prefix, the newest `keep` stay. */
void zm_vm_cache_trim(const char *folder, const char *prefix, unsigned int keep);

#endif
