/*
 * pvlock: are the kernel's spin locks paravirtual?
 *
 * With paravirtual ones every waiter goes through the lock's queue, and each has its event. Of native ones the
 * first waiter spins without.
 */
#ifndef ZM_RUNNER_MONITORS_PVLOCK_H
#define ZM_RUNNER_MONITORS_PVLOCK_H

#include <stdbool.h>

#include "workloads/base/sysroot.h"

/* As a kernel that has them decides it under KVM. Of other hypervisors it is not known: false. */
bool zm_pvlock_is_on(const struct zm_sysroot *root);

/* The same from what it is decided by: KVM's features and hints, the kernel's command line. */
bool zm_pvlock_judge(unsigned int features, unsigned int hints, const char *command_line,
		     unsigned int nr_cpus);

#endif
