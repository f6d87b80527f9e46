/*
 * bands: what a criterion's value was on machines that are known to be good.
 *
 *     profile: server-2s
 *     model: "ACME X1, Xeon 9999, 2 sockets"
 *     of: machines                      or boots, where there was one machine only
 *     bands:
 *     - criterion: throughput page_fault1 nr_task=100%
 *       least: 231000
 *       most: 245000
 *       number: 12                      machines that it was learned from
 *       median: 238000
 *
 * A band is a tolerance interval (results/tolerance.h): it holds 99 % of such machines with 95 % confidence.
 */
#ifndef ZM_RUNNER_QUALIFY_BANDS_H
#define ZM_RUNNER_QUALIFY_BANDS_H

#include <stddef.h>
#include <stdio.h>

#include "results/pool.h"
#include "workloads/base/why.h"

struct zm_band {
	const char *criterion;
	double least, most, median;
	size_t nr;
};

struct zm_bands {
	const char *profile, *model, *of;
	struct zm_band *list;
	size_t nr;
	struct zm_pool pool;
};

/* -EINVAL: the sentence begins with "FILE:LINE: ". */
int zm_bands_read(const char *path, struct zm_bands *ret_bands, struct zm_why *why);
int zm_bands_parse(const char *name, const char *text, size_t length, struct zm_bands *ret_bands,
		   struct zm_why *why);
void zm_bands_release(struct zm_bands *bands);

/* NULL: there is none. */
const struct zm_band *zm_bands_find(const struct zm_bands *bands, const char *criterion);

/* As a file that reads back as the same. */
int zm_bands_write(const struct zm_bands *bands, FILE *out);

#endif
