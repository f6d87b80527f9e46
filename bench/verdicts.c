/*
 * verdicts: does the judge keep what it promises? As the tests of results/judge, with many more trials.
 *
 *     verdicts [TRIALS]     20,000 of each line; a minute
 *
 * A line is a method with so many values a side (a+b), of normal, skewed or outlying values with a spread of
 * 2 %: how often it raises an alarm when nothing has changed (at most 5 %), how often its 95 % interval holds
 * a change of 5 %, and how often it finds the change from which it says that it sees (80 %). Last, how often
 * twenty verdicts at once raise any alarm. Exit 1 when one of them is further off than chance takes it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/dist.h"
#include "results/judge.h"
#include "results/tests/trials.h"
#include "workloads/base/units.h"

#define SPREAD 0.02
#define CHANGE 1.05
#define MANY   20

static const char *const shape_names[] = {
	[NORMAL] = "normal", [SKEWED] = "skewed", [OUTLIERS] = "outliers"
};

static double share(size_t nr, size_t of)
{
	return (double)nr / (double)of;
}

/* Values a little further than promised are no miss of one value against few: it takes their distribution for
 * normal, as is said of it. */
static double slack(const struct trials *trials)
{
	bool is_one = trials->nr_base == 1 || trials->nr_new == 1;

	return is_one && trials->shape == OUTLIERS ? 0.02 : 0;
}

/* Of the true spread; skewed values are those whose logarithms are normal, as it assumes. */
static double find_power(struct zm_judge *judge, struct trials trials)
{
	double spread = trials.is_paired ? SPREAD * sqrt(2) : SPREAD;

	judge->is_paired = trials.is_paired;
	trials.ratio = 1 + zm_judge_detectable(judge, trials.nr_base, trials.nr_new, spread, true);
	trials_run(&trials, judge);
	return share(trials.nr_alarms, trials.nr);
}

static bool line(struct zm_judge *judge, struct trials trials)
{
	struct trials none = trials, some = trials;
	double alarms, held, power = NAN, off = slack(&trials);
	bool is_kept;

	none.ratio = 1;
	some.ratio = CHANGE;
	trials_run(&none, judge);
	trials_run(&some, judge);
	alarms = share(none.nr_alarms, trials.nr);
	held = share(some.nr_held, trials.nr);
	if (trials.shape == SKEWED)
		power = find_power(judge, trials);
	is_kept = alarms <= 0.05 + off + chance(0.05, trials.nr) &&
		  held >= 0.95 - off - chance(0.95, trials.nr) && none.nr_errors == 0 &&
		  !(power < 0.75 || power > 0.86);
	(void)printf("%2zu+%-2zu %-6s %-9s %6.2f %8.2f ", trials.nr_base, trials.nr_new,
		     trials.is_paired ? "pairs" : "", shape_names[trials.shape], 100 * alarms,
		     100 * held);
	if (isnan(power))
		(void)printf("%8s", "");
	else
		(void)printf("%8.2f", 100 * power);
	(void)printf("%s\n", is_kept ? "" : "   MISSED");
	return is_kept;
}

/* Nothing has changed in any of them. */
static bool any_alarm(struct zm_judge *judge, struct zm_random *random, bool *ret_any)
{
	const struct trials none = { .nr_base = 10, .nr_new = 10, .cv = SPREAD, .ratio = 1 };
	double p[MANY];

	*ret_any = false;
	for (size_t i = 0; i < MANY; i++) {
		double base[TRIALS_MOST], new[TRIALS_MOST];
		struct zm_judgement judgement;

		draw_sides(&none, random, base, new);
		if (zm_judge_samples(judge, base, 10, new, 10, &judgement))
			return false;
		p[i] = judgement.p;
	}
	if (zm_judge_holm(p, MANY))
		return false;
	for (size_t i = 0; i < MANY; i++)
		*ret_any |= p[i] <= judge->alpha;
	return true;
}

static bool many(struct zm_judge *judge, size_t nr)
{
	struct zm_random random;
	size_t nr_any = 0;
	bool is_kept = true;

	zm_random_init(&random, 4711, 0);
	for (size_t i = 0; i < nr && is_kept; i++) {
		bool has_any;

		is_kept = any_alarm(judge, &random, &has_any);
		nr_any += has_any;
	}
	is_kept &= share(nr_any, nr) <= 0.05 + chance(0.05, nr);
	(void)printf("%d at once, any alarm: %.2f%s\n", MANY, 100 * share(nr_any, nr),
		     is_kept ? "" : "   MISSED");
	return is_kept;
}

int main(int argc, char **argv)
{
	static const struct {
		size_t nr_base, nr_new;
		bool is_paired;
	} sizes[] = {
		{ 2, 2, false },   { 3, 3, false },  { 4, 4, false }, { 3, 6, false },
		{ 5, 5, false },   { 6, 6, false },  { 8, 8, false }, { 10, 10, false },
		{ 20, 20, false }, { 5, 20, false }, { 1, 6, false }, { 10, 1, false },
		{ 3, 3, true },    { 5, 5, true },   { 7, 7, true },  { 8, 8, true },
		{ 10, 10, true },  { 20, 20, true },
	};
	struct zm_judge judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 };
	uint64_t nr = 20000;
	bool is_kept = true;

	if (argc > 2 || (argc == 2 && (zm_units_parse_u64(argv[1], &nr) < 0 || nr == 0))) {
		(void)fprintf(stderr, "usage: verdicts [TRIALS]\n");
		return 2;
	}
	(void)printf("values       of        alarms  holding   power  (%%, of %" PRIu64
		     " trials)\n",
		     nr);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (enum shape shape = 0; shape < NR_SHAPES; shape++)
			is_kept &= line(&judge, (struct trials){ .seed = 1000 + i,
								 .shape = shape,
								 .nr_base = sizes[i].nr_base,
								 .nr_new = sizes[i].nr_new,
								 .is_paired = sizes[i].is_paired,
								 .cv = SPREAD,
								 .nr = nr });
	}
	is_kept &= many(&judge, nr);
	zm_judge_release(&judge);
	return is_kept ? 0 : 1;
}
