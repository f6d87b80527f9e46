/* stat: centre and spread of a few numbers. */
#include "results/stat.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Neumaier's sum. */
struct sum {
	double sum;
	double lost; /* what the additions so far have rounded away */
};

static void sum_add(struct sum *sum, double value)
{
	double next = sum->sum + value;

	if (fabs(sum->sum) >= fabs(value))
		sum->lost += (sum->sum - next) + value;
	else
		sum->lost += (value - next) + sum->sum;
	sum->sum = next;
}

static double mean_of(const double *values, size_t nr, double (*each)(double))
{
	struct sum sum = { 0 };

	if (nr == 0)
		return NAN;
	for (size_t i = 0; i < nr; i++)
		sum_add(&sum, each(values[i]));
	return (sum.sum + sum.lost) / (double)nr;
}

static double same(double value)
{
	return value;
}

static double inverse(double value)
{
	return 1 / value;
}

double zm_stat_mean(const double *values, size_t nr)
{
	return mean_of(values, nr, same);
}

/* The sum of the squared distances from the mean. */
static double squares(const double *values, size_t nr, double mean)
{
	struct sum sum = { 0 };

	for (size_t i = 0; i < nr; i++)
		sum_add(&sum, (values[i] - mean) * (values[i] - mean));
	return sum.sum + sum.lost;
}

double zm_stat_sd(const double *values, size_t nr)
{
	if (nr < 2)
		return NAN;
	return sqrt(squares(values, nr, zm_stat_mean(values, nr)) / (double)(nr - 1));
}

double zm_stat_cv(const double *values, size_t nr)
{
	double mean = zm_stat_mean(values, nr);

	return mean == 0 ? NAN : zm_stat_sd(values, nr) / fabs(mean);
}

static int all_positive(const double *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(values[i] > 0))
			return 0;
	}
	return 1;
}

double zm_stat_hmean(const double *values, size_t nr)
{
	return all_positive(values, nr) ? 1 / mean_of(values, nr, inverse) : NAN;
}

double zm_stat_gmean(const double *values, size_t nr)
{
	return all_positive(values, nr) ? exp(mean_of(values, nr, log)) : NAN;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void insert_sort(double *values, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		double value = values[i];
		size_t at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* By merging; `space` has room for half of them. A comparison without a call makes it three times as
 * quick as qsort, and the ranks of many metrics are a lot of sorting. */
static void merge_sort(double *values, size_t nr, double *space)
{
	size_t half = nr / 2, left = 0, right = half, at = 0;

	if (nr <= 16) {
		insert_sort(values, nr);
		return;
	}
	merge_sort(values, half, space);
	merge_sort(values + half, nr - half, space);
	memcpy(space, values, half * sizeof(*space));
	while (left < half && right < nr) { /* without a branch: it could not be foreseen */
		size_t is_right = values[right] < space[left];
		const double *from = is_right ? &values[right] : &space[left];

		values[at++] = *from;
		right += is_right;
		left += 1 - is_right;
	}
	while (left < half)
		values[at++] = space[left++];
}

void zm_stat_sort(double *values, size_t nr)
{
	double *space = malloc((nr / 2 + 1) * sizeof(*space));

	if (space)
		merge_sort(values, nr, space);
	else if (nr > 1)
		qsort(values, nr, sizeof(*values), compare_doubles);
	free(space);
}

double zm_stat_quantile(const double *sorted, size_t nr, double q)
{
	double place, part;
	size_t below;

	if (nr == 0)
		return NAN;
	place = q * (double)(nr - 1);
	below = (size_t)place;
	if (below + 1 >= nr)
		return sorted[nr - 1];
	part = place - (double)below;
	return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

/* Sorts what it is given. */
static double median_of(double *values, size_t nr)
{
	zm_stat_sort(values, nr);
	return zm_stat_quantile(values, nr, 0.5);
}

static double *copy_of(const double *values, size_t nr)
{
	double *copy = calloc(nr + 1, sizeof(*copy));

	if (copy && nr)
		memcpy(copy, values, nr * sizeof(*copy));
	return copy;
}

double zm_stat_median(const double *values, size_t nr)
{
	double *copy = copy_of(values, nr);
	double median = copy ? median_of(copy, nr) : NAN;

	free(copy);
	return median;
}

double zm_stat_mad(const double *values, size_t nr)
{
	double *copy = copy_of(values, nr);
	double centre, mad = NAN;

	if (copy) {
		centre = median_of(copy, nr);
		for (size_t i = 0; i < nr; i++)
			copy[i] = fabs(values[i] - centre);
		mad = 1.4826 * median_of(copy, nr);
	}
	free(copy);
	return mad;
}

/* The median of f(a[i], b[j]) over all pairs; with b NULL, over the pairs i <= j of a. */
static double median_of_pairs(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	size_t most = b ? nr_a * nr_b : nr_a * (nr_a + 1) / 2;
	double *pairs, median;
	size_t nr = 0;

	if (most == 0 || (nr_a > UINT32_MAX || nr_b > UINT32_MAX))
		return NAN;
	pairs = malloc(most * sizeof(*pairs));
	if (!pairs)
		return NAN;
	for (size_t i = 0; i < nr_a; i++) {
		for (size_t j = b ? 0 : i; j < (b ? nr_b : nr_a); j++)
			pairs[nr++] = b ? b[j] - a[i] : (a[i] + a[j]) / 2;
	}
	median = median_of(pairs, nr);
	free(pairs);
	return median;
}

double zm_stat_hl(const double *values, size_t nr)
{
	return median_of_pairs(values, nr, NULL, 0);
}

double zm_stat_hl_shift(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	return nr_b ? median_of_pairs(a, nr_a, b, nr_b) : NAN;
}

void zm_stat_spread(const double *values, size_t nr, struct zm_spread *ret_spread)
{
	double *sorted = copy_of(values, nr);

	*ret_spread = (struct zm_spread){
		.nr = nr,
		.mean = zm_stat_mean(values, nr),
		.sd = zm_stat_sd(values, nr),
		.cv = zm_stat_cv(values, nr),
		.min = NAN,
		.median = NAN,
		.max = NAN,
	};
	if (sorted && nr) {
		zm_stat_sort(sorted, nr);
		ret_spread->min = sorted[0];
		ret_spread->median = zm_stat_quantile(sorted, nr, 0.5);
		ret_spread->max = sorted[nr - 1];
	}
	free(sorted);
}

void zm_stat_launches(const double *const *values, const size_t *nrs, size_t nr_launches,
		      struct zm_launches *ret_launches)
{
	double *means = malloc((nr_launches + 1) * sizeof(*means));
	double all_squares = 0, freedom = 0;
	size_t nr = 0;

	*ret_launches = (struct zm_launches){ .mean = NAN, .within = NAN, .between = NAN };
	for (size_t i = 0; means && i < nr_launches; i++) {
		if (nrs[i] == 0)
			continue;
		means[nr] = zm_stat_mean(values[i], nrs[i]);
		all_squares += squares(values[i], nrs[i], means[nr]);
		freedom += (double)(nrs[i] - 1);
		nr++;
	}
	if (means && nr) {
		ret_launches->nr = nr;
		ret_launches->mean = zm_stat_mean(means, nr);
		ret_launches->between = zm_stat_cv(means, nr);
		if (freedom > 0 && ret_launches->mean != 0)
			ret_launches->within =
				sqrt(all_squares / freedom) / fabs(ret_launches->mean);
	}
	free(means);
}
