/*
 * hist: a log-linear histogram of non-negative 64-bit values with a stated error.
 *
 * Values below 64 are exact; above, each power of two is cut into 64 buckets, so a value read from
 * a bucket's middle is off by at most 1/128 (0.78 %). 3,776 buckets cover all of uint64_t in
 * 30 KiB: fixed size, no allocation, so that it can lie in memory shared between processes. One
 * writer at a time; a reader in another process may see a sample late, never torn.
 */
#ifndef ZM_WORKLOADS_BASE_HIST_H
#define ZM_WORKLOADS_BASE_HIST_H

#include <stddef.h>
#include <stdint.h>

#define ZM_HIST_SUB_BITS 6
#define ZM_HIST_SUB      (1u << ZM_HIST_SUB_BITS)
#define ZM_HIST_BUCKETS  ((64 - ZM_HIST_SUB_BITS + 1) * ZM_HIST_SUB)

struct zm_hist {
	uint64_t count;
	uint64_t sum; /* saturates */
	uint64_t min; /* exact; meaningless while count is 0 */
	uint64_t max;
	uint64_t buckets[ZM_HIST_BUCKETS];
};

void zm_hist_init(struct zm_hist *hist);
void zm_hist_add(struct zm_hist *hist, uint64_t value, uint64_t times);
void zm_hist_merge(struct zm_hist *into, const struct zm_hist *from);

/* dst = dst - earlier: what was added since the earlier copy (min and max become bucket borders). */
void zm_hist_subtract(struct zm_hist *dst, const struct zm_hist *earlier);

/* The value below which a share q (0…1) of the samples lies; 0 when empty. */
double zm_hist_quantile(const struct zm_hist *hist, double q);
double zm_hist_mean(const struct zm_hist *hist);

/* The values a bucket holds: first, and one past the last (saturating). */
void zm_hist_bounds(size_t bucket, uint64_t *ret_first, uint64_t *ret_end);
size_t zm_hist_bucket(uint64_t value);

#endif
