/*
 * qemu: the line that starts a guest. No network, no disk, nothing of the host but two pipes to write
 * into and one piece of shared memory (the channel).
 */
#ifndef ZM_RUNNER_VM_QEMU_H
#define ZM_RUNNER_VM_QEMU_H

#include <stddef.h>
#include <stdint.h>

#include "runner/vm/shape.h"

enum zm_vm_accel {
	ZM_VM_KVM,
	ZM_VM_TCG,
};

const char *zm_vm_accel_name(enum zm_vm_accel accel);

struct zm_vm_spec {
	struct zm_vm_shape shape;
	enum zm_vm_accel accel;
	const char *kernel;    /* bzImage, or an ELF with a PVH entry */
	const char *initramfs; /* file */
	const char *append;    /* more of the kernel's command line; may be NULL */
	int channel_fd;        /* these two stay open in QEMU */
	int talk_fd;
	uint64_t channel_bytes;
};

/* NULL-terminated, made of one allocation that free() frees. The console is QEMU's standard output.
 * -ENOMEM. */
int zm_vm_qemu_argv(const struct zm_vm_spec *spec, char ***ret_argv);

#endif
