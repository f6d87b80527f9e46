/*
 * cell: one combination of a workload and its options: what is run, as often as --repeat says.
 */
#ifndef ZM_RUNNER_CELL_H
#define ZM_RUNNER_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/axis.h"
#include "workloads/base/option.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/base/units.h"
#include "workloads/base/why.h"
#include "workloads/workload.h"

/* Options that every run has. */
struct zm_run_options {
	struct zm_amount nr_task;
	unsigned int mode; /* an index into the row's choices: process, thread */
	uint64_t runtime_ns, warmup_ns, idle_ns, drain_ns;
	uint64_t interval_ns, monitor_interval_ns;
	uint64_t start_ns, stop_ns, stall_ns;
	uint64_t seed;
};
extern const struct zm_option zm_run_option_rows[];

#define ZM_CELL_TASKS 1048576u /* at most */

struct zm_pair {
	char *name, *value;
};

struct zm_cell {
	const struct zm_workload *workload;
	enum zm_task_kind kind;
	unsigned int nr_units; /* nr_task as a number */
	unsigned int nr_tasks; /* units times ends */
	struct zm_run_options options;
	void *workload_options;
	struct zm_pair *settings;
	size_t nr_settings;
	char *monitor;     /* as --monitor takes it; NULL: as usual */
	unsigned int rank; /* among its line's cells: 0 is the most telling */
	char *title; /* "page_fault1 mode=process nr_task=1 size=64M": what tells it from the others */
	char *key;    /* canonical JSON of what was asked for */
	char *params; /* canonical JSON of what is in effect */
};

struct zm_cell_context {
	unsigned int nr_cpus;         /* that this process may use */
	const struct zm_pair *extras; /* "place", "mem", …: into key and params */
	size_t nr_extras;
	/* Whose settings a matrix's lines may need (NULL: all are there), and what the documented
	 * tables and job files are scaled to (NULL: they cannot be asked for). */
	const struct zm_sysroot *root;
	const struct zm_topology *topology;
};

/* Combination `index` of the axes; each axis is an option of the run, of the workload, or a machine
 * setting. -EINVAL, -ERANGE: a bad value. -ENOTSUP: the workload has no such mode. */
int zm_cell_make(const struct zm_cell_context *context, const struct zm_workload *workload,
		 const struct zm_axes *axes, size_t index, struct zm_cell *ret_cell,
		 struct zm_why *why);
void zm_cell_release(struct zm_cell *cell);

#endif
