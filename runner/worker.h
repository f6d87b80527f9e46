/*
 * worker: the life of one task: place, setup, gate, loop, teardown.
 */
#ifndef ZM_RUNNER_WORKER_H
#define ZM_RUNNER_WORKER_H

#include "runner/launch.h"

/* How it went is in the task's slot (ZM_SLOT_DONE or ZM_SLOT_FAILED) when this returns. */
void zm_worker_main(const struct zm_launch_spec *spec, unsigned int index);

#endif
