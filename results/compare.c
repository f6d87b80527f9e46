/*
 * compare: one set of runs against others.
 *
 *     samples (compare_read) -> values by boot -> judgements -> corrections for their number -> verdicts
 */
#include "results/compare.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare_read.h"
#include "results/dist.h"
#include "results/words.h"

static int compare_samples(const void *a, const void *b)
{
	const struct zm_sample *x = a, *y = b;

	if (x->boot != y->boot)
		return x->boot > y->boot ? 1 : -1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void sort_by_boot(struct zm_samples *samples)
{
	if (samples->nr > 1)
		qsort(samples->samples, samples->nr, sizeof(*samples->samples), compare_samples);
}

/* The values of a side as a reader sees them: by boot when there are several. */
static int keep_values(struct zm_compare *compare, const struct zm_samples *samples,
		       struct zm_compare_values *ret_values)
{
	bool by_run = zm_compare_nr_boots(samples) == 1;

	ret_values->values =
		zm_pool_take(&compare->pool, (samples->nr + 1) * sizeof(*ret_values->values));
	if (!ret_values->values)
		return -ENOMEM;
	ret_values->nr = zm_compare_values(samples, by_run, ret_values->values);
	ret_values->nr_runs = samples->nr;
	return 0;
}

/* What is judged, and how it came about. */
struct judged {
	double *base, *new;
	size_t nr_base, nr_new;
	bool is_paired, by_run, is_one_boot;
};

/* Pairs where there are some; else two single boots run by run, anything else boot by boot. */
static int take_judged(const struct zm_read *read, const struct zm_read_metric *metric, size_t side,
		       struct judged *judged)
{
	const struct zm_samples *base = &metric->sides[0], *new = &metric->sides[side];
	int error =
		zm_compare_pairs(read, metric, side, judged->base, judged->new, &judged->nr_base);

	judged->by_run = zm_compare_nr_boots(base) == 1 && zm_compare_nr_boots(new) == 1;
	judged->is_one_boot = zm_compare_is_one_boot(read, metric, side);
	judged->is_paired = judged->nr_base > 0;
	judged->nr_new = judged->nr_base;
	if (error || judged->is_paired)
		return error;
	judged->nr_base = zm_compare_values(base, judged->by_run, judged->base);
	judged->nr_new = zm_compare_values(new, judged->by_run, judged->new);
	return 0;
}

static int judge_side(struct zm_compare *compare, const struct zm_read *read,
		      const struct zm_read_metric *from, struct zm_compare_metric *metric,
		      size_t side)
{
	size_t nr_base = from->sides[0].nr, nr_new = from->sides[side].nr;
	double *values = malloc((nr_base + nr_new + 1) * sizeof(*values));
	struct judged judged = { .base = values, .new = values + nr_base };
	struct zm_compare_outcome *outcome = &metric->outcomes[side];
	int error;

	if (!values)
		return -ENOMEM;
	error = take_judged(read, from, side, &judged);
	compare->judge.is_share = metric->is_share;
	compare->judge.is_paired = judged.is_paired;
	if (!error)
		error = zm_judge_samples(&compare->judge, judged.base, judged.nr_base, judged.new,
					 judged.nr_new, &outcome->judgement);
	outcome->p = outcome->judgement.p;
	outcome->is_between_boots = judged.by_run && !judged.is_one_boot;
	outcome->is_within_boots = judged.is_one_boot || judged.is_paired;
	free(values);
	return error;
}

static int judge_metric(struct zm_compare *compare, const struct zm_read *read,
			struct zm_read_metric *from, struct zm_compare_metric *metric)
{
	int error = 0;

	*metric = (struct zm_compare_metric){
		.name = from->name,
		.unit = from->unit,
		.source = from->source,
		.better = from->better,
		.is_primary = from->is_primary,
		.is_share = !strcmp(from->unit, "%"),
	};
	for (size_t side = 0; side < compare->nr_sides && !error; side++) {
		sort_by_boot(&from->sides[side]);
		error = keep_values(compare, &from->sides[side], &metric->sides[side]);
	}
	for (size_t side = 1; side < compare->nr_sides && !error; side++)
		error = judge_side(compare, read, from, metric, side);
	return error;
}

/* Has the base a value, and another side too? */
static bool is_common(const struct zm_compare *compare, const struct zm_read_metric *metric)
{
	for (size_t side = 1; side < compare->nr_sides; side++) {
		if (metric->sides[0].nr && metric->sides[side].nr)
			return true;
	}
	return false;
}

static int add_metrics(struct zm_compare *compare, const struct zm_read *read,
		       struct zm_read_cell *from, struct zm_compare_cell *cell)
{
	int error = 0;

	cell->metrics =
		zm_pool_take(&compare->pool, (from->nr_metrics + 1) * sizeof(*cell->metrics));
	if (!cell->metrics)
		return -ENOMEM;
	for (unsigned int primary = 2; primary-- > 0 && !error;) {
		for (size_t i = 0; i < from->nr_metrics && !error; i++) {
			if (from->metrics[i].is_primary != (bool)primary ||
			    !is_common(compare, &from->metrics[i]))
				continue;
			error = judge_metric(compare, read, &from->metrics[i],
					     &cell->metrics[cell->nr_metrics++]);
			cell->nr_primary += primary;
		}
	}
	return error;
}

static void count_runs(struct zm_compare *compare, struct zm_read_cell *from,
		       struct zm_compare_cell *cell)
{
	for (size_t side = 0; side < compare->nr_sides; side++) {
		sort_by_boot(&from->sides[side].boots);
		cell->sides[side].nr_ok = from->sides[side].nr_ok;
		cell->sides[side].nr_failed = from->sides[side].nr_failed;
		cell->sides[side].nr_boots = zm_compare_nr_boots(&from->sides[side].boots);
		cell->sides[side].p = NAN;
		compare->sides[side].nr_ok += from->sides[side].nr_ok;
		compare->sides[side].nr_failed += from->sides[side].nr_failed;
	}
}

static bool has_runs(const struct zm_read_cell *cell, size_t side)
{
	return cell->sides[side].nr_ok + cell->sides[side].nr_failed > 0;
}

static bool is_shared(const struct zm_compare *compare, const struct zm_read_cell *cell)
{
	for (size_t side = 1; side < compare->nr_sides; side++) {
		if (has_runs(cell, 0) && has_runs(cell, side))
			return true;
	}
	return false;
}

static int add_cells(struct zm_compare *compare, struct zm_read *read)
{
	int error = 0;

	compare->cells =
		zm_pool_take(&compare->pool, (read->nr_cells + 1) * sizeof(*compare->cells));
	if (!compare->cells)
		return -ENOMEM;
	for (size_t i = 0; i < read->nr_cells && !error; i++) {
		struct zm_read_cell *from = &read->cells[i];
		struct zm_compare_cell *cell = &compare->cells[compare->nr_cells];

		if (!is_shared(compare, from)) {
			compare->nr_lone++;
			continue;
		}
		cell->workload = from->workload;
		cell->cell = from->cell;
		compare->nr_cells++;
		count_runs(compare, from, cell);
		error = add_metrics(compare, read, from, cell);
	}
	return error;
}

/* --- corrections --- */

/* Calls each on the outcomes of all primary metrics, or of all others. */
static size_t each_outcome(struct zm_compare *compare, bool is_primary,
			   void (*each)(struct zm_compare *compare,
					struct zm_compare_metric *metric,
					struct zm_compare_outcome *outcome, double *p),
			   double *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < compare->nr_cells; i++) {
		struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_metrics; k++) {
			struct zm_compare_metric *metric = &cell->metrics[k];

			if (metric->is_primary != is_primary)
				continue;
			for (size_t side = 1; side < compare->nr_sides; side++)
				each(compare, metric, &metric->outcomes[side], p ? &p[nr++] : NULL);
		}
	}
	return nr;
}

