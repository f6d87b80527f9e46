/*
 * judge: has it changed?
 *
 *     scale -> method by the numbers of values -> estimate, interval, p -> back to ratios
 */
#include "results/judge.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/stat.h"

#define RANKS_FROM     5
#define ONE_FROM       3
#define PAIRS_FROM     8                  /* as sure as ranks of five a side */
#define RANKS_TO_MEANS 0.9549296585513721 /* 3 / pi: the ranks' efficiency for normal values */

static const char *const method_names[] = {
	[ZM_METHOD_NONE] = "none",   [ZM_METHOD_ONE] = "one",         [ZM_METHOD_WELCH] = "welch",
	[ZM_METHOD_RANKS] = "ranks", [ZM_METHOD_PAIRS_T] = "pairs-t", [ZM_METHOD_PAIRS] = "pairs",
};

static const char *const verdict_names[] = {
	[ZM_VERDICT_NOT_ENOUGH] = "not enough",
	[ZM_VERDICT_TOO_NOISY] = "too noisy",
	[ZM_VERDICT_SAME] = "same",
	[ZM_VERDICT_BETTER] = "better",
	[ZM_VERDICT_WORSE] = "worse",
	[ZM_VERDICT_CHANGED] = "changed",
};

const char *zm_method_name(enum zm_method method)
{
	return method_names[method];
}

bool zm_method_is_paired(enum zm_method method)
{
	return method == ZM_METHOD_PAIRS_T || method == ZM_METHOD_PAIRS;
}

const char *zm_verdict_name(enum zm_verdict verdict)
{
	return verdict_names[verdict];
}

void zm_judge_release(struct zm_judge *judge)
{
	zm_u_release(&judge->u);
	zm_w_release(&judge->w);
}

/* Many metrics have the same numbers of values, so the last table is kept. */
static int need_u(struct zm_judge *judge, size_t n1, size_t n2)
{
	if (judge->u.cdf && judge->u.n1 == n1 && judge->u.n2 == n2)
		return 0;
	zm_u_release(&judge->u);
	return zm_u_make(&judge->u, n1, n2);
}

static int need_w(struct zm_judge *judge, size_t n)
{
	if (judge->w.cdf && judge->w.n == n)
		return 0;
	zm_w_release(&judge->w);
	return zm_w_make(&judge->w, n);
}

static enum zm_method method_for_pairs(size_t nr)
{
	if (nr >= PAIRS_FROM && nr <= ZM_W_MAX)
		return ZM_METHOD_PAIRS;
	return nr >= 2 ? ZM_METHOD_PAIRS_T : ZM_METHOD_NONE;
}

static enum zm_method method_for(const struct zm_judge *judge, size_t nr_base, size_t nr_new)
{
	size_t fewer = nr_base < nr_new ? nr_base : nr_new;
	size_t more = nr_base < nr_new ? nr_new : nr_base;

	if (judge->is_paired)
		return method_for_pairs(fewer);
	if (fewer >= RANKS_FROM && more <= ZM_U_MAX)
		return ZM_METHOD_RANKS;
	if (fewer >= 2)
		return ZM_METHOD_WELCH;
	return fewer == 1 && more >= ONE_FROM ? ZM_METHOD_ONE : ZM_METHOD_NONE;
}

/* On the scale that is judged. */
struct scaled {
	double *base, *new;
	size_t nr_base, nr_new;
};

struct estimate {
	double shift, low, high, p;
};

static bool all_positive(const double *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(values[i] > 0))
			return false;
	}
	return true;
}

static double variance(const double *values, size_t nr)
{
	double sd = zm_stat_sd(values, nr);

	return nr < 2 ? 0 : sd * sd;
}

/* Of one value, from both sides by their degrees of freedom. */
static double pooled_sd(const struct scaled *scaled)
{
	double freedom = (double)(scaled->nr_base > 1 ? scaled->nr_base - 1 : 0) +
			 (double)(scaled->nr_new > 1 ? scaled->nr_new - 1 : 0);
	double squares = 0;

	if (scaled->nr_base > 1)
		squares += variance(scaled->base, scaled->nr_base) * (double)(scaled->nr_base - 1);
	if (scaled->nr_new > 1)
		squares += variance(scaled->new, scaled->nr_new) * (double)(scaled->nr_new - 1);
	return freedom > 0 ? sqrt(squares / freedom) : (double)NAN;
}

