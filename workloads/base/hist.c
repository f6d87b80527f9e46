/*
 * hist: bucket number = power of two, then the six bits below the leading one.
 *
 * The writer's stores are relaxed atomics, so that a reader in another process sees whole words. A
 * copy taken meanwhile may hold a sample in a bucket which the count does not hold yet: what is
 * derived from two copies counts the buckets.
 */
#include "workloads/base/hist.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t subtract_saturating(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* --- buckets --------------------------------------------------------------------------------- */

size_t zm_hist_bucket(uint64_t value)
{
	unsigned int power, shift;

	if (value < ZM_HIST_SUB)
		return (size_t)value;
	power = 63u - (unsigned int)__builtin_clzll(value);
	shift = power - ZM_HIST_SUB_BITS;
	return (size_t)shift * ZM_HIST_SUB + (size_t)(value >> shift);
}

void zm_hist_bounds(size_t bucket, uint64_t *ret_first, uint64_t *ret_end)
{
	unsigned int shift = bucket < ZM_HIST_SUB ? 0 : (unsigned int)(bucket / ZM_HIST_SUB) - 1;
	uint64_t step = bucket - (size_t)shift * ZM_HIST_SUB;

	*ret_first = step << shift;
	*ret_end = bucket == ZM_HIST_BUCKETS - 1 ? UINT64_MAX : (step + 1) << shift;
}

static uint64_t last_value(size_t bucket)
{
	uint64_t first, end;

	zm_hist_bounds(bucket, &first, &end);
	return bucket == ZM_HIST_BUCKETS - 1 ? end : end - 1;
}

static uint64_t first_value(size_t bucket)
{
	uint64_t first, end;

	zm_hist_bounds(bucket, &first, &end);
	return first;
}

static double middle(size_t bucket)
{
	return (double)first_value(bucket) + (double)(last_value(bucket) - first_value(bucket)) / 2;
}

/* --- filling --------------------------------------------------------------------------------- */

void zm_hist_init(struct zm_hist *hist)
{
	memset(hist, 0, sizeof(*hist));
}

void zm_hist_add(struct zm_hist *hist, uint64_t value, uint64_t times)
{
	uint64_t *bucket = &hist->buckets[zm_hist_bucket(value)];
	uint64_t product;

	if (times == 0)
		return;
	if (__builtin_mul_overflow(value, times, &product))
		product = UINT64_MAX;
	if (hist->count == 0 || value < hist->min)
		store(&hist->min, value);
	if (hist->count == 0 || value > hist->max)
		store(&hist->max, value);
	store(bucket, *bucket + times);
	store(&hist->sum, add_saturating(hist->sum, product));
	store(&hist->count, hist->count + times);
}

void zm_hist_merge(struct zm_hist *into, const struct zm_hist *from)
{
	uint64_t count = load(&from->count), min = load(&from->min), max = load(&from->max);
	uint64_t nr_added = 0;

	if (count == 0)
		return;
	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++) {
		uint64_t n = load(&from->buckets[i]);

		store(&into->buckets[i], into->buckets[i] + n);
		nr_added += n;
	}
	if (into->count == 0 || min < into->min)
		store(&into->min, min);
	if (into->count == 0 || max > into->max)
		store(&into->max, max);
	store(&into->sum, add_saturating(into->sum, load(&from->sum)));
	store(&into->count, into->count + nr_added);
}

/* Whatever was added lies between the whole's least and greatest value, and in its own buckets. */
static void narrow(struct zm_hist *hist, size_t lowest, size_t highest)
{
	uint64_t first = first_value(lowest), last = last_value(highest);

	hist->min = hist->min > first ? hist->min : first;
	hist->max = hist->max < last ? hist->max : last;
}

void zm_hist_subtract(struct zm_hist *dst, const struct zm_hist *earlier)
{
	size_t lowest = ZM_HIST_BUCKETS, highest = 0;
	uint64_t count = 0;

	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++) {
		uint64_t n = subtract_saturating(dst->buckets[i], load(&earlier->buckets[i]));

		dst->buckets[i] = n;
		count += n;
		if (n && lowest == ZM_HIST_BUCKETS)
			lowest = i;
		if (n)
			highest = i;
	}
	dst->count = count;
	if (count == 0) {
		zm_hist_init(dst);
		return;
	}
	if (dst->sum < UINT64_MAX)
		dst->sum = subtract_saturating(dst->sum, load(&earlier->sum));
	narrow(dst, lowest, highest);
}

/* --- reading --------------------------------------------------------------------------------- */

/* How many samples lie at or below the wanted one: the nearest rank, 1 … total. */
static uint64_t rank_of(double q, uint64_t total)
{
	long double rank = ceill((long double)q * (long double)total);

	if (!(rank >= 1))
		return 1;
	return rank >= (long double)total ? total : (uint64_t)rank;
}

static double clamp(const struct zm_hist *hist, double value)
{
	double min = (double)load(&hist->min), max = (double)load(&hist->max);

	if (value < min)
		return min;
	return value > max ? max : value;
}

static uint64_t total_of(const struct zm_hist *hist)
{
	uint64_t total = 0;

	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++)
		total += load(&hist->buckets[i]);
	return total;
}

double zm_hist_quantile(const struct zm_hist *hist, double q)
{
	uint64_t total = total_of(hist), rank = rank_of(q, total), seen = 0;

	if (total == 0 || load(&hist->count) == 0)
		return 0;
	if (rank == 1)
		return (double)load(&hist->min);
	if (rank == total)
		return (double)load(&hist->max);
	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++) {
		seen += load(&hist->buckets[i]);
		if (seen >= rank)
			return clamp(hist, middle(i));
	}
	return (double)load(&hist->max);
}

static double mean_of_buckets(const struct zm_hist *hist)
{
	long double sum = 0;

	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++)
		sum += (long double)middle(i) * (long double)load(&hist->buckets[i]);
	return (double)(sum / (long double)total_of(hist));
}

/* From the sum, which is exact, as long as it has not saturated. */
double zm_hist_mean(const struct zm_hist *hist)
{
	uint64_t count = load(&hist->count), sum = load(&hist->sum);

	if (count == 0)
		return 0;
	return sum < UINT64_MAX ? (double)sum / (double)count : mean_of_buckets(hist);
}
