/*
 * format_hist: a histogram drawn with characters, for a terminal.
 *
 * One bar per row, from the least value that was met to the greatest; rows are equal parts of a power of two,
 * as fine as fits into some thirty of them.
 */
#ifndef ZM_RESULTS_FORMAT_HIST_H
#define ZM_RESULTS_FORMAT_HIST_H

#include <stddef.h>
#include <stdio.h>

#include "workloads/base/hist.h"

/* unit: of the values. width: of the terminal; 0: as wide as it gets. An empty one draws nothing. -ENOMEM. */
int zm_format_hist(const struct zm_hist *hist, const char *unit, size_t width, FILE *out);

#endif
