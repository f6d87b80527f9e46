/*
 * standing: where a figure stands after its last night.
 *
 *     few       too few nights to say anything
 *     steady    no change in the last nights: how far the last week is from the nights before, and the smallest
 *               change that would have been seen
 *     changed   a change (results/changes.h) is among the last nights: the nights since against those before
 */
#ifndef ZM_RESULTS_WEB_STANDING_H
#define ZM_RESULTS_WEB_STANDING_H

#include "results/changes.h"
#include "results/web/nights.h"

enum zm_standing_kind {
	ZM_STANDING_FEW,
	ZM_STANDING_STEADY,
	ZM_STANDING_CHANGED,
};

const char *zm_standing_name(enum zm_standing_kind kind);

/* A line's nights and what was found in them. */
struct zm_trend {
	struct zm_night_value *values; /* of each night of the group */
	size_t nr;
	struct zm_changes changes;
};

/* -ENOMEM, -EINVAL (a value is infinite). */
int zm_trend_make(struct zm_judge *judge, const struct zm_group *group, const struct zm_line *line,
		  struct zm_trend *ret_course);
/* Too few nights have a value to say anything. */
bool zm_trend_is_few(const struct zm_trend *trend);
void zm_trend_release(struct zm_trend *trend);

/* The nights between the change before and the one after against those since, as many as the window holds.
 * -ENOMEM. */
int zm_trend_judge(struct zm_judge *judge, const struct zm_trend *trend, size_t change,
		   struct zm_judgement *ret_judgement);

/* Is it among the last `recent` nights that have a value, and not withdrawn? */
bool zm_trend_is_recent(const struct zm_trend *trend, size_t change, size_t recent);

struct zm_standing {
	enum zm_standing_kind kind;
	enum zm_verdict verdict; /* better, worse or changed; same, or too noisy to say so */
	struct zm_judgement judgement;
	size_t change;     /* of the trend, when it is changed: the last one */
	size_t nr_nights;  /* with a value */
	size_t last_night; /* of the group's; only when there is one */
	double last;       /* its value; NaN: there is none */
	bool is_outlier;   /* the last one */
};

/* -ENOMEM. */
int zm_standing_make(struct zm_judge *judge, const struct zm_trend *trend, enum zm_better better,
		     size_t recent, struct zm_standing *ret_standing);

/* Is an increase of that sign good? */
enum zm_verdict zm_standing_verdict(double change, enum zm_better better);

#endif
