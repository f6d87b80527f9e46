/* samples: mean, deviation, median. */
#include "faultload/samples.h"

#include <math.h>
#include <stdlib.h>

double zm_samples_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

double zm_samples_deviation(const double *values, size_t n)
{
	double mean = zm_samples_mean(values, n);
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return sqrt(squares / (double)n);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

double zm_samples_median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[n / 2];
}
