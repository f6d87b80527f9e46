/*
 * percpu: a file with a column per CPU, as /proc/interrupts and /proc/softirqs.
 *
 *                CPU0       CPU12
 *      TIMER:    8320       7179
 *        RES:      77         12   Rescheduling interrupts
 *        ERR:       0
 *
 * Columns are told by the heading, which has the online CPUs only and changes when one comes or goes;
 * rows by their names. The kernel counts in 32 bits: a cell that falls by more than half of that has run
 * over, and goes on from there.
 */
#ifndef ZM_RUNNER_MONITORS_PERCPU_H
#define ZM_RUNNER_MONITORS_PERCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/monitor.h"
#include "runner/monitors/table.h"

struct zm_percpu_cell {
	uint64_t last;
	uint64_t base; /* what the run-overs came to */
};

struct zm_percpu_row {
	uint32_t sum_series;
	bool has_cpus;
	uint32_t first_cpu_series; /* of column 0; the others follow */
};

/* A monitor's whole state. */
struct zm_percpu {
	struct zm_sysfile file;
	struct zm_table table; /* series: the row's place in rows */
	uint32_t *cpus;        /* by column, as it was when opened, ascending */
	uint32_t *now;         /* by column of the reading: the column above, or nr_columns */
	size_t nr_columns;
	struct zm_percpu_row *rows;
	size_t nr_rows;
	struct zm_percpu_cell *cells; /* [row * nr_columns + column] */
};

struct zm_percpu_rules {
	const char *path;
	const char *unit;
	/* The metric of a row from its name and what stands behind its numbers; false: not kept. */
	bool (*name)(const char *name, size_t length, const char *rest, size_t rest_length,
		     char *buf, size_t size);
	/* Has this row a series per CPU beside the sum? */
	bool (*has_cpus)(const char *name, size_t length);
};

int zm_percpu_open(struct zm_monitor_context *context, const struct zm_percpu_rules *rules,
		   struct zm_why *why);
int zm_percpu_monitor_read(struct zm_monitor_context *context, uint64_t t_ns);
void zm_percpu_monitor_close(struct zm_monitor_context *context);

#endif