/* Of a pair's difference. */
static double sd_of_pairs(const struct scaled *scaled)
{
	double mean = zm_stat_mean(scaled->new, scaled->nr_new) -
		      zm_stat_mean(scaled->base, scaled->nr_base);
	double squares = 0;

	for (size_t i = 0; i < scaled->nr_base; i++) {
		double off = scaled->new[i] - scaled->base[i] - mean;

		squares += off * off;
	}
	return scaled->nr_base < 2 ? (double)NAN : sqrt(squares / (double)(scaled->nr_base - 1));
}

/* From a shift with its standard error. Without any spread a shift is certain. */
static void by_t(double shift, double error, double freedom, double alpha,
		 struct estimate *ret_estimate)
{
	double reach = error > 0 ? zm_t_quantile(1 - alpha / 2, freedom) * error : 0;

	*ret_estimate =
		(struct estimate){ .shift = shift, .low = shift - reach, .high = shift + reach };
	if (error > 0)
		ret_estimate->p = 2 * zm_t_cdf(-fabs(shift) / error, freedom);
	else
		ret_estimate->p = shift == 0;
}

static void by_welch(const struct scaled *scaled, double alpha, struct estimate *ret_estimate)
{
	double n1 = (double)scaled->nr_base, n2 = (double)scaled->nr_new;
	double v1 = variance(scaled->base, scaled->nr_base) / n1;
	double v2 = variance(scaled->new, scaled->nr_new) / n2;
	double freedom = (v1 + v2) * (v1 + v2) / (v1 * v1 / (n1 - 1) + v2 * v2 / (n2 - 1));

	by_t(zm_stat_mean(scaled->new, scaled->nr_new) -
		     zm_stat_mean(scaled->base, scaled->nr_base),
	     sqrt(v1 + v2), freedom, alpha, ret_estimate);
}

/* One side has a single value: the spread is the other's. */
static void by_one(const struct scaled *scaled, double alpha, struct estimate *ret_estimate)
{
	double more = (double)(scaled->nr_base > scaled->nr_new ? scaled->nr_base : scaled->nr_new);

	by_t(zm_stat_mean(scaled->new, scaled->nr_new) -
		     zm_stat_mean(scaled->base, scaled->nr_base),
	     pooled_sd(scaled) * sqrt(1 + 1 / more), more - 1, alpha, ret_estimate);
}

static void take_differences(const struct scaled *scaled, double *ret_differences)
{
	for (size_t i = 0; i < scaled->nr_base; i++)
		ret_differences[i] = scaled->new[i] - scaled->base[i];
}

/* The pairs' differences against none. */
static int by_pairs_t(const struct scaled *scaled, double alpha, struct estimate *ret_estimate)
{
	size_t nr = scaled->nr_base;
	double *differences = calloc(nr, sizeof(*differences));

	if (!differences)
		return -ENOMEM;
	take_differences(scaled, differences);
	by_t(zm_stat_mean(differences, nr), zm_stat_sd(differences, nr) / sqrt((double)nr),
	     (double)nr - 1, alpha, ret_estimate);
	free(differences);
	return 0;
}

/* The largest k with P(U <= k - 1) <= alpha / 2 (or W): the interval ends at the kth differences from
 * below and from above. */
static size_t rank_of(const double *cdf, size_t all, double alpha)
{
	size_t k = 0;

	while (k < all && cdf[k] <= alpha / 2)
		k++;
	return k;
}

/* Two-sided, of sorted differences: U (or W) is the number of those below 0; a tie counts half, and what
 * is not whole is rounded towards the middle. */
static double rank_p(const double *cdf, const double *sorted, size_t all)
{
	size_t below = 0, ties = 0, twice;
	double p;

	for (size_t i = 0; i < all; i++) {
		below += sorted[i] < 0;
		ties += sorted[i] == 0;
	}
	twice = 2 * below + ties;
	if (twice > all)
		twice = 2 * all - twice;
	p = 2 * cdf[(twice + 1) / 2];
	return p < 1 ? p : 1;
}

