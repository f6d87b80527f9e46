/*
 * agent: this program as a guest's first process.
 *
 * It mounts what a command needs, loads modules, brings the loopback up, runs the command and waits
 * for it, which takes no CPU; then it hands the answer and the store over and powers the guest off.
 */
#ifndef ZM_RUNNER_VM_AGENT_H
#define ZM_RUNNER_VM_AGENT_H

#include <stdbool.h>

/* Is this process the /init of a guest? */
bool zm_vm_agent_is_wanted(const char *name);

/* Does not return. */
__attribute__((noreturn)) void zm_vm_agent_run(void);

#endif
