/* standing: where a figure stands after its last night. */
#include "results/web/standing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "workloads/base/cleanup.h"

#define WEEK 7

static const char *const kind_names[] = {
	[ZM_STANDING_FEW] = "few",
	[ZM_STANDING_STEADY] = "steady",
	[ZM_STANDING_CHANGED] = "changed",
};

const char *zm_standing_name(enum zm_standing_kind kind)
{
	return kind_names[kind];
}

/* --- a trend --- */

static size_t count_values(const struct zm_trend *trend, size_t from, size_t to)
{
	size_t nr = 0;

	for (size_t i = from; i < to; i++)
		nr += isnan(trend->values[i].value) ? 0 : 1;
	return nr;
}

/* The values of some nights, the last ones when there are more than the window holds. */
static size_t take_values(const struct zm_trend *trend, size_t from, size_t to,
			  double ret_values[ZM_CHANGES_WINDOW])
{
	size_t nr = 0, at;

	for (at = to; at > from && nr < ZM_CHANGES_WINDOW; at--)
		nr += isnan(trend->values[at - 1].value) ? 0 : 1;
	nr = 0;
	for (; at < to; at++) {
		if (!isnan(trend->values[at].value))
			ret_values[nr++] = trend->values[at].value;
	}
	return nr;
}

/* The last invocation of a night: what confirms it came later. */
static uint32_t end_of(const struct zm_group *group, size_t night)
{
	uint32_t first = group->nights[night].first_run, last = 0;
	uint32_t nr = group->nights[night].nr_ok + group->nights[night].nr_failed;

	for (uint32_t i = first; i < first + nr; i++)
		last = group->runs[i].invocation > last ? group->runs[i].invocation : last;
	return last;
}

/* By the confirmation runs between the night on which it was seen and that on which the next one was. */
static int settle(struct zm_judge *judge, const struct zm_group *group, const struct zm_line *line,
		  struct zm_trend *trend, size_t which)
{
	struct zm_changes *changes = &trend->changes;
	struct zm_change *change = &changes->changes[which];
	size_t from = which ? changes->changes[which - 1].first : 0, nr;
	uint32_t next = which + 1 < changes->nr ? end_of(group, changes->changes[which + 1].seen)
						: UINT32_MAX;
	double before[ZM_CHANGES_WINDOW];
	zm_autofree double *after = calloc(line->nr + 1, sizeof(*after));

	if (!after)
		return -ENOMEM;
	nr = zm_line_confirming(group, line, end_of(group, change->seen), next, after);
	return nr ? zm_change_settle(judge, change, before,
				     take_values(trend, from, change->first, before), after, nr)
		  : 0;
}

int zm_trend_make(struct zm_judge *judge, const struct zm_group *group, const struct zm_line *line,
		  struct zm_trend *ret_course)
{
	struct zm_trend trend = { .nr = group->nr_nights };
	zm_autofree double *middles = calloc(trend.nr + 1, sizeof(*middles));
	int error;

	trend.values = calloc(trend.nr + 1, sizeof(*trend.values));
	if (!middles || !trend.values) {
		free(trend.values);
		return -ENOMEM;
	}
	error = zm_line_nights(group, line, trend.values);
	for (size_t i = 0; i < trend.nr && !error; i++)
		middles[i] = trend.values[i].value;
	if (!error)
		error = zm_changes_find(judge, middles, trend.nr, &trend.changes);
	for (size_t i = 0; i < trend.changes.nr && !error; i++)
		error = settle(judge, group, line, &trend, i);
	if (error)
		zm_trend_release(&trend);
	else
		*ret_course = trend;
	return error;
}

void zm_trend_release(struct zm_trend *trend)
{
	free(trend->values);
	zm_changes_release(&trend->changes);
	*trend = (struct zm_trend){ 0 };
}

bool zm_trend_is_few(const struct zm_trend *trend)
{
	return count_values(trend, 0, trend->nr) < 2 * ZM_CHANGES_LEAST;
}