static size_t nr_outcomes(const struct zm_compare *compare)
{
	size_t nr = 0;

	for (size_t i = 0; i < compare->nr_cells; i++)
		nr += compare->cells[i].nr_metrics;
	return nr * compare->nr_sides;
}

static void get_p(struct zm_compare *compare, struct zm_compare_metric *metric,
		  struct zm_compare_outcome *outcome, double *p)
{
	(void)metric;
	*p = outcome->judgement.p;
	compare->nr_verdicts += metric->is_primary && !isnan(*p);
}

static void set_p(struct zm_compare *compare, struct zm_compare_metric *metric,
		  struct zm_compare_outcome *outcome, double *p)
{
	(void)compare, (void)metric;
	outcome->p = *p;
}

/* What could have been shown is said at the level that one of so many verdicts has to reach. */
static void conclude(struct zm_compare *compare, struct zm_compare_metric *metric,
		     struct zm_compare_outcome *outcome, double *p)
{
	struct zm_judge *judge = &compare->judge;
	const struct zm_judgement *judgement = &outcome->judgement;
	double alpha = judge->alpha, margin = judge->margin;

	(void)p;
	judge->is_share = metric->is_share;
	judge->is_paired = zm_method_is_paired(judgement->method);
	outcome->floor = outcome->is_within_boots ? metric->floor_one_boot : metric->floor;
	judge->margin = fmax(margin, outcome->floor);
	outcome->verdict = zm_judge_verdict(judge, judgement, outcome->p, metric->better);
	if (!metric->is_primary) /* it has no floor */
		return;
	if (compare->nr_verdicts)
		judge->alpha = alpha / (double)compare->nr_verdicts;
	outcome->judgement.detectable = zm_judge_detectable(
		judge, judgement->nr_base, judgement->nr_new, judgement->sd, judgement->is_ratio);
	outcome->nr_needed = zm_judge_needed(judge, judgement, outcome->verdict);
	judge->alpha = alpha;
	judge->margin = margin;
	if (!isnan(judgement->change))
		compare->nr_of[outcome->verdict]++;
}

