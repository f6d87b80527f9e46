/*
 * about: what a guest knows of itself: the file run/zonemark-guest, a JSON object that the agent wrote.
 *
 *     accelerator     "kvm", "tcg"
 *     topology        as given to --topology
 *     host_kernel     release
 *     is_for_speed    false: figures say what happens, not how fast
 *     kvm_failed      why KVM was tried first and did not do; not there when it was not tried
 */
#ifndef ZM_RUNNER_VM_ABOUT_H
#define ZM_RUNNER_VM_ABOUT_H

#include <jansson.h>

#include "runner/vm/qemu.h"
#include "workloads/base/sysroot.h"

#define ZM_VM_ABOUT "run/zonemark-guest"

/* As one line of JSON. kvm_failed may be NULL. -ENOBUFS. */
int zm_vm_about_print(enum zm_vm_accel accel, const char *topology, const char *kvm_failed,
		      char *buf, size_t size);

/* A new reference; NULL: this is no guest of ours. */
json_t *zm_vm_about_read(const struct zm_sysroot *root);

/* The sentence that every run of a guest keeps as a note. */
const char *zm_vm_about_note(const json_t *about);

#endif
