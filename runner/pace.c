/* pace: a ring of the last rates for the present, Welford's sums for the whole. */
#include "runner/pace.h"

#include <math.h>

#define DRIFT 0.05
#define JUMP  0.20

void zm_pace_start(struct zm_pace *pace, uint64_t interval_ns, uint64_t t_ns, uint64_t ops)
{
	*pace = (struct zm_pace){
		.least_ns = interval_ns / 2, .t_ns = t_ns, .ops = ops, .now = pace->now
	};
}

void zm_pace_add(struct zm_pace *pace, uint64_t t_ns, uint64_t ops)
{
	uint64_t interval_ns = t_ns - pace->t_ns;
	double count = (double)(ops - pace->ops);
	double rate, off;

	if (interval_ns < pace->least_ns || interval_ns == 0)
		return;
	rate = count * 1e9 / (double)interval_ns;
	pace->rates[pace->nr % ZM_PACE_LAST] = rate;
	pace->counts[pace->nr % ZM_PACE_LAST] = count;
	pace->nr++;
	pace->now = rate;
	off = rate - pace->mean;
	pace->mean += off / pace->nr;
	pace->squares += off * (rate - pace->mean);
	pace->t_ns = t_ns;
	pace->ops = ops;
}

double zm_pace_now(const struct zm_pace *pace)
{
	return pace->now;
}

bool zm_pace_can_judge(const struct zm_pace *pace)
{
	return pace->nr >= ZM_PACE_LAST;
}

bool zm_pace_is_steady(const struct zm_pace *pace)
{
	double sum = 0, count = 0, drift = 0, least = INFINITY, most = 0;

	if (!zm_pace_can_judge(pace))
		return false;
	for (unsigned int i = 0; i < ZM_PACE_LAST; i++) {
		double rate = pace->rates[(pace->nr + i) % ZM_PACE_LAST]; /* oldest first */

		sum += rate;
		count += pace->counts[i];
		drift += i < ZM_PACE_LAST / 2 ? -rate : rate;
		least = fmin(least, rate);
		most = fmax(most, rate);
	}
	if (count <= 0)
		return false;
	/* An interval of n operations is known to 1 in n. */
	double coarse = ZM_PACE_LAST / count;

	return fabs(drift) / (sum / 2) <= fmax(DRIFT, 2 * coarse) &&
	       (most - least) / (sum / ZM_PACE_LAST) <= fmax(JUMP, 2 * coarse);
}

double zm_pace_spread(const struct zm_pace *pace)
{
	if (pace->nr < 2 || !(pace->mean > 0))
		return -1;
	return 100 * sqrt(pace->squares / (pace->nr - 1)) / pace->mean;
}
