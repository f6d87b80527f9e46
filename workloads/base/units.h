/*
 * units: one parser and one printer per quantity.
 *
 * All parse in the C locale whatever the user's is, refuse trailing text, signs where they make no
 * sense, overflow and NaN, and leave the output untouched on failure. Errors: -EINVAL (not of the
 * form), -ERANGE (of the form, too large). What lies below one byte or nanosecond is rounded to the
 * nearest.
 */
#ifndef ZM_WORKLOADS_BASE_UNITS_H
#define ZM_WORKLOADS_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A count or a share: "16" or "12.5%". */
struct zm_amount {
	double value; /* 16, or 12.5 */
	bool is_percent;
};

/* "0", "4096", "0x1000". */
int zm_units_parse_u64(const char *text, uint64_t *ret_value);

/* A decimal number with '.', optional exponent; finite. */
int zm_units_parse_double(const char *text, double *ret_value);

/* "4096", "4K", "4k", "4KiB", "128M", "1.5G", "2T": powers of 1,024 (as robot mails and
 * will-it-scale use them); "10kB", "10MB" are powers of 1,000. A plain "B" is a byte. */
int zm_units_parse_size(const char *text, uint64_t *ret_bytes);

/* "300" and "300s" (seconds), "1.5s", "250ms", "10us", "5ns", "2m", "2min", "1h". */
int zm_units_parse_duration(const char *text, uint64_t *ret_ns);

/* "16" (a whole number) or "50%", "12.5%", "200%". */
int zm_units_parse_amount(const char *text, struct zm_amount *ret_amount);

/* Of `total`: the count itself, or the share of total rounded down, at least 1 when the share is
 * above 0. 0 stays 0 (the caller refuses it). */
uint64_t zm_amount_of(const struct zm_amount *amount, uint64_t total);

/* Printers write at most size bytes with the terminator, and return buf. The exact form parses
 * back to the same value; the human one has three significant digits. */
char *zm_units_print_size(char *buf, size_t size, uint64_t bytes);  /* "128M", "4097" */
char *zm_units_print_duration(char *buf, size_t size, uint64_t ns); /* "5s", "250ms" */
char *zm_units_print_amount(char *buf, size_t size, const struct zm_amount *amount);
char *zm_units_human_bytes(char *buf, size_t size, double bytes); /* "1.46 GiB" */
char *zm_units_human_count(char *buf, size_t size, double count); /* "301 k", "1.91 M" */
char *zm_units_human_ns(char *buf, size_t size, double ns);       /* "3.36 us" */

/* Shortest decimal that reads back as the same double, always with '.', whatever the locale. */
char *zm_units_print_double(char *buf, size_t size, double value);

#endif
