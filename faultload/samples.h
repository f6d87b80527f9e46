/* samples: what vm-scalability's figures make of several. */
#ifndef ZM_FAULTLOAD_SAMPLES_H
#define ZM_FAULTLOAD_SAMPLES_H

#include <stddef.h>

double zm_samples_mean(const double *values, size_t n);

/* Of all of them, as the original does: divided by n. */
double zm_samples_deviation(const double *values, size_t n);

/* The upper one of two, as the original does. Sorts the values. */
double zm_samples_median(double *values, size_t n);

#endif
