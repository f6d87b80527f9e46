/*
 * bytes: whole files in memory, and the names of contents.
 */
#ifndef ZM_RUNNER_VM_BYTES_H
#define ZM_RUNNER_VM_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define ZM_VM_DIGEST_SIZE 41 /* hexadecimal digits and the end */

/* A whole file from its beginning, with a zero byte behind it; the caller frees. ret_length may be
 * NULL. */
int zm_vm_bytes_read_fd(int fd, uint8_t **ret_bytes, size_t *ret_length);
int zm_vm_bytes_read(const char *path, uint8_t **ret_bytes, size_t *ret_length);

int zm_vm_bytes_write_fd(int fd, const void *bytes, size_t length);

/* Under a name of its own first, so that the file is there whole or not at all. */
int zm_vm_bytes_write(const char *path, const void *bytes, size_t length);

/* SHA-256, its first 160 bits. */
int zm_vm_bytes_digest(const void *bytes, size_t length, char digest[ZM_VM_DIGEST_SIZE]);

#endif
