/*
 * page_curves: all curves of a run on one time axis: throughput, used memory, the CPUs' page lists, and how often
 * the zones' locks were waited for; each where it was recorded.
 */
#ifndef ZM_RESULTS_PAGE_CURVES_H
#define ZM_RESULTS_PAGE_CURVES_H

#include "results/digest.h"
#include "results/format_run.h"
#include "results/plot.h"

#define ZM_PAGE_SUMS 4

/* What several series come to, over time. */
struct zm_page_sum {
	char label[96];
	double *x_s, *y;
	uint64_t *t_ns;
	size_t nr, nr_left_out; /* left_out: series read at other moments */
	struct zm_curve curve;
};

struct zm_page_curves {
	struct zm_format_curves usual;
	struct zm_page_sum sums[ZM_PAGE_SUMS];
	struct zm_panel panels[2 + ZM_PAGE_SUMS];
	struct zm_plot plot; /* refers to the digest and to all of this */
};

/* -ENOMEM, or the store's error. */
int zm_page_curves_make(struct zm_store *store, const struct zm_digest *digest,
			struct zm_page_curves *ret_curves, struct zm_why *why);
void zm_page_curves_release(struct zm_page_curves *curves);

#endif
