/* pair: Walsh averages, and the signed-rank distribution by counting subsets of 1 … n. */
#include "bench/pair.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

#define WANTED 0.95

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

static void sort(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
}

static double median_of_sorted(const double *values, size_t n)
{
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static int median(const double *values, size_t n, double *ret_median)
{
	zm_autofree double *sorted = malloc(n * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, values, n * sizeof(*sorted));
	sort(sorted, n);
	*ret_median = median_of_sorted(sorted, n);
	return 0;
}

static double spread(const double *values, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return n < 2 ? 0 : sqrt(squares / (double)(n - 1)) / mean;
}

/* shares[s]: the share of the 2^n subsets of 1 … n whose sum is s. */
static double *rank_sum_shares(size_t n, size_t nr_sums)
{
	double *shares = calloc(nr_sums, sizeof(*shares));

	if (!shares)
		return NULL;
	shares[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t sum = nr_sums; sum-- > 0;)
			shares[sum] = (shares[sum] + (sum >= rank ? shares[sum - rank] : 0)) / 2;
	return shares;
}

/* How many Walsh averages may be left out at each end (at least none), and what is then sure. */
static int find_cut(size_t n, size_t *ret_cut, double *ret_confidence)
{
	size_t nr_sums = n * (n + 1) / 2 + 1;
	zm_autofree double *shares = rank_sum_shares(n, nr_sums);
	double tail;
	size_t cut = 0;

	if (!shares)
		return -ENOMEM;
	tail = shares[0];
	while (cut + 1 < nr_sums / 2 && tail + shares[cut + 1] <= (1 - WANTED) / 2)
		tail += shares[++cut];
	*ret_cut = cut;
	*ret_confidence = 1 - 2 * tail;
	return 0;
}

static int compare_logs(const double *logs, size_t n, struct zm_pair_result *result)
{
	size_t nr_averages = n * (n + 1) / 2;
	zm_autofree double *averages = malloc(nr_averages * sizeof(*averages));
	size_t cut, k = 0;
	int r;

	if (!averages)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			averages[k++] = (logs[i] + logs[j]) / 2;
	sort(averages, nr_averages);
	r = find_cut(n, &cut, &result->confidence);
	if (r < 0)
		return r;
	result->ratio = exp(median_of_sorted(averages, nr_averages));
	result->low = exp(averages[cut]);
	result->high = exp(averages[nr_averages - 1 - cut]);
	return 0;
}

int zm_pair_compare(const double *a, const double *b, size_t n, struct zm_pair_result *ret_result)
{
	struct zm_pair_result result;
	zm_autofree double *logs = NULL;
	int r;

	if (n == 0 || n > ZM_PAIR_MOST)
		return -EINVAL;
	logs = malloc(n * sizeof(*logs));
	if (!logs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!(a[i] > 0) || !(b[i] > 0))
			return -EINVAL;
		logs[i] = log(a[i] / b[i]);
	}
	r = median(a, n, &result.median_a);
	if (r == 0)
		r = median(b, n, &result.median_b);
	if (r == 0)
		r = median(logs, n, &result.median_ratio);
	if (r == 0)
		r = compare_logs(logs, n, &result);
	if (r < 0)
		return r;
	result.median_ratio = exp(result.median_ratio);
	result.spread_a = spread(a, n);
	result.spread_b = spread(b, n);
	*ret_result = result;
	return 0;
}
