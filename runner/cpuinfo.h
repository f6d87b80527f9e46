/*
 * cpuinfo: what the processor is, on every architecture's own terms.
 */
#ifndef ZM_RUNNER_CPUINFO_H
#define ZM_RUNNER_CPUINFO_H

#include "workloads/base/sysroot.h"

#define ZM_CPUINFO_SIZE 192

/* "" where it is not said. */
struct zm_cpuinfo {
	char model[ZM_CPUINFO_SIZE];
	char vendor[ZM_CPUINFO_SIZE];
	char microcode[ZM_CPUINFO_SIZE];
	char hypervisor[ZM_CPUINFO_SIZE]; /* "KVM", "Xen"…; "unknown" when only that there is one */
};

void zm_cpuinfo_read(const struct zm_sysroot *root, struct zm_cpuinfo *ret_info);

/* The board or machine it is in: "QEMU Standard PC", "Raspberry Pi 4 Model B". "" when unknown. */
void zm_cpuinfo_read_product(const struct zm_sysroot *root, char *buf, size_t size);

#endif
