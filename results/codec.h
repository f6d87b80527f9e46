/*
 * codec: the readings of a series as few bytes, and back.
 *
 * Moments: the first, the first step, then how much each step differs from the one before (zigzag
 * varints): a steady interval costs a byte or three a reading.
 *
 * Values, whichever of the forms is shorter for them:
 *
 *     deltas   u64     differences modulo 2^64, zigzag varints
 *     runs     u64     the same, each with the number of times it comes again
 *     xor      f64     the bits that differ from the value before: a byte that says how many whole
 *                      bytes are 0 at either end, then the others
 *     hists    hist    each snapshot: count, sum, min, max, then (gap, count) of the buckets in use
 *
 * In front of the values stand the flags, as runs; none when all are 0. Everything is then packed by
 * zstd when that pays. Decoding trusts nothing: a hostile store gives -EUCLEAN, never a crash or more
 * than ZM_READINGS_MAX readings.
 */
#ifndef ZM_RESULTS_CODEC_H
#define ZM_RESULTS_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "results/bytes.h"
#include "workloads/base/hist.h"

#define ZM_READINGS_MAX ((size_t)1 << 24) /* of one series: 19 days at 10 Hz */

enum zm_form {
	ZM_FORM_U64,
	ZM_FORM_F64,
	ZM_FORM_HIST,
};

/* The readings of one series, or a part of them, without their moments. */
struct zm_readings {
	enum zm_form form;
	size_t nr;
	size_t capacity;
	uint64_t *values; /* the number; a double's bits; where a snapshot starts in `hists` */
	uint32_t *flags;  /* NULL when all are 0 */
	struct zm_buf hists;
};

void zm_readings_release(struct zm_readings *readings);

/* One more reading. -ENOMEM; -EOVERFLOW above ZM_READINGS_MAX. */
int zm_readings_add(struct zm_readings *readings, uint64_t value, uint32_t flags);
int zm_readings_add_hist(struct zm_readings *readings, const struct zm_hist *hist, uint32_t flags);

double zm_readings_f64(const struct zm_readings *readings, size_t index);

/* Snapshot number `index`. -EUCLEAN. */
int zm_readings_hist(const struct zm_readings *readings, size_t index, struct zm_hist *ret_hist);

/* Moments. The number of them is stored elsewhere. Steps may be negative or 0. */
void zm_codec_put_times(struct zm_buf *buf, const uint64_t *t_ns, size_t nr);
void zm_codec_get_times(struct zm_cursor *cursor, size_t nr, uint64_t *ret_t_ns);

/* Values with their flags. */
void zm_codec_put_readings(struct zm_buf *buf, const struct zm_readings *readings);

/* Appends nr readings to `readings`, whose form says what they are. -EUCLEAN (then `readings` is to
 * be released only), -ENOMEM, -EOVERFLOW. */
int zm_codec_get_readings(struct zm_cursor *cursor, size_t nr, struct zm_readings *readings);

/* A histogram by itself. */
void zm_codec_put_hist(struct zm_buf *buf, const struct zm_hist *hist);
void zm_codec_get_hist(struct zm_cursor *cursor, struct zm_hist *ret_hist);

#endif
