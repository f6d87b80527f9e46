/*
 * summary: what a command's runs came to, cell by cell.
 *
 * Of each primary metric: the median over the launches, the least and the most, the spread between
 * launches and, apart from it, the spread of the intervals within a launch.
 */
#ifndef ZM_RUNNER_SUMMARY_H
#define ZM_RUNNER_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runner/plan.h"
#include "runner/session.h"

struct zm_cell_summary;

struct zm_summary {
	const struct zm_plan *plan;
	unsigned int nr_repeats;
	struct zm_cell_summary *cells; /* as in the plan */
};

int zm_summary_init(struct zm_summary *summary, const struct zm_plan *plan,
		    unsigned int nr_repeats);
void zm_summary_release(struct zm_summary *summary);

int zm_summary_add(struct zm_summary *summary, size_t cell, const struct zm_outcome *outcome);

/* A launch of this cell that an earlier command has done (--resume). */
void zm_summary_add_done(struct zm_summary *summary, size_t cell);

/* The cell's newest run that was recorded and went well; 0: none. */
uint64_t zm_summary_good_run(const struct zm_summary *summary, size_t cell);

/* A table, or one JSON object. -errno when there is no memory. latency_table: put into it and taken over;
 * NULL: there is none. */
int zm_summary_print(const struct zm_summary *summary, FILE *out);
int zm_summary_print_json(const struct zm_summary *summary, const char *invocation,
			  const char *store, json_t *latency_table, FILE *out);

/* 3 if a run failed, else 2 if one was refused, else 0 if one went well (now or earlier),
 * else 77. */
int zm_summary_exit_status(const struct zm_summary *summary);

/* The last run that was recorded and went well, or failing that any; 0: none. */
uint64_t zm_summary_last_run(const struct zm_summary *summary);

#endif
