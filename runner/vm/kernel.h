/*
 * kernel: from what the user names (a file, a folder, "debian") to an image and its modules' folder.
 */
#ifndef ZM_RUNNER_VM_KERNEL_H
#define ZM_RUNNER_VM_KERNEL_H

#include "runner/vm/image.h"

struct zm_vm_kernel {
	struct zm_vm_image image;
	char *modules; /* a folder with .ko files below it; NULL: none is known */
};

/* what: a bzImage or vmlinux; a build tree or an unpacked package; "debian", or
 * "debian:linux-image-…" for another of its packages. modules NULL: those that belong to it, or
 * /lib/modules/RELEASE when this machine has them. */
int zm_vm_kernel_open(const char *what, const char *modules, const char *cache,
		      struct zm_vm_kernel *ret_kernel, struct zm_why *why);
void zm_vm_kernel_release(struct zm_vm_kernel *kernel);

#endif
