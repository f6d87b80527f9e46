/*
 * looks: fractions of the values and of the error in, one level per look out.
 *
 * The statistic at fraction t is B(t) / sqrt(t) of a Brownian motion B. `density` is that of B at the
 * last look, as far as no look has ended it: on a grid over [-border, border]. The next border is found by
 * bisection so that exactly the next part of the error lies beyond it.
 */
#include "results/looks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "results/dist.h"

#define FIRST_AT 4
#define NR_GRID  401 /* odd: for Simpson's rule */
#define NR_HALVE 60
#define FAR      40.0 /* standard deviations: nothing is beyond */

struct motion {
	double border, fraction;
	double density[NR_GRID];
};

void zm_looks_plan(size_t most, bool is_sequential, struct zm_looks *ret_looks)
{
	struct zm_looks looks = { .nr = 0 };
	size_t at = FIRST_AT;

	while (is_sequential && at < most && looks.nr + 1 < ZM_LOOKS_MOST) {
		looks.at[looks.nr++] = at;
		at += at / 2;
	}
	looks.at[looks.nr++] = most;
	*ret_looks = looks;
}

static double normal_density(double x)
{
	return exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double grid_at(const struct motion *motion, size_t i)
{
	return motion->border * (2.0 * (double)i / (NR_GRID - 1) - 1);
}

static double simpson(const struct motion *motion, size_t i)
{
	double step = 2 * motion->border / (NR_GRID - 1);

	return step / 3 * (i == 0 || i == NR_GRID - 1 ? 1 : i % 2 ? 4 : 2);
}

/* How likely it goes on to this look, and is beyond `border` there. */
static double beyond(const struct motion *motion, double fraction, double border)
{
	double sd = sqrt(fraction - motion->fraction), sum = 0;

	if (motion->fraction == 0)
		return 2 * zm_normal_cdf(-border / sd);
	for (size_t i = 0; i < NR_GRID; i++) {
		double u = grid_at(motion, i);

		sum += simpson(motion, i) * motion->density[i] *
		       (zm_normal_cdf((u - border) / sd) + zm_normal_cdf((-border - u) / sd));
	}
	return sum;
}

static double find_border(const struct motion *motion, double fraction, double share)
{
	double low = 0, high = FAR * sqrt(fraction);

	for (unsigned int i = 0; i < NR_HALVE; i++) {
		double middle = (low + high) / 2;

		if (beyond(motion, fraction, middle) > share)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void step(struct motion *motion, double fraction, double border)
{
	double sd = sqrt(fraction - motion->fraction);
	struct motion before = *motion;

	motion->border = border;
	motion->fraction = fraction;
	for (size_t k = 0; k < NR_GRID; k++) {
		double x = grid_at(motion, k), sum = 0;

		for (size_t i = 0; before.fraction > 0 && i < NR_GRID; i++)
			sum += simpson(&before, i) * before.density[i] *
			       normal_density((x - grid_at(&before, i)) / sd) / sd;
		motion->density[k] = before.fraction > 0 ? sum : normal_density(x / sd) / sd;
	}
}

static int check(const double *fractions, const double *spent, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(fractions[i] > (i ? fractions[i - 1] : 0)) || fractions[i] > 1)
			return -EINVAL;
		if (!(spent[i] >= (i ? spent[i - 1] : 0)) || spent[i] >= 1)
			return -EINVAL;
	}
	return nr ? 0 : -EINVAL;
}

int zm_looks_levels(const double *fractions, const double *spent, size_t nr, double *ret_levels)
{
	struct motion *motion;
	int error = check(fractions, spent, nr);

	if (error)
		return error;
	motion = calloc(1, sizeof(*motion));
	if (!motion)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		double share = spent[i] - (i ? spent[i - 1] : 0);
		double border = find_border(motion, fractions[i], share);

		ret_levels[i] = 2 * zm_normal_cdf(-border / sqrt(fractions[i]));
		if (i + 1 < nr)
			step(motion, fractions[i], border);
	}
	free(motion);
	return 0;
}

/*
 * Holm's first step asks for level / nr_verdicts, which is what the borders for alpha / nr_verdicts give.
 * His later steps ask for less than the borders for alpha / (nr_verdicts - 1) … do, because borders are
 * the stricter, compared to their alpha, the smaller it is.
 */
int zm_looks_level(double alpha, const struct zm_looks *looks, size_t most, bool is_last,
		   size_t nr_verdicts, double *ret_level)
{
	double fractions[ZM_LOOKS_MOST], spent[ZM_LOOKS_MOST], levels[ZM_LOOKS_MOST];
	double each = alpha / (double)(nr_verdicts ? nr_verdicts : 1);
	int error;

	if (looks->nr == 0 || looks->nr > ZM_LOOKS_MOST)
		return -EINVAL;
	for (size_t i = 0; i < looks->nr; i++) {
		fractions[i] = (double)looks->at[i] / (double)most;
		spent[i] = each * (is_last && i + 1 == looks->nr ? 1 : fractions[i]);
	}
	error = zm_looks_levels(fractions, spent, looks->nr, levels);
	if (!error)
		*ret_level = levels[looks->nr - 1] * (double)(nr_verdicts ? nr_verdicts : 1);
	return error;
}
