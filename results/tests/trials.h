/*
 * trials: comparisons whose truth is known, for tests and benchmarks of the judge.
 *
 *     draw         a value: normal, skewed or with outliers, around 100
 *     trials_run   so many comparisons of two samples; counts alarms, and intervals that hold the truth
 *
 * Pairs drift together by up to a twentieth from one to the next.
 */
#ifndef ZM_RESULTS_TESTS_TRIALS_H
#define ZM_RESULTS_TESTS_TRIALS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/judge.h"
#include "workloads/base/random.h"

#define TRIALS_MOST 30 /* values a side */

enum shape {
	NORMAL,
	SKEWED,   /* log-normal, as run times are */
	OUTLIERS, /* one in twenty three times as far */
	NR_SHAPES,
};

struct trials {
	uint64_t seed;
	enum shape shape;
	size_t nr_base, nr_new;
	bool is_paired;
	double cv, ratio; /* of a value; of the two sides, in truth */
	size_t nr;
	/* what came out */
	size_t nr_alarms, nr_held, nr_unbounded, nr_errors;
};

static inline double draw(struct zm_random *random, enum shape shape, double cv)
{
	double z = zm_normal_quantile(zm_random_unit(random) * (1 - 2e-12) + 1e-12);

	if (shape == OUTLIERS && zm_random_below(random, 20) == 0)
		z *= 3;
	return shape == SKEWED ? 100 * exp(cv * z) : 100 * (1 + cv * z);
}

static inline void draw_sides(const struct trials *trials, struct zm_random *random, double *base,
			      double *new)
{
	double drift = 1;

	for (size_t i = 0; i < trials->nr_base; i++) {
		drift *= trials->is_paired ? 1 + 0.05 * zm_random_unit(random) : 1;
		base[i] = drift * draw(random, trials->shape, trials->cv);
		if (trials->is_paired)
			new[i] = drift *draw(random, trials->shape, trials->cv) * trials->ratio;
	}
	for (size_t i = 0; i < trials->nr_new && !trials->is_paired; i++)
		new[i] = draw(random, trials->shape, trials->cv) * trials->ratio;
}

/* At the judge's level. */
static inline void trials_run(struct trials *trials, struct zm_judge *judge)
{
	struct zm_random random;

	zm_random_init(&random, trials->seed, trials->shape);
	judge->is_paired = trials->is_paired;
	for (size_t i = 0; i < trials->nr; i++) {
		double base[TRIALS_MOST], new[TRIALS_MOST], truth = trials->ratio - 1;
		struct zm_judgement judgement;

		draw_sides(trials, &random, base, new);
		if (zm_judge_samples(judge, base, trials->nr_base, new, trials->nr_new,
				     &judgement)) {
			trials->nr_errors++;
			continue;
		}
		trials->nr_alarms += (size_t)(judgement.p <= judge->alpha);
		trials->nr_held += (size_t)(judgement.low <= truth && judgement.high >= truth);
		trials->nr_unbounded += isinf(judgement.high) ? 1 : 0;
	}
	judge->is_paired = false;
}

/* How far chance alone takes a share of nr trials, three and a half times out of ten thousand. */
static inline double chance(double share, size_t nr)
{
	return 3.5 * sqrt(share * (1 - share) / (double)nr);
}

#endif
