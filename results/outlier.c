/* outlier: distances from the median, then one test per suspect, from the innermost suspect's set outwards. */
#include "results/outlier.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "results/dist.h"
#include "results/stat.h"

struct item {
	double x, distance;
	size_t at;
};

size_t zm_outlier_most(size_t nr)
{
	if (nr < ZM_OUTLIER_LEAST)
		return 0;
	if (nr < 10)
		return 1;
	return nr < 20 ? 2 : (size_t)(ZM_OUTLIER_SHARE * (double)nr);
}

/* Furthest first. */
static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance > y->distance ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static double mean_of(const struct item *items, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += items[i].x;
	return sum / (double)nr;
}

static double sd_of(const struct item *items, size_t nr)
{
	double mean = mean_of(items, nr), sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += (items[i].x - mean) * (items[i].x - mean);
	return sqrt(sum / (double)(nr - 1));
}

/* The first of the items against the nr - 1 behind it: t, two-sided, for all nr of them. Values that are all
 * the same have no spread: what differs from them at all does so for certain. */
static double test_first(const struct item *items, size_t nr)
{
	double rest = mean_of(items + 1, nr - 1), sd = sd_of(items + 1, nr - 1);
	double distance = fabs(items[0].x - rest), n = (double)nr, t;

	/* What rounding leaves of equal values is no spread. */
	if (sd <= 1e-12 * fabs(rest))
		sd = 0;
	if (distance <= 1e-12 * fabs(rest))
		return 1;
	if (sd == 0)
		return 0;
	t = distance / (sd * sqrt(1 + 1 / (n - 1)));
	return fmin(1, n * 2 * zm_t_cdf(-t, n - 2));
}

/* That the furthest is looked at several times makes false names a little more frequent: by this much, as
 * bench/outliers found. */
static double correction(size_t nr)
{
	return zm_outlier_most(nr) > 1 ? 1 + 4 / (double)nr : 1;
}

static void test_all(struct item *items, size_t nr, struct zm_outliers *outliers)
{
	double smallest = 1;

	/* From the innermost suspect outwards: who is further out is not less of an outlier. */
	for (size_t i = zm_outlier_most(nr); i-- > 0;) {
		smallest = fmin(smallest, correction(nr) * test_first(items + i, nr - i));
		outliers->list[items[i].at].p = smallest;
	}
	outliers->p = smallest;
	outliers->sd = sd_of(items + zm_outlier_most(nr), nr - zm_outlier_most(nr));
}

static void fill_items(const double *values, size_t nr, const struct zm_outliers *outliers,
		       struct item *items)
{
	double centre = outliers->is_ratio ? log(outliers->median) : outliers->median;

	for (size_t i = 0; i < nr; i++) {
		double x = outliers->is_ratio ? log(values[i]) : values[i];

		items[i] = (struct item){ .x = x, .distance = fabs(x - centre), .at = i };
		outliers->list[i] = (struct zm_outlier){
			.change = outliers->is_ratio ? values[i] / outliers->median - 1
						     : values[i] - outliers->median,
			.p = 1,
		};
	}
	qsort(items, nr, sizeof(*items), compare_items);
}

int zm_outliers_find(const double *values, size_t nr, bool is_share,
		     struct zm_outliers *ret_outliers)
{
	struct zm_outliers outliers = { .nr = nr, .is_ratio = !is_share, .p = 1 };
	struct item *items;

	if (nr < ZM_OUTLIER_LEAST)
		return -ENODATA;
	items = calloc(nr, sizeof(*items));
	outliers.list = calloc(nr, sizeof(*outliers.list));
	outliers.median = zm_stat_median(values, nr);
	if (!items || !outliers.list || isnan(outliers.median)) {
		free(items);
		free(outliers.list);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		outliers.is_ratio = outliers.is_ratio && values[i] > 0;
	fill_items(values, nr, &outliers, items);
	test_all(items, nr, &outliers);
	free(items);
	*ret_outliers = outliers;
	return 0;
}

void zm_outliers_release(struct zm_outliers *outliers)
{
	free(outliers->list);
	*outliers = (struct zm_outliers){ 0 };
}

double zm_outlier_detectable(size_t nr, double sd, bool is_ratio, double alpha, double power,
			     double nr_comparisons)
{
	double n = (double)nr, x;

	if (nr < ZM_OUTLIER_LEAST)
		return NAN;
	x = sd * sqrt(1 + 1 / (n - 1)) *
	    (zm_t_quantile(1 - alpha / correction(nr) / nr_comparisons / 2, n - 2) +
	     zm_t_quantile(power, n - 2));
	return is_ratio ? expm1(x) : x;
}