static int correct(struct zm_compare *compare)
{
	double *p = malloc((nr_outcomes(compare) + 1) * sizeof(*p));
	int error = p ? 0 : -ENOMEM;
	size_t nr;

	for (unsigned int primary = 0; primary < 2 && !error; primary++) {
		nr = each_outcome(compare, primary, get_p, p);
		error = primary ? zm_judge_holm(p, nr) : zm_judge_bh(p, nr);
		(void)each_outcome(compare, primary, set_p, p);
		(void)each_outcome(compare, primary, conclude, NULL);
	}
	free(p);
	return error;
}

/* Where nothing failed there is nothing to test, and nothing to correct for. */
static int test_failures(struct zm_compare *compare)
{
	double *p = malloc((compare->nr_cells * compare->nr_sides + 1) * sizeof(*p));
	size_t nr = 0;
	int error = p ? 0 : -ENOMEM;

	for (unsigned int pass = 0; pass < 2 && !error; pass++) {
		size_t at = 0;

		for (size_t i = 0; i < compare->nr_cells; i++) {
			struct zm_compare_cell *cell = &compare->cells[i];
			size_t base_failed = cell->sides[0].nr_failed;
			size_t base_nr = base_failed + cell->sides[0].nr_ok;

			for (size_t side = 1; side < compare->nr_sides; side++) {
				size_t failed = cell->sides[side].nr_failed;
				size_t side_nr = failed + cell->sides[side].nr_ok;

				if (base_failed + failed == 0 || base_nr == 0 || side_nr == 0)
					continue;
				if (pass == 0)
					p[nr++] = zm_fisher(base_failed, base_nr, failed, side_nr);
				else
					cell->sides[side].p = p[at++];
			}
		}
		if (pass == 0)
			error = zm_judge_holm(p, nr);
	}
	free(p);
	return error;
}

enum zm_verdict zm_compare_failures(const struct zm_compare *compare,
				    const struct zm_compare_cell *cell, size_t side)
{
	size_t base_failed = cell->sides[0].nr_failed, failed = cell->sides[side].nr_failed;
	size_t base_nr = base_failed + cell->sides[0].nr_ok;
	size_t nr = failed + cell->sides[side].nr_ok;

	if (isnan(cell->sides[side].p))
		return ZM_VERDICT_NOT_ENOUGH;
	if (cell->sides[side].p > compare->judge.alpha)
		return ZM_VERDICT_TOO_NOISY;
	return failed * base_nr > base_failed * nr ? ZM_VERDICT_WORSE : ZM_VERDICT_BETTER;
}

/* --- order and words --- */

static double best_p(const struct zm_compare_metric *metric)
{
	double best = HUGE_VAL;

	for (size_t side = 1; side < ZM_COMPARE_SIDES; side++) {
		if (metric->outcomes[side].judgement.method != ZM_METHOD_NONE)
			best = fmin(best, metric->outcomes[side].judgement.p);
	}
	return best;
}

static double largest_change(const struct zm_compare_metric *metric)
{
	double largest = 0;

	for (size_t side = 1; side < ZM_COMPARE_SIDES; side++) {
		const struct zm_judgement *judgement = &metric->outcomes[side].judgement;
		double change = judgement->is_ratio
					? log1p(judgement->change)
					: judgement->change / (fabs(judgement->base) + 1e-300);

		if (metric->sides[side].nr && !isnan(change))
			largest = fmax(largest, fabs(change));
	}
	return largest;
}