int zm_trend_judge(struct zm_judge *judge, const struct zm_trend *trend, size_t change,
		   struct zm_judgement *ret_judgement)
{
	const struct zm_changes *changes = &trend->changes;
	size_t from = change ? changes->changes[change - 1].first : 0;
	size_t to = change + 1 < changes->nr ? changes->changes[change + 1].first : trend->nr;
	double before[ZM_CHANGES_WINDOW], after[ZM_CHANGES_WINDOW];
	size_t nr_before = take_values(trend, from, changes->changes[change].first, before);
	size_t nr_after = take_values(trend, changes->changes[change].first, to, after);

	return zm_judge_samples(judge, before, nr_before, after, nr_after, ret_judgement);
}

bool zm_trend_is_recent(const struct zm_trend *trend, size_t change, size_t recent)
{
	const struct zm_change *found = &trend->changes.changes[change];

	return found->state != ZM_CHANGE_WITHDRAWN &&
	       count_values(trend, found->first, trend->nr) <= recent;
}

/* --- a standing --- */

enum zm_verdict zm_standing_verdict(double change, enum zm_better better)
{
	if (better == ZM_BETTER_NEITHER || isnan(change) || change == 0)
		return ZM_VERDICT_CHANGED;
	return (change > 0) == (better == ZM_BETTER_MORE) ? ZM_VERDICT_BETTER : ZM_VERDICT_WORSE;
}

static void find_last(const struct zm_trend *trend, struct zm_standing *standing)
{
	standing->last = NAN;
	for (size_t i = 0; i < trend->nr; i++) {
		if (isnan(trend->values[i].value))
			continue;
		standing->nr_nights++;
		standing->last_night = i;
		standing->last = trend->values[i].value;
	}
	for (size_t i = 0; i < trend->changes.nr_outliers; i++)
		standing->is_outlier |=
			standing->nr_nights && trend->changes.outliers[i] == standing->last_night;
}

/* The last week, or the last half of what there is, against the nights before, since the last change. */
static int judge_steady(struct zm_judge *judge, const struct zm_trend *trend,
			struct zm_standing *standing)
{
	const struct zm_changes *changes = &trend->changes;
	size_t from = changes->nr ? changes->changes[changes->nr - 1].first : 0;
	double values[ZM_CHANGES_WINDOW];
	size_t nr = take_values(trend, from, trend->nr, values);
	size_t nr_last = nr / 2 < WEEK ? nr / 2 : WEEK;
	int error = zm_judge_samples(judge, values, nr - nr_last, values + nr - nr_last, nr_last,
				     &standing->judgement);

	if (error)
		return error;
	standing->kind = ZM_STANDING_STEADY;
	/* What is smaller than what matters is no change. */
	if (standing->judgement.is_ratio)
		standing->judgement.detectable =
			fmax(standing->judgement.detectable, judge->margin);
	standing->verdict = zm_judge_verdict(judge, &standing->judgement, 1, ZM_BETTER_NEITHER);
	return 0;
}

int zm_standing_make(struct zm_judge *judge, const struct zm_trend *trend, enum zm_better better,
		     size_t recent, struct zm_standing *ret_standing)
{
	struct zm_standing standing = { .verdict = ZM_VERDICT_NOT_ENOUGH };
	size_t last = trend->changes.nr;
	int error = 0;

	find_last(trend, &standing);
	standing.judgement.change = NAN;
	while (last > 0 && trend->changes.changes[last - 1].state == ZM_CHANGE_WITHDRAWN)
		last--;
	if (last > 0 && zm_trend_is_recent(trend, last - 1, recent)) {
		standing.kind = ZM_STANDING_CHANGED;
		standing.change = last - 1;
		error = zm_trend_judge(judge, trend, last - 1, &standing.judgement);
		standing.verdict = zm_standing_verdict(standing.judgement.change, better);
	} else if (standing.nr_nights >= 2 * ZM_CHANGES_LEAST) {
		error = judge_steady(judge, trend, &standing);
	}
	if (!error)
		*ret_standing = standing;
	return error;
}
