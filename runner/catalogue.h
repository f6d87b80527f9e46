/*
 * catalogue: the tables of workloads, monitors and commands that the build found.
 *
 * Each is in the order of its names and ends with NULL; a name that is not there gives NULL.
 */
#ifndef ZM_RUNNER_CATALOGUE_H
#define ZM_RUNNER_CATALOGUE_H

#include "runner/cmd.h"
#include "runner/monitor.h"
#include "workloads/workload.h"

extern const struct zm_workload *const zm_workloads[];
extern const unsigned int zm_nr_workloads;
extern const struct zm_monitor *const zm_monitors[];
extern const unsigned int zm_nr_monitors;
extern const struct zm_cmd *const zm_cmds[];
extern const unsigned int zm_nr_cmds;

const struct zm_workload *zm_workload_find(const char *name);
const struct zm_monitor *zm_monitor_find(const char *name);
const struct zm_cmd *zm_cmd_find(const char *name);

/* -ENOENT, with the sentence for a command that is not there: the nearest, or where all are listed. */
int zm_cmd_unknown(const char *name, struct zm_why *why);

/* Checks every workload's constant; main calls it before any command. The sentence names the offender. */
int zm_catalogue_validate(struct zm_why *why);

#endif
