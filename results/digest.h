/*
 * digest: what a run comes to.
 *
 *     figures   the derived results, each with its spread over the window's intervals and over the
 *               launches of the same cell in the same command
 *     metrics   every series in the measured window: a count as a rate, a gauge as its mean over time,
 *               with the spread over the intervals, one entry per scope (task, CPU, node…)
 *     hists     the histograms of the window, the scopes' added
 *     curves    throughput and used memory over the whole run
 *
 * What is shown of a run as text, as JSON, as a page, is made of this. A run that did not get to its
 * measured window has the whole of it as its window, and says so.
 */
#ifndef ZM_RESULTS_DIGEST_H
#define ZM_RESULTS_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/pool.h"
#include "results/query.h"
#include "results/series.h"
#include "results/stat.h"
#include "results/throughput.h"

struct zm_digest_scope {
	uint32_t id;
	double value;        /* per second, or the mean; NaN: nothing was read in the window */
	double count;        /* of a count: what it rose by */
	uint64_t covered_ns; /* over this time */
	size_t nr_readings;  /* in the window */
	uint32_t flags;      /* of all its readings there */
	struct zm_spread spread;
};

struct zm_digest_metric {
	struct zm_series_desc desc; /* of its first series; the texts are in the pool */
	struct zm_digest_scope *scopes;
	size_t nr_scopes, scopes_capacity;
	double total;                 /* of the scopes' values */
	struct zm_spread over_scopes; /* of the scopes' values */
};

struct zm_digest_hist {
	struct zm_series_desc desc;
	size_t nr_scopes;
	struct zm_hist *hist; /* what was added in the window */
};

struct zm_digest_figure {
	const struct zm_result *result;
	struct zm_spread within;   /* nr 0: its intervals are not known */
	struct zm_spread launches; /* the values of all launches of the cell; nr 1: this one only */
};

/* Points to be joined by lines. A rate has two for each interval: its ends. */
struct zm_digest_curve {
	const char *unit;
	double *x_s; /* since the first phase began */
	double *y;
	size_t nr;
};

struct zm_digest {
	struct zm_run_view *view;
	bool is_measured; /* the window is the measured phase */
	uint64_t t0_ns, t1_ns;
	struct zm_digest_figure *figures; /* in the order of view->results */
	struct zm_digest_metric *metrics;
	struct zm_digest_hist *hists;
	size_t nr_metrics, nr_hists;
	struct zm_throughput throughput;
	struct zm_digest_curve rate_curve, used_curve;
	struct zm_launches launches; /* of the throughput */
	size_t nr_damaged;           /* series that could not be read */
	struct zm_pool pool;
};

/* metric: a shell pattern that narrows the metrics and histograms; NULL: all. */
int zm_digest_make(struct zm_store *store, uint64_t run, const char *metric,
		   struct zm_digest **ret_digest, struct zm_why *why);
void zm_digest_free(struct zm_digest *digest);

const struct zm_digest_metric *zm_digest_metric(const struct zm_digest *digest, const char *metric);

/* "pages/s": a count's unit per second, or the unit itself. Returns buf. */
char *zm_digest_unit(char *buf, size_t size, const struct zm_series_desc *desc);

#endif
