/*
 * nights: a store's history, one value a night.
 *
 *     group   a machine and a cell (workload and what was asked for): its runs, and the nights they fall on
 *     line    one figure of a group: a value per run, and from these one per night
 *
 * A night is what one kernel did between noon and noon (UTC): a job that runs over midnight is one night, two
 * kernels on one day are two. As in compare.h the boot is the unit: the runs of one boot are one value, their
 * mean; the night's value is the median of its boots, its spread reaches from the smallest run to the largest.
 *
 * A machine whose clock is off by hours has its night a day early or late, and no other machine's with it.
 *
 * Runs that were made to confirm a change (changes.h) are of no night; they are kept to settle it.
 */
#ifndef ZM_RESULTS_WEB_NIGHTS_H
#define ZM_RESULTS_WEB_NIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/pool.h"
#include "results/store.h"

struct zm_night_run {
	int64_t id;
	uint64_t name; /* the first 16 digits of its UUID */
	uint64_t wall_ns;
	uint32_t boot, kernel, invocation;
	uint32_t night; /* ZM_NIGHT_NONE: it confirms */
	bool has_failed;
};

#define ZM_NIGHT_NONE UINT32_MAX

struct zm_night {
	uint64_t wall_ns; /* when its first run began */
	int64_t day;      /* since the epoch; a day begins at noon */
	uint32_t kernel;
	uint32_t nr_ok, nr_failed;
	uint32_t first_run; /* of the group's; the others follow */
};

struct zm_line_value {
	uint32_t run; /* of the group's */
	double value;
};

struct zm_line {
	uint32_t metric;
	bool is_primary;
	struct zm_line_value *values;
	size_t nr, capacity;
};

struct zm_group {
	uint32_t machine, cell;
	struct zm_night_run *runs; /* night by night, each in order; then those that confirm */
	size_t nr_runs, runs_capacity;
	struct zm_night *nights;
	size_t nr_nights, nights_capacity;
	struct zm_line *lines;
	size_t nr_lines, lines_capacity, last_line;
};

struct zm_night_metric {
	const char *name, *unit;
	enum zm_better better;
	bool is_share; /* in percent: changes are in points */
};

struct zm_night_cell {
	const char *workload;
	const char *json;  /* what was asked for */
	const char *words; /* in which it differs from the workload's other cells */
};

enum zm_night_part {
	ZM_NIGHT_PART_NONE, /* not among those asked for */
	ZM_NIGHT_PART_NIGHT,
	ZM_NIGHT_PART_CONFIRMATION,
};

/* All of these by their number in the store; what is not there is NULL. */
struct zm_night_names {
	const char **machines;
	struct zm_night_cell *cells;
	struct zm_night_metric *metrics;
	uint32_t *boot_machines, *boot_kernels; /* of each boot */
	enum zm_night_part *invocations;        /* of each invocation */
	const char **kernels;                   /* numbered here */
	size_t nr_machines, nr_cells, nr_metrics, nr_boots, nr_invocations, nr_kernels;
	size_t kernels_capacity;
	struct zm_pool pool;
};

/* label: a shell pattern; NULL: all runs, those without a label too. */
int zm_night_names_read(struct zm_store *store, const char *label, struct zm_night_names *ret_names,
			struct zm_why *why);
void zm_night_names_release(struct zm_night_names *names);

struct zm_nights {
	struct zm_group *groups;
	size_t nr, capacity;
	uint32_t *slots; /* open addressing by machine and cell; a number + 1, or 0 */
	size_t nr_slots;
};

/* machine 0: the primary figures of all machines; else all figures of that one. since_ns: by the calendar. */
int zm_nights_read(struct zm_store *store, const struct zm_night_names *names, uint32_t machine,
		   uint64_t since_ns, struct zm_nights *ret_nights, struct zm_why *why);
void zm_nights_release(struct zm_nights *nights);

/* A night's value and spread; NaN: none. */
struct zm_night_value {
	double value, low, high;
	uint32_t nr_runs;
};

/* The values of the runs that confirm, of invocations behind `after` and before `before`. ret_values has room for
 * line->nr. Returns how many. */
size_t zm_line_confirming(const struct zm_group *group, const struct zm_line *line, uint32_t after,
			  uint32_t before, double *ret_values);

/* Of each of the group's nights; ret_values has room for them. -ENOMEM. */
int zm_line_nights(const struct zm_group *group, const struct zm_line *line,
		   struct zm_night_value *ret_values);

/* The address of a group, the same in every store that has it: of the machine, the workload and the cell. */
#define ZM_GROUP_ID 17
char *zm_group_id(char ret_id[ZM_GROUP_ID], const struct zm_night_names *names,
		  const struct zm_group *group);

/* The same for a figure of a cell on any machine. */
char *zm_row_id(char ret_id[ZM_GROUP_ID], const struct zm_night_names *names, uint32_t cell,
		uint32_t metric);

#endif
