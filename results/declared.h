/*
 * declared: the metrics and series that a run has declared, each known by a small dense number.
 *
 * A metric here is what several series share: source, name, unit, kind, direction. A series is a
 * metric of one scope. Both tables only grow, so "what came since number n" is a range.
 */
#ifndef ZM_RESULTS_DECLARED_H
#define ZM_RESULTS_DECLARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/codec.h"
#include "results/recorder.h"
#include "workloads/sample.h"

struct zm_declared_metric {
	char *source;
	char *name;
	char *unit;
	enum zm_kind kind;
	enum zm_better better;
	bool is_float;
};

struct zm_declared_series {
	uint32_t metric;
	enum zm_scope scope;
	uint32_t scope_id;
};

struct zm_declared {
	struct zm_declared_metric *metrics;
	struct zm_declared_series *series;
	size_t nr_metrics, nr_series;
	size_t metrics_capacity, series_capacity;
	uint32_t *metric_slots, *series_slots; /* open addressing; a number + 1, or 0 */
	size_t nr_metric_slots, nr_series_slots;
};

void zm_declared_release(struct zm_declared *declared);

/* -EEXIST: that metric name and scope are there already (from whatever source). -ENOMEM. */
int zm_declared_add(struct zm_declared *declared, const struct zm_series_desc *desc,
		    uint32_t *ret_series);

enum zm_form zm_declared_form(const struct zm_declared *declared, size_t series);

/* What came since these numbers, and reading it back (the numbers must go on where the table ends;
 * -EUCLEAN, -ENOMEM). */
void zm_declared_put(struct zm_buf *buf, const struct zm_declared *declared, size_t from_metric,
		     size_t from_series);
int zm_declared_get(struct zm_cursor *cursor, struct zm_declared *declared);

#endif