/* From all differences there are, and the distribution of how many of them are below 0. */
static void from_differences(double *differences, size_t all, const double *cdf, double alpha,
			     struct estimate *ret_estimate)
{
	size_t k = rank_of(cdf, all, alpha);

	zm_stat_sort(differences, all);
	*ret_estimate = (struct estimate){
		.shift = zm_stat_quantile(differences, all, 0.5),
		.low = k ? differences[k - 1] : -HUGE_VAL,
		.high = k ? differences[all - k] : HUGE_VAL,
		.p = rank_p(cdf, differences, all),
	};
}

static int by_ranks(struct zm_judge *judge, const struct scaled *scaled,
		    struct estimate *ret_estimate)
{
	size_t all = scaled->nr_base * scaled->nr_new, at = 0;
	double *differences = malloc(all * sizeof(*differences));
	int error = differences ? need_u(judge, scaled->nr_base, scaled->nr_new) : -ENOMEM;

	if (!error) {
		/* the differences are nearly sorted then */
		zm_stat_sort(scaled->new, scaled->nr_new);
		for (size_t i = 0; i < scaled->nr_base; i++) {
			for (size_t j = 0; j < scaled->nr_new; j++)
				differences[at++] = scaled->new[j] - scaled->base[i];
		}
		from_differences(differences, all, judge->u.cdf, judge->alpha, ret_estimate);
	}
	free(differences);
	return error;
}

/* Of the pairs' differences all means of two, each with itself too (Walsh's averages): as many of them
 * are below 0 as the negative ranks' sum is. */
static int by_pairs(struct zm_judge *judge, const struct scaled *scaled,
		    struct estimate *ret_estimate)
{
	size_t nr = scaled->nr_base, all = nr * (nr + 1) / 2, at = 0;
	double *differences = malloc((nr + all) * sizeof(*differences));
	int error = differences ? need_w(judge, nr) : -ENOMEM;

	if (!error) {
		double *means = differences + nr;

		take_differences(scaled, differences);
		for (size_t i = 0; i < nr; i++) {
			for (size_t j = i; j < nr; j++)
				means[at++] = (differences[i] + differences[j]) / 2;
		}
		from_differences(means, all, judge->w.cdf, judge->alpha, ret_estimate);
	}
	free(differences);
	return error;
}

static double from_scale(double shift, bool is_ratio)
{
	return is_ratio ? expm1(shift) : shift;
}

static int make_scaled(const double *base, size_t nr_base, const double *new, size_t nr_new,
		       bool is_ratio, struct scaled *ret_scaled)
{
	double *values = malloc((nr_base + nr_new + 1) * sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < nr_base; i++)
		values[i] = is_ratio ? log(base[i]) : base[i];
	for (size_t i = 0; i < nr_new; i++)
		values[nr_base + i] = is_ratio ? log(new[i]) : new[i];
	*ret_scaled = (struct scaled){
		.base = values, .new = values + nr_base, .nr_base = nr_base, .nr_new = nr_new
	};
	return 0;
}

static int estimate(struct zm_judge *judge, const struct scaled *scaled, enum zm_method method,
		    struct estimate *ret_estimate)
{
	switch (method) {
	case ZM_METHOD_RANKS:
		return by_ranks(judge, scaled, ret_estimate);
	case ZM_METHOD_WELCH:
		by_welch(scaled, judge->alpha, ret_estimate);
		return 0;
	case ZM_METHOD_ONE:
		by_one(scaled, judge->alpha, ret_estimate);
		return 0;
	case ZM_METHOD_PAIRS:
		return by_pairs(judge, scaled, ret_estimate);
	case ZM_METHOD_PAIRS_T:
		return by_pairs_t(scaled, judge->alpha, ret_estimate);
	case ZM_METHOD_NONE:
		break;
	}
	*ret_estimate = (struct estimate){ .shift = zm_stat_mean(scaled->new, scaled->nr_new) -
						    zm_stat_mean(scaled->base, scaled->nr_base),
					   .low = NAN,
					   .high = NAN,
					   .p = NAN };
	return 0;
}

