/*
 * calibrate: how close emulated builds come to real ones, figure by figure.
 *
 *     runs in the store --> a value per figure and run --> pairs (a real one, the emulated one after it)
 *                       --> the ratio of each figure, with its least and its most
 *
 * What a real build does is the measure: a ratio of 1 is the same.
 */
#ifndef ZM_RUNNER_CALIBRATE_H
#define ZM_RUNNER_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "results/store.h"
#include "workloads/base/why.h"

#define ZM_CALIBRATE_PAIRS 256 /* at most */

enum zm_calibrate_figure {
	ZM_CALIBRATE_PROCESSES,
	ZM_CALIBRATE_FAULTS,
	ZM_CALIBRATE_COMPILER_FAULTS,
	ZM_CALIBRATE_COMPILER_FAULTS_95,
	ZM_CALIBRATE_COMPILER_RSS,
	ZM_CALIBRATE_COMPILER_RSS_95,
	ZM_CALIBRATE_ALLOCATIONS,
	ZM_CALIBRATE_REFILLS,
	ZM_CALIBRATE_DRAINS,
	ZM_CALIBRATE_ORDERS,
	ZM_CALIBRATE_SYSTEM_SHARE,
	ZM_CALIBRATE_SWITCHES,
	ZM_CALIBRATE_USED,
	ZM_CALIBRATE_USED_PEAK,
	ZM_CALIBRATE_ANON,
	ZM_CALIBRATE_TABLES,
	ZM_CALIBRATE_UNIT_TIME,
	ZM_CALIBRATE_BUILD_TIME,
	ZM_CALIBRATE_USER_TIME,
	ZM_CALIBRATE_SYSTEM_TIME,
	ZM_NR_CALIBRATE_FIGURES,
};

const char *zm_calibrate_label(enum zm_calibrate_figure figure);

/* One figure's values, by pair; NaN: a run that has not got it. */
struct zm_calibrate_row {
	double real[ZM_CALIBRATE_PAIRS];
	double emulated[ZM_CALIBRATE_PAIRS];
};

struct zm_calibration {
	size_t nr_pairs;
	struct zm_calibrate_row rows[ZM_NR_CALIBRATE_FIGURES];
};

/* Adds a pair of runs. -ENOSPC: there are too many. */
int zm_calibrate_add(struct zm_calibration *calibration, struct zm_store *store, uint64_t real,
		     uint64_t emulated, struct zm_why *why);

/* Means over the pairs that have both, and of emulated over real the geometric mean, the least and the
 * most. False: no pair has both. */
struct zm_calibrate_result {
	double real, emulated;
	double ratio, least, most;
	size_t nr;
};
bool zm_calibrate_result(const struct zm_calibration *calibration, enum zm_calibrate_figure figure,
			 struct zm_calibrate_result *ret_result);

/* As a table; figures that are further than tolerance (0.1) from 1 are marked. */
void zm_calibrate_print(const struct zm_calibration *calibration, double tolerance, FILE *out);

/* The same as one JSON object. -ENOMEM. */
int zm_calibrate_print_json(const struct zm_calibration *calibration, double tolerance, FILE *out);

#endif
