/* shape: a change and its interval by the judge, held against the documented change. */
#include "runner/shape.h"

#include <math.h>

#include "results/judge.h"

#define FLAT  0.01 /* a change below it is none */
#define TIGHT 0.02 /* an interval within it shows that there is none */

/* From half to twice as much, as ratios. */
static bool has_size(double documented, double measured)
{
	double size = log1p(fmax(documented, -0.999999));
	double times = log1p(fmax(measured, -0.999999)) / size;

	return times >= 0.5 && times <= 2;
}

/* A change near 0 shows nothing when its interval is wide. */
static enum zm_shape judge_flat(double measured, double low, double high)
{
	bool is_tight = low > -TIGHT && high < TIGHT;

	if (low == high)
		return fabs(measured) < FLAT ? ZM_SHAPE_AGREES : ZM_SHAPE_DIFFERS;
	if (!is_tight && low <= 0 && high >= 0)
		return ZM_SHAPE_TOO_NOISY;
	return is_tight || fabs(measured) < FLAT ? ZM_SHAPE_AGREES : ZM_SHAPE_DIFFERS;
}

static enum zm_shape judge_change(double documented, double measured, double low, double high)
{
	if (low <= 0 && high >= 0)
		return low <= documented && documented <= high ? ZM_SHAPE_TOO_NOISY
							       : ZM_SHAPE_DIFFERS;
	if ((low > 0) != (documented > 0))
		return ZM_SHAPE_DIFFERS;
	return has_size(documented, measured) ? ZM_SHAPE_AGREES : ZM_SHAPE_DIRECTION;
}

static enum zm_shape judge(const struct zm_shape_found *found)
{
	double low = isnan(found->low) ? found->measured : found->low;
	double high = isnan(found->high) ? found->measured : found->high;

	if (isnan(found->documented) || isnan(found->measured))
		return ZM_SHAPE_UNKNOWN;
	if (fabs(found->documented) < FLAT)
		return judge_flat(found->measured, low, high);
	return judge_change(found->documented, found->measured, low, high);
}

int zm_shape_judge(double documented, const double *base, size_t nr_base, const double *new,
		   size_t nr_new, struct zm_shape_found *ret_found)
{
	struct zm_judge rules = { .alpha = 0.05, .power = 0.8, .margin = FLAT };
	struct zm_shape_found found = { .documented = documented };
	struct zm_judgement judgement;
	int r = zm_judge_samples(&rules, base, nr_base, new, nr_new, &judgement);

	zm_judge_release(&rules);
	if (r < 0)
		return r;
	found.measured = judgement.change;
	found.low = judgement.low;
	found.high = judgement.high;
	if (!judgement.is_ratio) {
		found.measured /= fabs(judgement.base);
		found.low /= fabs(judgement.base);
		found.high /= fabs(judgement.base);
	}
	if (!isfinite(found.measured))
		found.measured = NAN;
	found.shape = judge(&found);
	*ret_found = found;
	return 0;
}

void zm_shape_order(const double *documented, const double *measured, size_t nr, size_t *ret_same,
		    size_t *ret_pairs)
{
	size_t same = 0, pairs = 0;

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = i + 1; k < nr; k++) {
			double there = documented[k] - documented[i];
			double here = measured[k] - measured[i];

			if (isnan(here) || !(fabs(there) >= FLAT * fabs(documented[i])))
				continue;
			pairs++;
			same += (there > 0) == (here > 0) && here != 0;
		}
	}
	*ret_same = same;
	*ret_pairs = pairs;
}

const char *zm_shape_name(enum zm_shape shape)
{
	static const char *const names[] = {
		[ZM_SHAPE_UNKNOWN] = "nothing to hold against it",
		[ZM_SHAPE_AGREES] = "as documented",
		[ZM_SHAPE_DIRECTION] = "direction as documented, size not",
		[ZM_SHAPE_TOO_NOISY] = "too noisy to tell",
		[ZM_SHAPE_DIFFERS] = "differs",
	};

	return names[shape];
}
