/*
 * changes: from which night on is it different? A metric's history, one value a night, as somebody sees it
 * who looks every morning.
 *
 * Each night the values since the last change (the last ZM_CHANGES_WINDOW at most) are split at every place
 * that leaves ZM_CHANGES_LEAST on both sides. Where the energy of the split (energy.h) is above what chance
 * alone gives one night in 1,000, and the medians differ by the margin or more, there is a change; the next
 * nights are then looked at from there. So it is E-divisive with the permutation test's level set for one who
 * looks again and again (as Ross and Adams 2012 do with ranks): the level depends on how many nights there
 * are and on nothing else, because the ranks' distribution does not depend on the values'. What holds for
 * normal noise holds for noise with outliers, too.
 *
 * All that one bad night can do, however bad, is to have the first or the last rank: that is no change. It is
 * listed as an outlier: away from its level's median by more than the margin and by ZM_CHANGES_OUTLIER
 * times the MAD.
 *
 *     asked       it was seen, and a run that has nothing to do with the nights is to tell
 *     confirmed   that run found a change in the same direction
 *     withdrawn   that run found that there is none, or one in the other direction
 *
 * Nights that resemble their neighbours (a machine that wanders for days) are not noise to it: such a
 * wandering is a change.
 */
#ifndef ZM_RESULTS_CHANGES_H
#define ZM_RESULTS_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "results/judge.h"

#define ZM_CHANGES_WINDOW  60
#define ZM_CHANGES_LEAST   3 /* nights on each side */
#define ZM_CHANGES_OUTLIER 5

enum zm_change_state {
	ZM_CHANGE_ASKED,
	ZM_CHANGE_CONFIRMED,
	ZM_CHANGE_WITHDRAWN,
};

const char *zm_change_state_name(enum zm_change_state state); /* "asked" */

struct zm_change {
	size_t first; /* the first night that is different: an index of the values given */
	size_t seen;  /* the night after which it was seen */
	enum zm_change_state state;
	double energy; /* the greatest of all splits, when it was seen */
	/* The nights before it against those from `first` to `seen`. Chosen because they differ: the
	 * interval and p flatter; the confirmation's do not. */
	struct zm_judgement nights;
	struct zm_judgement confirmation; /* method NONE while it is asked */
};

struct zm_changes {
	struct zm_change *changes;
	size_t *outliers; /* indexes of the values given */
	size_t nr, nr_outliers, capacity;
};

/* values[i]: of night i, in order; NaN: there is none, the night is left out. The same values give the same
 * changes, and more nights behind them do not alter those that were found before. judge: its margin and
 * is_share, and its level for the intervals. -ENOMEM; -EINVAL: a value is infinite. */
int zm_changes_find(struct zm_judge *judge, const double *values, size_t nr,
		    struct zm_changes *ret_changes);
void zm_changes_release(struct zm_changes *changes);

/* With the values of the confirmation run, before (as it was before the change) and after. What they cannot
 * tell stays asked. -ENOMEM. */
int zm_change_settle(struct zm_judge *judge, struct zm_change *change, const double *before,
		     size_t nr_before, const double *after, size_t nr_after);

/* The label of the confirmation runs of nights of that label: "nightly confirmation" of "nightly"; cut to size.
 * Their launches are values of no night. Returns buf. */
char *zm_change_confirmation(char *buf, size_t size, const char *label);
bool zm_change_is_confirmation(const char *label); /* NULL: no */

/* For who computes the levels: the greatest energy that is no change, of so many nights. Below
 * 2 * ZM_CHANGES_LEAST nights it is infinite. */
double zm_changes_level(size_t nr_nights);

#endif
