/*
 * elf: what is read out of 64-bit ELF files: the loader's name, a kernel's PVH entry, a module's
 * dependencies. Nothing of a damaged file is believed.
 */
#ifndef ZM_RUNNER_VM_ELF_H
#define ZM_RUNNER_VM_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool zm_vm_elf_is_one(const uint8_t *bytes, size_t length);

/* The dynamic loader that the program asks for; NULL: none. It lies in bytes. */
const char *zm_vm_elf_loader(const uint8_t *bytes, size_t length);

/* Can QEMU start this vmlinux directly? */
bool zm_vm_elf_has_pvh(const uint8_t *bytes, size_t length);

/* The value of a field of a module's .modinfo ("depends"), in bytes; NULL: none. */
const char *zm_vm_elf_modinfo(const uint8_t *bytes, size_t length, const char *field);

/* How much of the file the program is: without debug information behind it. Patches the header so
 * that no section table is looked for. */
size_t zm_vm_elf_cut(uint8_t *bytes, size_t length);

#endif
