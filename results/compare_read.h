/*
 * compare_read: the runs of all sides as samples: which cell, which metric, which side, which boot, which
 * value. Inside compare only.
 */
#ifndef ZM_RESULTS_COMPARE_READ_H
#define ZM_RESULTS_COMPARE_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/compare.h"

struct zm_sample {
	uint64_t start_ns; /* of the run, by its boot's monotonic clock; 0: not known */
	uint32_t boot;     /* a number of its side */
	double value;
};

struct zm_samples {
	struct zm_sample *samples;
	size_t nr, capacity;
};

struct zm_read_metric {
	const char *name, *unit, *source;
	enum zm_better better;
	bool is_primary;
	struct zm_samples sides[ZM_COMPARE_SIDES];
};

struct zm_read_cell {
	const char *workload, *cell, *params;
	struct zm_read_metric *metrics;
	size_t nr_metrics, capacity;
	uint32_t *slots; /* open addressing by name; a number + 1, or 0 */
	size_t nr_slots;
	struct {
		size_t nr_ok, nr_failed;
		struct zm_samples boots; /* a sample per good run, for the number of boots */
	} sides[ZM_COMPARE_SIDES];
};

/* A boot of one side. */
struct zm_read_boot {
	const char *machine, *boot, *kernel;
	uint32_t in_base; /* its number on the base's side; UINT32_MAX: none */
};

struct zm_read {
	struct zm_read_cell *cells;
	size_t nr_cells, capacity;
	struct {
		struct zm_read_boot *boots;
		size_t nr_boots, capacity;
		json_t **inventories; /* each different one once */
		const char **inventory_texts;
		size_t nr_inventories, inventories_capacity;
	} sides[ZM_COMPARE_SIDES];
};

/* Texts are in the pool. */
int zm_compare_read(struct zm_compare *compare, bool with_series, struct zm_read *ret_read,
		    struct zm_why *why);
void zm_compare_read_release(struct zm_read *read, size_t nr_sides);

/* Samples here are sorted by boot, and by time within one. */
size_t zm_compare_nr_boots(const struct zm_samples *samples);

/* By run as they are, by boot their means. *ret_values has room for all of them. */
size_t zm_compare_values(const struct zm_samples *samples, bool by_run, double *ret_values);

/* Is either side of a single boot, and both of the same? */
bool zm_compare_is_one_boot(const struct zm_read *read, const struct zm_read_metric *metric,
			    size_t side);

/* Values of the base and the side that belong together, two by two; *ret_nr 0: none do. Either has room for
 * all samples. -ENOMEM. */
int zm_compare_pairs(const struct zm_read *read, const struct zm_read_metric *metric, size_t side,
		     double *ret_base, double *ret_new, size_t *ret_nr);

/* What the machines' inventories do not have in common, into compare->differences. */
int zm_compare_environment(struct zm_compare *compare, const struct zm_read *read);

/* The noise floors that the sides' stores hold for their machines, into the metrics that get verdicts. */
int zm_compare_noise(struct zm_compare *compare, const struct zm_read *read, struct zm_why *why);

#endif
