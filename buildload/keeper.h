/*
 * keeper: a process that waits for its parent's death, and then clears up at once.
 *
 * Real builds are processes that nobody told to die with the run, in cgroups that somebody must remove.
 * The undo journal has them, and the next command would see to it; the keeper does not let it wait for
 * that: it undoes the journals of the dead as soon as its parent is one of them. It runs outside the
 * cgroups, in a session of its own, and wakes up for nothing else.
 */
#ifndef ZM_BUILDLOAD_KEEPER_H
#define ZM_BUILDLOAD_KEEPER_H

#include <sys/types.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

/* Called by the launcher's only thread, before its journal is opened. */
int zm_keeper_start(const struct zm_sysroot *root, pid_t *ret_pid, struct zm_why *why);

/* It ends, and nothing is undone. pid 0 is fine. */
void zm_keeper_stop(pid_t pid);

#endif