int zm_judge_samples(struct zm_judge *judge, const double *base, size_t nr_base, const double *new,
		     size_t nr_new, struct zm_judgement *ret_judgement)
{
	bool is_ratio =
		!judge->is_share && all_positive(base, nr_base) && all_positive(new, nr_new);
	enum zm_method method = method_for(judge, nr_base, nr_new);
	struct estimate found;
	struct scaled scaled;
	int error;

	if (judge->is_paired && nr_base != nr_new)
		return -EINVAL;
	error = make_scaled(base, nr_base, new, nr_new, is_ratio, &scaled);
	if (error)
		return error;
	error = estimate(judge, &scaled, method, &found);
	if (!error) {
		*ret_judgement = (struct zm_judgement){
			.method = method,
			.is_ratio = is_ratio,
			.nr_base = nr_base,
			.nr_new = nr_new,
			.base = zm_stat_median(base, nr_base),
			.new = zm_stat_median(new, nr_new),
			.change = from_scale(found.shift, is_ratio),
			.low = from_scale(found.low, is_ratio),
			.high = from_scale(found.high, is_ratio),
			.p = found.p,
			.sd = judge->is_paired ? sd_of_pairs(&scaled) : pooled_sd(&scaled),
		};
		ret_judgement->detectable =
			zm_judge_detectable(judge, nr_base, nr_new, ret_judgement->sd, is_ratio);
	}
	free(scaled.base);
	return error;
}

/* The margin on the scale of the change. */
static double margin_of(const struct zm_judge *judge, const struct zm_judgement *judgement)
{
	if (judgement->is_ratio || judge->is_share)
		return judge->margin;
	return fabs(judgement->base) * judge->margin; /* a share of the base, where that is not 0 */
}

enum zm_verdict zm_judge_verdict(const struct zm_judge *judge, const struct zm_judgement *judgement,
				 double p, enum zm_better better)
{
	double margin = margin_of(judge, judgement);

	if (judgement->method == ZM_METHOD_NONE)
		return ZM_VERDICT_NOT_ENOUGH;
	if (judgement->low > -margin && judgement->high < margin)
		return ZM_VERDICT_SAME;
	if (judgement->low == 0 && judgement->high == 0)
		return ZM_VERDICT_SAME; /* no spread and no change, whatever the margin */
	if (!(p <= judge->alpha) || fabs(judgement->change) < margin)
		return ZM_VERDICT_TOO_NOISY;
	if (better == ZM_BETTER_NEITHER)
		return ZM_VERDICT_CHANGED;
	return (judgement->change > 0) == (better == ZM_BETTER_MORE) ? ZM_VERDICT_BETTER
								     : ZM_VERDICT_WORSE;
}

/* --- what could have been shown --- */

/* The level that ranks with this distribution really reach: the largest not above alpha that there is; 0:
 * none. Of many values it is as good as alpha. */
static double level_of(const double *cdf, size_t all, double alpha)
{
	double level = 0;

	for (size_t k = 0; k <= all && 2 * cdf[k] <= alpha; k++)
		level = 2 * cdf[k];
	return level;
}

static double level_of_ranks(struct zm_judge *judge, size_t nr_base, size_t nr_new)
{
	if (nr_base * nr_new > 400)
		return judge->alpha;
	if (need_u(judge, nr_base, nr_new))
		return NAN;
	return level_of(judge->u.cdf, nr_base * nr_new, judge->alpha);
}

static double level_of_pairs(struct zm_judge *judge, size_t nr)
{
	if (nr > 25)
		return judge->alpha;
	if (need_w(judge, nr))
		return NAN;
	return level_of(judge->w.cdf, nr * (nr + 1) / 2, judge->alpha);
}

/* Welch's degrees of freedom for equal spreads, less what it loses by estimating both (as simulation
 * shows it: 1.3, which leaves 1.2 of the 2 that two values a side have). */
static double freedom_of_welch(double n1, double n2)
{
	double freedom = (1 / n1 + 1 / n2) * (1 / n1 + 1 / n2) /
			 (1 / (n1 * n1 * (n1 - 1)) + 1 / (n2 * n2 * (n2 - 1)));

	return fmax(freedom - 1.3, fmin(freedom, 1.2));
}