/* The surest first, and of those that are as sure the largest. */
static int compare_ranks(const void *a, const void *b)
{
	double p = best_p(a), q = best_p(b);
	double x = largest_change(a), y = largest_change(b);

	if (p != q)
		return p > q ? 1 : -1;
	return (x < y) - (x > y);
}

static void rank_explanations(struct zm_compare *compare)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		struct zm_compare_cell *cell = &compare->cells[i];
		size_t nr = cell->nr_metrics - cell->nr_primary;

		if (nr > 1)
			qsort(cell->metrics + cell->nr_primary, nr, sizeof(*cell->metrics),
			      compare_ranks);
	}
}

static int describe_sides(struct zm_compare *compare, const struct zm_read *read)
{
	for (size_t side = 0; side < compare->nr_sides; side++) {
		const struct zm_read_boot *boots = read->sides[side].boots;
		char text[256] = "";
		size_t used = 0;

		compare->sides[side].nr_boots = read->sides[side].nr_boots;
		for (size_t i = 0; i < read->sides[side].nr_boots; i++) {
			bool is_new = true;

			for (size_t k = 0; k < i && is_new; k++)
				is_new = strcmp(boots[k].kernel, boots[i].kernel) != 0;
			if (is_new && used < sizeof(text))
				used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
							 used ? ", " : "", boots[i].kernel);
		}
		compare->sides[side].kernels = zm_pool_text(&compare->pool, text);
	}
	return compare->pool.error;
}

static int add_words(struct zm_compare *compare)
{
	struct zm_words *sets = calloc(compare->nr_cells + 1, sizeof(*sets));
	int error = sets ? 0 : -ENOMEM;

	for (size_t i = 0; i < compare->nr_cells && !error; i++)
		sets[i] = (struct zm_words){ .group = compare->cells[i].workload,
					     .json = compare->cells[i].cell };
	if (!error)
		error = zm_words_differing(sets, compare->nr_cells, &compare->pool);
	for (size_t i = 0; i < compare->nr_cells && !error; i++)
		compare->cells[i].words = sets[i].words;
	free(sets);
	return error;
}

static int nothing_in_common(const struct zm_compare *compare, const struct zm_read *read,
			     struct zm_why *why)
{
	bool has_any[ZM_COMPARE_SIDES] = { false };

	for (size_t i = 0; i < read->nr_cells; i++) {
		for (size_t side = 0; side < compare->nr_sides; side++)
			has_any[side] |= has_runs(&read->cells[i], side);
	}
	for (size_t side = 0; side < compare->nr_sides; side++) {
		if (!has_any[side])
			return zm_why_set(why, -ENODATA,
					  "compare: %s has no run that went well or failed",
					  compare->sides[side].name);
	}
	return zm_why_set(why, -ENODATA,
			  "compare: no workload ran with the same parameters on %s and another "
			  "side; `zonemark runs --label …` shows what did",
			  compare->sides[0].name);
}

static int make(struct zm_compare *compare, const struct zm_compare_options *options,
		struct zm_why *why)
{
	struct zm_read read = { 0 };
	int error = zm_compare_read(compare, options->with_series, &read, why);

	if (error)
		return error;
	error = add_cells(compare, &read);
	if (!error && compare->nr_cells == 0)
		error = nothing_in_common(compare, &read, why);
	if (!error)
		error = zm_compare_noise(compare, &read, why);
	if (!error)
		error = correct(compare);
	if (!error)
		error = test_failures(compare);
	if (!error)
		error = zm_compare_environment(compare, &read);
	if (!error)
		error = describe_sides(compare, &read);
	if (!error)
		error = add_words(compare);
	rank_explanations(compare);
	zm_compare_read_release(&read, compare->nr_sides);
	return error ? error : compare->pool.error;
}

int zm_compare_make(struct zm_compare_side *sides, size_t nr_sides,
		    const struct zm_compare_options *options, struct zm_compare **ret_compare,
		    struct zm_why *why)
{
	struct zm_compare *compare = calloc(1, sizeof(*compare));
	int error;

	if (!compare)
		return -ENOMEM;
	compare->sides = sides;
	compare->nr_sides = nr_sides;
	compare->judge = options->judge;
	error = make(compare, options, why);
	if (error) {
		zm_compare_free(compare);
		return error == -ENOMEM ? zm_why_errno(why, error, "compare") : error;
	}
	*ret_compare = compare;
	return 0;
}

void zm_compare_free(struct zm_compare *compare)
{
	if (!compare)
		return;
	zm_judge_release(&compare->judge);
	zm_pool_release(&compare->pool);
	free(compare);
}
