/*
 * dashboard: a store's whole history as a static site.
 *
 *     index.html     did anything change, what, how much, how sure; and the matrix of all primary figures
 *     series.html    ?g=GROUP&m=METRIC   one figure on one machine: every night, its spread, its changes
 *     compare.html   ?a=GROUP.NIGHT&b=GROUP.NIGHT   any two nights, figure by figure
 *     run.html       ?r=RUN   the curves of one run
 *     data/          what these show, as files of scripts: so they open from a disk, too
 *
 * Addresses are made of names, not of numbers of this store: they last. A page loads the data that it shows and
 * no other. docs/dashboard.md describes the site, docs/scale.md what it costs.
 */
#ifndef ZM_RESULTS_WEB_DASHBOARD_H
#define ZM_RESULTS_WEB_DASHBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/store.h"

#define ZM_DASHBOARD_RECENT 14
#define ZM_DASHBOARD_CURVES 7

struct zm_dashboard_options {
	const char *label; /* shell pattern; NULL: all runs */
	uint64_t since_ns; /* by the calendar */
	double margin;     /* the smallest change that matters, as a share: 0.01 */
	double alpha;      /* of the intervals: 0.05 */
	size_t recent;     /* nights; a change among them is news */
	size_t nr_curves;  /* nights of each group whose runs' curves are in the site */
	bool primary_only; /* no pages for the figures that verdicts are not given on */
	uint64_t now_ns;   /* the date on the site; 0: now */
};

/* What it came to. */
struct zm_dashboard {
	size_t nr_machines, nr_groups, nr_nights; /* nr_nights: the longest history's */
	size_t nr_primary;                        /* primary figures */
	size_t nr_worse, nr_better, nr_changed;   /* of these, changed among the last nights */
	size_t nr_steady, nr_few;
	size_t nr_failed; /* groups with a failed run in their last night */
	size_t nr_files;
	uint64_t nr_bytes;
	uint64_t landing_ns; /* until the landing page was written */
};

/* Writes the site, which takes the place of the one before it whole or not at all. -ENOTEMPTY: something else is
 * there; -EBUSY: another is writing it; -ENODATA: no run is like that. The store is only read, as of one
 * moment. */
int zm_dashboard_write(struct zm_store *store, const char *path,
		       const struct zm_dashboard_options *options,
		       struct zm_dashboard *ret_dashboard, struct zm_why *why);

/* "uPlot 1.6.32", or that the pages draw by themselves. */
const char *zm_dashboard_charts(void);

#endif
