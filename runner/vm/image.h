/*
 * image: a kernel as it was given, and as QEMU starts it quickest.
 *
 * A bzImage unpacks itself inside the guest, which takes TCG seconds; so its vmlinux is unpacked here,
 * once, into the cache, when it has a PVH entry and the program that unpacks it is here. Otherwise the
 * guest boots the bzImage itself.
 */
#ifndef ZM_RUNNER_VM_IMAGE_H
#define ZM_RUNNER_VM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

struct zm_vm_image {
	char *path;       /* what QEMU gets */
	char release[96]; /* "6.1.0-57-amd64"; "" when the file does not say */
};

/* -EINVAL: it is no kernel for x86-64. */
int zm_vm_image_open(const char *path, const char *cache, struct zm_vm_image *ret_image,
		     struct zm_why *why);
void zm_vm_image_release(struct zm_vm_image *image);

/* Unpacks xz, zstd, gzip, lz4, bzip2, lzma or lzo bytes by their own programs, by the magic they begin
 * with; the caller frees. -ENOTSUP: no magic of them. */
int zm_vm_unpack(const uint8_t *bytes, size_t length, uint8_t **ret_bytes, size_t *ret_length,
		 struct zm_why *why);

#endif
