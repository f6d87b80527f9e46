/*
 * monitor: the contract between a source of kernel figures and the runner.
 *
 * A monitor is one file in runner/monitors/ that ends in one constant, ZM_MONITOR; the build finds
 * and lists it. It reads procfs and sysfs through the root it is given, so that every parser is
 * tested on recorded machines.
 *
 *     open     once per run, in the idle phase's beginning: finds its files and fields, declares its
 *              series; or says in one sentence why it cannot (-ENOTSUP, -EACCES…), which is shown
 *              wherever its figures would stand. Allocates what read() will need.
 *     attach   once, when all tasks stand at the gate; for monitors that look at the tasks. May be
 *              NULL.
 *     read     at every phase border and at each of its intervals: one reading per series.
 *              Allocates nothing. A failed read is a flagged gap, not the end of the run.
 *     report   once, after the run: derived figures of the measured window. May be NULL.
 *     close    always when open was entered.
 *
 * Before each read the runner sets context->phase: the phase that the reading lies in or, at a border,
 * the one that begins there (ZM_NR_PHASES at the last). So a monitor can keep what its report needs
 * of a window without keeping every reading.
 */
#ifndef ZM_RUNNER_MONITOR_H
#define ZM_RUNNER_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "results/recorder.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"
#include "workloads/sample.h"
#include "workloads/workload.h"

enum zm_rate {
	ZM_RATE_BORDERS, /* phase borders only */
	ZM_RATE_NORMAL,  /* 1 Hz unless --monitor-interval says otherwise */
	ZM_RATE_FAST,    /* 10 Hz: used memory */
};

/* The tasks a monitor may look at. */
struct zm_target {
	enum zm_task_kind kind;
	pid_t launcher;    /* their parent, or the process whose threads they are */
	const pid_t *tids; /* by task index; a process's pid or a thread's tid */
	unsigned int nr_tasks;
};

struct zm_monitor_context {
	const struct zm_monitor *monitor;
	const struct zm_sysroot *root;
	struct zm_recorder *recorder;
	void *state;         /* monitor->state_bytes, zeroed */
	enum zm_phase phase; /* of the reading to come, set by the runner */
};

struct zm_monitor {
	const char *name;    /* .name = ZM_MONITOR_NAME: meminfo.c is "meminfo", '_' becomes '-' */
	const char *summary; /* one line: what it shows */
	const char *needs;   /* what it needs, for `list monitors`: "/proc/vmstat" */
	enum zm_rate rate;
	bool is_extra; /* not in the default set, which costs well under 1 %: read when asked for */
	size_t state_bytes;
	int (*open)(struct zm_monitor_context *context, struct zm_why *why);
	int (*attach)(struct zm_monitor_context *context, const struct zm_target *target,
		      struct zm_why *why);
	int (*read)(struct zm_monitor_context *context, uint64_t t_ns);
	int (*report)(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
		      struct zm_report *report);
	void (*close)(struct zm_monitor_context *context);
};

#endif
