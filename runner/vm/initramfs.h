/*
 * initramfs: the guest's whole file system: this program, its libraries, the modules.
 *
 *     /usr/bin/zonemark    and /init, a link to it
 *     /lib…/NAME.so.N       where they lie here; the loader; /etc/ld.so.cache
 *     /usr/libexec/zonemark/kbuild-step, /usr/share/zonemark/profiles/   for emulated builds
 *     /lib/zonemark/       order (modules' names, a line each), NAME.ko
 *
 * It lies in the cache, named after its content.
 */
#ifndef ZM_RUNNER_VM_INITRAMFS_H
#define ZM_RUNNER_VM_INITRAMFS_H

#include "runner/vm/module.h"

#define ZM_VM_MODULES_DIR   "/lib/zonemark"
#define ZM_VM_MODULES_ORDER ZM_VM_MODULES_DIR "/order"
#define ZM_VM_PROGRAM       "/usr/bin/zonemark"

/* program NULL: this one. The caller frees the path. */
int zm_vm_initramfs_make(const char *program, const struct zm_vm_modules *modules,
			 const char *cache, char **ret_path, struct zm_why *why);

#endif
