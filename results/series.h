/*
 * series: the readings of a run as they are read back, and what is derived from them.
 *
 * A run that has ended has a row per series; one under way (or killed) has chunks, which are put
 * together on the fly. Whoever reads does not see the difference.
 */
#ifndef ZM_RESULTS_SERIES_H
#define ZM_RESULTS_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "results/codec.h"
#include "results/recorder.h"
#include "results/store.h"

/* One series. Lives during the call. */
struct zm_series {
	struct zm_series_desc desc;
	size_t nr;
	const uint64_t *t_ns;
	const struct zm_readings *readings;
};

/* Which ones. Zeroed with scope -1: all. */
struct zm_series_filter {
	const char *metric; /* shell pattern; NULL: any */
	const char *source; /* exactly; NULL: any */
	int scope;          /* enum zm_scope, or -1 */
};

/* In the order in which they were declared. `each` may end it early by returning other than 0, which
 * is then returned. A series that is damaged in the store is left out and counted (ret_nr_damaged may
 * be NULL). */
int zm_series_read(struct zm_store *store, uint64_t run, const struct zm_series_filter *filter,
		   int (*each)(void *context, const struct zm_series *series), void *context,
		   size_t *ret_nr_damaged, struct zm_why *why);

/* Which readings lie between two moments, these included: *ret_first and how many. */
size_t zm_series_window(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns,
			size_t *ret_first);

/* What a count did between two neighbouring readings. */
struct zm_interval {
	uint64_t t0_ns, t1_ns;
	double delta;
	uint32_t flags; /* of the later reading */
};

/* The intervals of a count that lie between two moments. One in which the count went backwards (a
 * reset) or no time passed is left out. ret_intervals has room for series->nr. Returns how many. */
size_t zm_series_intervals(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns,
			   struct zm_interval *ret_intervals);

/* A border of a phase often lies just behind a regular reading; the rate of the few milliseconds
 * between is noise. Joins every interval shorter than half the median one to the interval before it
 * (the first one: behind it), when the two touch. Returns how many are left. */
size_t zm_interval_join_short(struct zm_interval *intervals, size_t nr);

double zm_interval_rate(const struct zm_interval *interval); /* per second */

/* A count's total between two moments: the sum of its intervals there, and the time that they cover
 * (0: there is none). */
double zm_series_total(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns,
		       uint64_t *ret_covered_ns);

/* A gauge's mean between two moments, each reading weighted by the time around it (trapezoids); of a
 * single reading, that. NaN: none. */
double zm_series_mean(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns);

#endif
