/*
 * compare: one set of runs against others.
 *
 *     side      what one word of the command line means: the base, then up to seven to compare with it
 *     cell      what was asked for (workload and parameters); only the same cell is compared
 *     metric    one figure of a cell, on all sides
 *
 * The unit is the *boot*: the runs of one boot are one value, their mean, since whatever differs
 * between two boots (layout of memory, say) moves all of them together. Only where each side is a
 * single boot are its runs the values; the verdicts then say so, unless it is the same boot.
 *
 * Sides that took turns in one boot (neighbours in time), or that have the same boots, three at least, are
 * pairs: what moves both alike drops out.
 *
 * What others measured (results/outside.h) is of zonemark's own cell when it is the only one of that
 * workload with the same number of tasks, and the same mode where that is said; its other parameters are
 * not known. Else it is of a cell of its own.
 *
 * Verdicts are given on primary metrics only, and corrected for their number. Everything else is an
 * explanation: ranked, with the share of false ones to expect among it and those above (q). Runs that
 * failed are compared by their own denominators, and give no figure.
 */
#ifndef ZM_RESULTS_COMPARE_H
#define ZM_RESULTS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "results/judge.h"
#include "results/outside.h"
#include "results/pool.h"
#include "results/runset.h"
#include "results/store.h"

#define ZM_COMPARE_SIDES 8

struct zm_compare_side {
	const char *name; /* as typed */
	struct zm_store *store;
	struct zm_runset runs;
	const struct zm_outside
		*outside; /* instead of a store's runs: what others measured; or NULL */
	size_t nr_ok, nr_failed, nr_boots; /* in all cells */
	const char *kernels;               /* "6.18.0, 6.18.1" */
};

/* A side's values of a metric. */
struct zm_compare_values {
	double *values; /* one a boot, or one a run */
	size_t nr;
	size_t nr_runs;
};

/* What came out of one side against the base. */
struct zm_compare_outcome {
	struct zm_judgement judgement;
	double p; /* corrected: Holm's for a verdict, q for an explanation */
	enum zm_verdict verdict;
	size_t nr_needed;      /* values a side; 0: settled, SIZE_MAX: too many */
	bool is_between_boots; /* what differs between two boots is in it: one boot a side */
	bool is_within_boots;  /* it is not in it: both sides are of the same boots */
	double floor; /* the noise floor that counts for it; a smaller change gets no verdict */
};

struct zm_compare_metric {
	const char *name, *unit, *source;
	enum zm_better better;
	bool is_primary;
	bool is_share; /* in percent: changes are in points */
	/* The most by which one kernel was seen to differ from itself on this machine (results/noise.h), as
	 * the judge's margin is: within one boot, and however; 0: not measured. */
	double floor_one_boot, floor;
	struct zm_compare_values sides[ZM_COMPARE_SIDES];
	struct zm_compare_outcome outcomes[ZM_COMPARE_SIDES]; /* [0] is not used */
};

struct zm_compare_cell {
	const char *workload;
	const char *cell;  /* JSON, as text */
	const char *words; /* the parameters in which it differs from the other cells */
	struct zm_compare_metric *metrics; /* primary ones first, then by rank */
	size_t nr_metrics, nr_primary;
	struct {
		size_t nr_ok, nr_failed, nr_boots;
		double p; /* of the failures against the base's: Fisher's test, Holm's correction */
	} sides[ZM_COMPARE_SIDES];
};

/* Something about the machine that is not the same on all sides. */
struct zm_compare_difference {
	const char *key;
	const char *values[ZM_COMPARE_SIDES]; /* several: "a | b" */
};

struct zm_compare {
	struct zm_compare_side *sides;
	size_t nr_sides;
	struct zm_compare_cell *cells; /* that the base and another side have */
	size_t nr_cells, nr_lone;      /* nr_lone: those that only one side has */
	struct zm_compare_difference *differences;
	size_t nr_differences;
	size_t nr_verdicts; /* what the correction is for */
	size_t nr_of[ZM_VERDICT_CHANGED + 1];
	struct zm_judge judge;
	struct zm_pool pool;
};

struct zm_compare_options {
	struct zm_judge judge;
	bool with_series; /* take what the monitors' series did in the window as explanations, too */
};

/* sides[0] is the base; they must live as long as the comparison. -ENODATA and the sentence: they have
 * nothing in common. */
int zm_compare_make(struct zm_compare_side *sides, size_t nr_sides,
		    const struct zm_compare_options *options, struct zm_compare **ret_compare,
		    struct zm_why *why);
void zm_compare_free(struct zm_compare *compare);

/* Of a cell's runs that failed, against the base's: worse or better where chance does not explain it, else too
 * noisy; not enough: none failed, or a side has no run. */
enum zm_verdict zm_compare_failures(const struct zm_compare *compare,
				    const struct zm_compare_cell *cell, size_t side);

#endif
