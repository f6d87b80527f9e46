/*
 * outliers: how often `zonemark outliers` says a false name, and how often it finds a true one, by simulation.
 *
 *     outliers [TRIALS]       per number of machines: false alarms among normal values and among values with
 *                             heavier tails (t with 5 degrees of freedom); how often one machine, and two at once,
 *                             that stand where the stated detectable difference is are found
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/dist.h"
#include "results/outlier.h"
#include "workloads/base/random.h"

#define ALPHA  0.05
#define POWER  0.8
#define MOST   200
#define SPREAD 0.02 /* of the machines, as a share */

static double normal(struct zm_random *random)
{
	return zm_normal_quantile((zm_random_unit(random) + 0x1p-54) / (1 + 0x1p-53));
}

/* t with 5 degrees of freedom, scaled to a variance of 1. */
static double heavy(struct zm_random *random)
{
	double sum = 0;

	for (int i = 0; i < 5; i++)
		sum += pow(normal(random), 2);
	return normal(random) / sqrt(sum / 5) / sqrt(5. / 3);
}

struct trial {
	size_t nr_machines, nr_different;
	double shift; /* in standard deviations */
	double (*draw)(struct zm_random *random);
};

/* Is any of the machines from `first` to `last` called? */
static int is_called(const struct trial *trial, struct zm_random *random, size_t first, size_t last)
{
	double values[MOST];
	struct zm_outliers outliers;
	int called = 0;

	for (size_t i = 0; i < trial->nr_machines; i++)
		values[i] = exp(SPREAD * (trial->draw(random) +
					  (i < trial->nr_different ? trial->shift : 0)));
	if (zm_outliers_find(values, trial->nr_machines, false, &outliers) < 0)
		return 0;
	for (size_t i = first; i < last; i++)
		called = called || outliers.list[i].p < ALPHA;
	zm_outliers_release(&outliers);
	return called;
}

static double share(const struct trial *trial, struct zm_random *random, size_t first, size_t last,
		    long nr_trials)
{
	long nr = 0;

	for (long i = 0; i < nr_trials; i++)
		nr += is_called(trial, random, first, last);
	return 100 * (double)nr / (double)nr_trials;
}

int main(int argc, char **argv)
{
	static const size_t numbers[] = { 4, 5, 6, 8, 9, 10, 12, 15, 19, 20, 30, 50, 100, 200 };
	long nr_trials = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
	struct zm_random random;

	zm_random_init(&random, 1, 0);
	printf("%8s %8s %12s %12s %12s %12s %12s\n", "machines", "most", "false %", "heavy %",
	       "visible sd", "found %", "1st of 2 %");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		size_t nr = numbers[i];
		double sd = zm_outlier_detectable(nr, 1, false, ALPHA, POWER, (double)nr);
		struct trial none = { nr, 0, 0, normal }, tails = { nr, 0, 0, heavy };
		struct trial one = { nr, 1, sd, normal }, two = { nr, 2, sd, normal };

		printf("%8zu %8zu %12.2f %12.2f %12.2f %12.1f %12.1f\n", nr, zm_outlier_most(nr),
		       share(&none, &random, 0, nr, nr_trials),
		       share(&tails, &random, 0, nr, nr_trials), sd,
		       share(&one, &random, 0, 1, nr_trials),
		       zm_outlier_most(nr) < 2 ? NAN : share(&two, &random, 0, 1, nr_trials));
	}
	return 0;
}
