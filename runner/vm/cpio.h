/*
 * cpio: an archive in the form the kernel unpacks at boot ("newc"), written into memory.
 */
#ifndef ZM_RUNNER_VM_CPIO_H
#define ZM_RUNNER_VM_CPIO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct zm_vm_cpio {
	char *bytes; /* there after zm_vm_cpio_end */
	size_t length;
	FILE *out;
	unsigned int inode;
	char **folders; /* that are in it */
	size_t nr_folders;
};

/* Paths are absolute. The folders above a file are put in before it, once. Errors are kept: the end
 * gives the first. All of it is the same for the same content: owner root, time 0. */
int zm_vm_cpio_begin(struct zm_vm_cpio *cpio);
void zm_vm_cpio_folder(struct zm_vm_cpio *cpio, const char *path);
void zm_vm_cpio_file(struct zm_vm_cpio *cpio, const char *path, unsigned int mode,
		     const void *bytes, size_t length);
void zm_vm_cpio_link(struct zm_vm_cpio *cpio, const char *path, const char *target);
void zm_vm_cpio_device(struct zm_vm_cpio *cpio, const char *path, unsigned int major,
		       unsigned int minor);
int zm_vm_cpio_end(struct zm_vm_cpio *cpio);
void zm_vm_cpio_release(struct zm_vm_cpio *cpio);

#endif
