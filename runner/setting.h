/*
 * setting: what the documents set on the machine, as options of every run, by their names there.
 *
 *     thp_enabled=always|madvise|never           sys/kernel/mm/transparent_hugepage/enabled
 *     thp_defrag=…                                sys/kernel/mm/transparent_hugepage/defrag
 *     cpufreq_governor=performance                every policy's scaling_governor
 *     percpu_pagelist_high_fraction=8             proc/sys/vm/percpu_pagelist_high_fraction
 *     numa_balancing=0                            proc/sys/kernel/numa_balancing
 *     sysctl.NAME=VALUE                           proc/sys/NAME with / for .
 *
 * All are set through the journal before prepare and put back after the run. A setting that this
 * machine does not have, or that the kernel refuses or changes, is an error with a sentence: a run
 * with other settings than asked for would be another run.
 */
#ifndef ZM_RUNNER_SETTING_H
#define ZM_RUNNER_SETTING_H

#include <stdbool.h>

#include "workloads/base/journal.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

/* Is this option's name a machine setting? (sysctl.* always is.) */
bool zm_setting_is(const char *name);

/* Has this kernel a file for it? */
bool zm_setting_is_here(const struct zm_sysroot *root, const char *name);

/* Could it be set here? Changes nothing. */
int zm_setting_check(const struct zm_sysroot *root, const char *name, const char *value,
		     struct zm_why *why);

int zm_setting_apply(const struct zm_sysroot *root, struct zm_journal *journal, const char *name,
		     const char *value, struct zm_why *why);

/* The fixed names with their help, for `list` and completion; NULL-terminated. */
struct zm_setting_row {
	const char *name;
	const char *path;
	const char *help;
};
extern const struct zm_setting_row zm_setting_rows[];

#endif
