/*
 * launcher: the process between the runner and the tasks: makes them, watches them, reaps them.
 */
#ifndef ZM_RUNNER_LAUNCHER_H
#define ZM_RUNNER_LAUNCHER_H

#include "runner/launch.h"

/* The body of the launcher: returns its exit status. socket: its end of the line to the runner. */
int zm_launcher_main(struct zm_launch_spec *spec, pid_t runner, int socket);

#endif