double zm_judge_detectable(struct zm_judge *judge, size_t nr_base, size_t nr_new, double sd,
			   bool is_ratio)
{
	enum zm_method method = method_for(judge, nr_base, nr_new);
	double n1 = (double)nr_base, n2 = (double)nr_new;
	double error = sd * sqrt(1 / n1 + 1 / n2), freedom = n1 + n2 - 2, level = judge->alpha;

	if (method == ZM_METHOD_NONE || isnan(sd))
		return NAN;
	if (zm_method_is_paired(method)) {
		error = sd / sqrt(n1);
		freedom = n1 - 1;
	}
	if (method == ZM_METHOD_WELCH)
		freedom = freedom_of_welch(n1, n2);
	if (method == ZM_METHOD_RANKS) {
		level = level_of_ranks(judge, nr_base, nr_new);
		error /= sqrt(RANKS_TO_MEANS);
	}
	if (method == ZM_METHOD_PAIRS) {
		level = level_of_pairs(judge, nr_base);
		error /= sqrt(RANKS_TO_MEANS);
	}
	if (level == 0)
		return HUGE_VAL;
	return from_scale(
		(zm_t_quantile(1 - level / 2, freedom) + zm_t_quantile(judge->power, freedom)) *
			error,
		is_ratio);
}

/* Half the interval's length with so many values a side. */
static double reach(const struct zm_judge *judge, size_t nr, double sd, bool is_ratio)
{
	double sides = judge->is_paired ? 1 : 2; /* a pair's spread is of both already */
	double freedom = sides * ((double)nr - 1);

	return from_scale(zm_t_quantile(1 - judge->alpha / 2, freedom) * sd *
				  sqrt(sides / (double)nr),
			  is_ratio);
}

size_t zm_judge_needed(struct zm_judge *judge, const struct zm_judgement *judgement,
		       enum zm_verdict verdict)
{
	double margin = margin_of(judge, judgement), size = fabs(judgement->change);
	size_t fewer =
		judgement->nr_base < judgement->nr_new ? judgement->nr_base : judgement->nr_new;

	if (verdict != ZM_VERDICT_TOO_NOISY && verdict != ZM_VERDICT_NOT_ENOUGH)
		return 0;
	if (isnan(judgement->sd) || isnan(size))
		return RANKS_FROM; /* nothing is known of the spread: what a first look takes */
	for (size_t nr = fewer < 2 ? 2 : fewer + 1; nr <= ZM_JUDGE_MOST; nr++) {
		double sd = judgement->sd;

		if (size >= margin
			    ? zm_judge_detectable(judge, nr, nr, sd, judgement->is_ratio) <= size
			    : reach(judge, nr, sd, judgement->is_ratio) <= margin - size)
			return nr;
	}
	return SIZE_MAX;
}

/* --- corrections for the number of verdicts --- */

struct ranked {
	double p;
	size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Sorted, without those that are NaN. */
static struct ranked *rank(const double *p, size_t nr, size_t *ret_nr)
{
	struct ranked *ranked = malloc((nr + 1) * sizeof(*ranked));

	*ret_nr = 0;
	if (!ranked)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		if (!isnan(p[i]))
			ranked[(*ret_nr)++] = (struct ranked){ .p = p[i], .at = i };
	}
	qsort(ranked, *ret_nr, sizeof(*ranked), compare_ranked);
	return ranked;
}

int zm_judge_holm(double *p, size_t nr)
{
	size_t nr_ranked;
	struct ranked *ranked = rank(p, nr, &nr_ranked);
	double most = 0;

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < nr_ranked; i++) {
		most = fmax(most, ranked[i].p * (double)(nr_ranked - i));
		p[ranked[i].at] = most < 1 ? most : 1;
	}
	free(ranked);
	return 0;
}

int zm_judge_bh(double *p, size_t nr)
{
	size_t nr_ranked;
	struct ranked *ranked = rank(p, nr, &nr_ranked);
	double least = 1;

	if (!ranked)
		return -ENOMEM;
	for (size_t i = nr_ranked; i-- > 0;) {
		least = fmin(least, ranked[i].p * (double)nr_ranked / (double)(i + 1));
		p[ranked[i].at] = least;
	}
	free(ranked);
	return 0;
}
