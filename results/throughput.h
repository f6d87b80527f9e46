/*
 * throughput: all tasks' operations as one count over time.
 *
 * The tasks' counts are read at the same moments, so they are added reading by reading; a task that
 * was read at other moments (it began late, a reading failed) is brought onto the first one's by
 * straight lines between its readings.
 */
#ifndef ZM_RESULTS_THROUGHPUT_H
#define ZM_RESULTS_THROUGHPUT_H

#include <stddef.h>
#include <stdint.h>

#include "results/series.h"

struct zm_throughput {
	char *op; /* what is counted, a singular noun; NULL: nothing was */
	uint64_t *t_ns;
	double *count;
	size_t nr;
	size_t nr_tasks;
};

void zm_throughput_release(struct zm_throughput *throughput);

/* A run without a single reading gives one with nr 0. */
int zm_throughput_read(struct zm_store *store, uint64_t run, struct zm_throughput *ret_throughput,
		       struct zm_why *why);

/* Adds one task's count, for whoever reads the series anyway. -ENOMEM. */
int zm_throughput_add(struct zm_throughput *throughput, const struct zm_series *series);

/* The intervals that lie between two moments, short ones joined (series.h). ret_intervals has room for
 * throughput->nr. Returns how many. */
size_t zm_throughput_intervals(const struct zm_throughput *throughput, uint64_t t0_ns,
			       uint64_t t1_ns, struct zm_interval *ret_intervals);

/* Their rates, in operations per second. -ENOMEM, or how many. *ret_rates is the caller's to free. */
int64_t zm_throughput_rates(const struct zm_throughput *throughput, uint64_t t0_ns, uint64_t t1_ns,
			    double **ret_rates);

/* All operations between two moments, and over which time. */
double zm_throughput_total(const struct zm_throughput *throughput, uint64_t t0_ns, uint64_t t1_ns,
			   uint64_t *ret_covered_ns);

#endif
