/*
 * latency_table: cells that differ by a setting of the CPUs' page lists, in the form in which batches are
 * judged:
 *
 *     setting   lists' length and batch   throughput   free latency avg, 99 %   alloc latency avg, 99 %
 *
 * Free is a list's drain into the zone, alloc its refill, under the zone's lock, as the monitor
 * page-latency measures them. What could not be had is "-", and why stands below.
 */
#ifndef ZM_RUNNER_LATENCY_TABLE_H
#define ZM_RUNNER_LATENCY_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "results/store.h"
#include "runner/summary.h"

/* -ENOMEM, or what reading the store gave. */
int zm_latency_table_print(struct zm_store *store, const struct zm_summary *summary, FILE *out,
			   struct zm_why *why);

/* An array with an object per cell, figures that could not be had are null. NULL: no memory, or the store
 * could not be read. */
json_t *zm_latency_table_json(struct zm_store *store, const struct zm_summary *summary,
			      struct zm_why *why);

#endif
