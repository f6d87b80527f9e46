/*
 * peers: many machines of one model, and which of them differ.
 *
 *     model      product, processor, sockets, memory: by each machine's newest inventory
 *     machine    one value of a metric: the median over its boots of the means of their runs
 *     metric     a primary figure of a cell, of the machines of one model
 *
 * Each metric's machines are looked at by results/outlier.h; the metrics' smallest p are corrected by Holm for how
 * many there are, and a machine's by as much as its metric's. So the chance of even one false name among
 * all that is said is alpha.
 */
#ifndef ZM_RESULTS_PEERS_H
#define ZM_RESULTS_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "results/outlier.h"
#include "results/pool.h"
#include "results/query.h"
#include "results/store.h"

struct zm_peers_machine {
	const char *id;
	size_t model;          /* index */
	const char *inventory; /* JSON, as text */
	int64_t row;           /* in the store */
};

struct zm_peers_value {
	size_t machine; /* index */
	double value, change;
	double p; /* corrected for everything */
	bool is_outlier;
	size_t nr_boots, nr_runs;
};

struct zm_peers_metric {
	size_t model;
	const char *workload, *cell, *words; /* the parameters in which it differs from others */
	const char *name, *unit;
	enum zm_better better;
	struct zm_peers_value *values; /* outliers first */
	size_t nr_values, nr_outliers;
	bool is_ratio;
	double median, sd;
	double detectable; /* NaN: too few machines */
};

struct zm_peers {
	const char **models;
	struct zm_peers_machine *machines;
	struct zm_peers_metric *metrics;
	size_t nr_models, nr_machines, nr_metrics;
	size_t nr_comparisons; /* machines times metrics that were judged */
	size_t nr_few;         /* metrics with too few machines */
	struct zm_pool pool;
};

struct zm_peers_options {
	const char *kernel, *label; /* shell patterns; NULL: any */
	double alpha, power;        /* 0.05, 0.8 */
	double margin; /* the smallest difference that matters: share, or points / 100 */
};

/* -ENODATA: no machine has a primary figure. */
int zm_peers_read(struct zm_store *store, const struct zm_peers_options *options,
		  struct zm_peers **ret_fleet, struct zm_why *why);
void zm_peers_free(struct zm_peers *peers);

/* In what a machine's inventory is not as most of its model's: "microcode 0x11 (others 0x12), …"; "" when in
 * nothing. Returns buf. */
char *zm_peers_differences(const struct zm_peers *peers, size_t machine, char *buf, size_t size);

#endif
