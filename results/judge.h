/*
 * judge: has it changed? Two samples of independent values in, an estimate with its interval out, and a
 * verdict that says what these values can and cannot show.
 *
 * The values are judged on the scale of their logarithms, so a change is a ratio; when one is not
 * positive, or when the caller says that it is a share (%), as they are, and a change is a difference.
 *
 *     values a side   method
 *     5 and more      ranks    Hodges and Lehmann's shift, with the exact interval and test of Mann and
 *                              Whitney: no assumption about the distribution
 *     2 to 4          welch    means, Welch's t: the ranks of so few can show nothing at 5 %
 *     1 against 3…    one      the one against the others' spread (t with their degrees of freedom)
 *     fewer           none
 *
 * When the caller says that they are pairs (taken in turns, so that what drifts moves both alike), it is
 * their differences that are judged:
 *
 *     8 and more      pairs    the median of the differences' means two by two, with the exact interval and
 *                              test of Wilcoxon's signed ranks
 *     2 to 7          pairs-t  t of the differences: the ranks of so few can show nothing once several
 *                              verdicts are corrected for
 *
 * Verdicts. `margin` is the smallest change that matters, or the noise floor where that is larger:
 *
 *     better, worse   the test says so at the level after correction for the number of verdicts, and the
 *                     estimate is at least the margin
 *     same            the interval lies within plus and minus the margin
 *     too noisy       neither
 *     not enough      no method applies
 *
 * What could have been shown is said with each: the smallest true change that would have been found with
 * the stated power, and how many values a side it would take.
 */
#ifndef ZM_RESULTS_JUDGE_H
#define ZM_RESULTS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "results/dist.h"
#include "workloads/sample.h"

enum zm_method {
	ZM_METHOD_NONE,
	ZM_METHOD_ONE,
	ZM_METHOD_WELCH,
	ZM_METHOD_RANKS,
	ZM_METHOD_PAIRS_T,
	ZM_METHOD_PAIRS,
};

enum zm_verdict {
	ZM_VERDICT_NOT_ENOUGH,
	ZM_VERDICT_TOO_NOISY,
	ZM_VERDICT_SAME,
	ZM_VERDICT_BETTER,
	ZM_VERDICT_WORSE,
	ZM_VERDICT_CHANGED, /* of a metric that is neither better nor worse */
};

const char *zm_method_name(enum zm_method method); /* "ranks" */
bool zm_method_is_paired(enum zm_method method);
const char *zm_verdict_name(enum zm_verdict verdict); /* "too noisy" */

struct zm_judge {
	double alpha;  /* of one verdict: 0.05 */
	double power;  /* 0.8 */
	double margin; /* the smallest change that matters, as a share: 0.01 */
	bool is_share; /* the values are percentages: judge differences, the margin in points */
	bool is_paired; /* the values are pairs: as many on both sides, each with the other's of its place */
	struct zm_u u; /* the last ones that were needed; zeroed to begin with */
	struct zm_w w;
};

void zm_judge_release(struct zm_judge *judge);

struct zm_judgement {
	enum zm_method method;
	bool is_ratio;
	size_t nr_base, nr_new;
	double base, new; /* medians */
	double change;    /* new / base - 1, or new - base; NaN without values on one side */
	double low,
		high; /* its interval at 1 - alpha; NaN without a method, infinite when unbounded */
	double p;     /* two-sided */
	double sd; /* of one value (pairs: of a difference) on the scale that is judged, pooled; NaN when
		       * not known */
	double detectable; /* the smallest change found with `power`; NaN when not known */
};

/* 0; -ENOMEM; -EINVAL: pairs, and not as many on both sides. */
int zm_judge_samples(struct zm_judge *judge, const double *base, size_t nr_base, const double *new,
		     size_t nr_new, struct zm_judgement *ret_judgement);

/* p: after correction (zm_judge_holm), or the judgement's own. */
enum zm_verdict zm_judge_verdict(const struct zm_judge *judge, const struct zm_judgement *judgement,
				 double p, enum zm_better better);

/* The change that nr_base and nr_new values of that spread (sd) find with `power`. */
double zm_judge_detectable(struct zm_judge *judge, size_t nr_base, size_t nr_new, double sd,
			   bool is_ratio);

/* How many values on each side would settle it: show the change that was estimated if it is at least the
 * margin, else that it is the same. 0: it is settled; SIZE_MAX: more than ZM_JUDGE_MOST. */
#define ZM_JUDGE_MOST 1000
size_t zm_judge_needed(struct zm_judge *judge, const struct zm_judgement *judgement,
		       enum zm_verdict verdict);

/* Corrected p values, in place of their own: Holm (1979) keeps the chance of even one false alarm among
 * all at the level; Benjamini and Hochberg (1995) the share of false ones among those that are called.
 * NaN stay NaN and are not counted. */
int zm_judge_holm(double *p, size_t nr);
int zm_judge_bh(double *p, size_t nr);

#endif
