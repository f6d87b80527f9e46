/*
 * units: digits are checked here, by hand, so that what strtod() would take on top (white space,
 * hexadecimal, "inf", the locale's comma) never gets to it. Sizes and durations are exact: whole
 * part and fraction are integers, multiplied in 128 bits; what is below one unit is rounded to
 * nearest.
 */
#include "workloads/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_DOUBLE (UINT64_C(1) << 53) /* the largest count that a double holds exactly */
#define TEXT_SIZE    512 /* the longest text that printf makes of a double, and more */

__extension__ typedef unsigned __int128 uint128;

struct unit {
	const char *name;
	uint64_t factor;
};

/* --- the C locale ---------------------------------------------------------------------------- */

static locale_t c_locale_made;

static void make_c_locale(void)
{
	c_locale_made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t c_locale(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_c_locale);
	return c_locale_made;
}

__attribute__((format(printf, 3, 4))) static void print_in_c(char *buf, size_t size,
							     const char *format, ...)
{
	locale_t users = uselocale(c_locale());
	va_list args;

	va_start(args, format);
	(void)vsnprintf(buf, size, format, args);
	va_end(args);
	(void)uselocale(users);
}

/* --- scanning -------------------------------------------------------------------------------- */

static const char *skip_digits(const char *at)
{
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

/* Past "12", "12.5", ".5" or "12."; the text itself when there is no digit. */
static const char *skip_decimal(const char *text)
{
	const char *whole = skip_digits(text);
	const char *end = whole;

	if (*whole == '.')
		end = skip_digits(whole + 1);
	return end - text > (*whole == '.') ? end : text;
}

static const char *skip_exponent(const char *at)
{
	const char *digits = at + 1;

	if (*at != 'e' && *at != 'E')
		return at;
	if (*digits == '+' || *digits == '-')
		digits++;
	return isdigit((unsigned char)*digits) ? skip_digits(digits) : at;
}

/* Digits of base up to the text's end or, where ret_end is given, up to the first other byte. */
static int scan_u64(const char *text, unsigned int base, const char **ret_end, uint64_t *ret_value)
{
	const char *at = text;
	uint64_t value = 0;
	bool is_over = false;

	for (; base == 16 ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at); at++) {
		unsigned int digit =
			isdigit((unsigned char)*at)
				? (unsigned int)(*at - '0')
				: (unsigned int)(tolower((unsigned char)*at) - 'a' + 10);

		is_over |= __builtin_mul_overflow(value, base, &value);
		is_over |= __builtin_add_overflow(value, digit, &value);
	}
	if (at == text || (!ret_end && *at))
		return -EINVAL;
	if (is_over)
		return -ERANGE;
	if (ret_end)
		*ret_end = at;
	*ret_value = value;
	return 0;
}

/* --- quantities with units ------------------------------------------------------------------- */

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", UINT64_C(1) << 10 },
	{ "k", UINT64_C(1) << 10 },
	{ "Ki", UINT64_C(1) << 10 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "kiB", UINT64_C(1) << 10 },
	{ "M", UINT64_C(1) << 20 },
	{ "m", UINT64_C(1) << 20 },
	{ "Mi", UINT64_C(1) << 20 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "G", UINT64_C(1) << 30 },
	{ "g", UINT64_C(1) << 30 },
	{ "Gi", UINT64_C(1) << 30 },
	{ "GiB", UINT64_C(1) << 30 },
	{ "T", UINT64_C(1) << 40 },
	{ "t", UINT64_C(1) << 40 },
	{ "Ti", UINT64_C(1) << 40 },
	{ "TiB", UINT64_C(1) << 40 },
	{ "P", UINT64_C(1) << 50 },
	{ "Pi", UINT64_C(1) << 50 },
	{ "PiB", UINT64_C(1) << 50 },
	{ "E", UINT64_C(1) << 60 },
	{ "Ei", UINT64_C(1) << 60 },
	{ "EiB", UINT64_C(1) << 60 },
	{ "kB", UINT64_C(1000) },
	{ "KB", UINT64_C(1000) },
	{ "MB", UINT64_C(1000000) },
	{ "GB", UINT64_C(1000000000) },
	{ "TB", UINT64_C(1000000000000) },
	{ "PB", UINT64_C(1000000000000000) },
	{ NULL, 0 },
};

static const struct unit duration_units[] = {
	{ "", UINT64_C(1000000000) },
	{ "s", UINT64_C(1000000000) },
	{ "sec", UINT64_C(1000000000) },
	{ "ms", UINT64_C(1000000) },
	{ "us", UINT64_C(1000) },
	{ "\xc2\xb5s", UINT64_C(1000) }, /* the micro sign */
	{ "ns", 1 },
	{ "m", UINT64_C(60000000000) },
	{ "min", UINT64_C(60000000000) },
	{ "h", UINT64_C(3600000000000) },
	{ "d", UINT64_C(86400000000000) },
	{ NULL, 0 },
};

static uint64_t factor_of(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units->factor;
	return 0;
}

/* The part behind the point, times factor, rounded. 18 digits are more than any factor can tell
 * apart. */
static uint64_t scaled_fraction(const char *digits, const char *end, uint64_t factor)
{
	uint64_t fraction = 0, tens = 1;

	for (unsigned int i = 0; i < 18 && digits < end; i++, digits++) {
		fraction = fraction * 10 + (uint64_t)(*digits - '0');
		tens *= 10;
	}
	return (uint64_t)(((uint128)fraction * factor + tens / 2) / tens);
}

static int parse_quantity(const char *text, const struct unit *units, uint64_t *ret_value)
{
	const char *end = skip_decimal(text);
	const char *point = skip_digits(text);
	uint64_t factor = end == text ? 0 : factor_of(units, end);
	uint64_t whole = 0;

	if (factor == 0)
		return -EINVAL;
	if (point > text && scan_u64(text, 10, &point, &whole))
		return -ERANGE;
	if (__builtin_mul_overflow(whole, factor, &whole))
		return -ERANGE;
	if (point < end &&
	    __builtin_add_overflow(whole, scaled_fraction(point + 1, end, factor), &whole))
		return -ERANGE;
	*ret_value = whole;
	return 0;
}

/* --- parsers --------------------------------------------------------------------------------- */

int zm_units_parse_u64(const char *text, uint64_t *ret_value)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return scan_u64(text + 2, 16, NULL, ret_value);
	return scan_u64(text, 10, NULL, ret_value);
}

/* The text must be checked to be a number up to its end, or up to a '%'. */
static int convert_double(const char *text, double *ret_value)
{
	locale_t c = c_locale();
	double value;

	if (c == (locale_t)0)
		return -ENOMEM;
	value = strtod_l(text, NULL, c);
	if (!isfinite(value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int zm_units_parse_double(const char *text, double *ret_value)
{
	const char *number = text + (*text == '-' || *text == '+');
	const char *end = skip_decimal(number);

	if (end == number || *skip_exponent(end))
		return -EINVAL;
	return convert_double(text, ret_value);
}

int zm_units_parse_size(const char *text, uint64_t *ret_bytes)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return zm_units_parse_u64(text, ret_bytes);
	return parse_quantity(text, size_units, ret_bytes);
}

int zm_units_parse_duration(const char *text, uint64_t *ret_ns)
{
	return parse_quantity(text, duration_units, ret_ns);
}

static int parse_count(const char *text, struct zm_amount *ret_amount)
{
	uint64_t count;
	int error = scan_u64(text, 10, NULL, &count);

	if (error)
		return error;
	if (count > EXACT_DOUBLE)
		return -ERANGE;
	*ret_amount = (struct zm_amount){ .value = (double)count };
	return 0;
}

int zm_units_parse_amount(const char *text, struct zm_amount *ret_amount)
{
	const char *end = skip_decimal(text);
	double percent;
	int error;

	if (end == text)
		return -EINVAL;
	end = skip_exponent(end);
	if (strcmp(end, "%") != 0)
		return parse_count(text, ret_amount);
	error = convert_double(text, &percent);
	if (error)
		return error;
	*ret_amount = (struct zm_amount){ .value = percent, .is_percent = true };
	return 0;
}

uint64_t zm_amount_of(const struct zm_amount *amount, uint64_t total)
{
	long double share = amount->value;

	/* A percentage is the double nearest to what was typed: within its error it is exact. */
	if (amount->is_percent)
		share = share * (1 + 4 * (long double)DBL_EPSILON) * (long double)total / 100;
	if (!(share > 0) || (amount->is_percent && total == 0))
		return 0;
	if (share < 1)
		return 1;
	return share >= 0x1p64L ? UINT64_MAX : (uint64_t)share;
}

/* --- exact printers -------------------------------------------------------------------------- */

/* With the largest of the units (ascending, ends with a NULL name) that leaves no fraction. */
static char *print_with_unit(char *buf, size_t size, const struct unit *units, uint64_t value)
{
	const struct unit *best = units;

	for (const struct unit *unit = units + 1; value > 0 && unit->name; unit++)
		if (value % unit->factor == 0)
			best = unit;
	print_in_c(buf, size, "%" PRIu64 "%s", value / best->factor, best->name);
	return buf;
}

char *zm_units_print_size(char *buf, size_t size, uint64_t bytes)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "K", UINT64_C(1) << 10 },
		{ "M", UINT64_C(1) << 20 },
		{ "G", UINT64_C(1) << 30 },
		{ "T", UINT64_C(1) << 40 },
		{ "P", UINT64_C(1) << 50 },
		{ "E", UINT64_C(1) << 60 },
		{ NULL, 0 },
	};

	return print_with_unit(buf, size, units, bytes);
}

char *zm_units_print_duration(char *buf, size_t size, uint64_t ns)
{
	static const struct unit units[] = {
		{ "ns", 1 },
		{ "us", UINT64_C(1000) },
		{ "ms", UINT64_C(1000000) },
		{ "s", UINT64_C(1000000000) },
		{ NULL, 0 },
	};

	if (ns == 0)
		print_in_c(buf, size, "0s");
	else
		print_with_unit(buf, size, units, ns);
	return buf;
}

char *zm_units_print_amount(char *buf, size_t size, const struct zm_amount *amount)
{
	char number[TEXT_SIZE];

	zm_units_print_double(number, sizeof(number), amount->value);
	print_in_c(buf, size, "%s%s", number, amount->is_percent ? "%" : "");
	return buf;
}

/* "d.ddde+xx" with as few digits as read back to the value. All that a double can hold of 15 digits
 * survives being printed with 15, so zeros at their end are all there is to drop; not so below
 * DBL_MIN. Returns the number of digits. */
static int shortest_digits(double value, int *ret_exponent)
{
	int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
	char text[TEXT_SIZE];
	const char *e;
	double back;

	for (;; digits++) {
		print_in_c(text, sizeof(text), "%.*e", digits - 1, value);
		if (digits >= DBL_DECIMAL_DIG || (!convert_double(text, &back) && back == value))
			break;
	}
	e = strchr(text, 'e');
	*ret_exponent = (int)strtol(e + 1, NULL, 10);
	while (digits > 1 && e[-1] == '0') {
		digits--;
		e--;
	}
	return digits;
}

char *zm_units_print_double(char *buf, size_t size, double value)
{
	int digits, exponent;

	if (!isfinite(value)) {
		print_in_c(buf, size, "%f", value);
		return buf;
	}
	if (fabs(value) < 1e15 && value == rint(value)) {
		print_in_c(buf, size, "%.0f", value);
		return buf;
	}
	digits = shortest_digits(value, &exponent);
	if (exponent < -5 || exponent > DBL_DIG)
		print_in_c(buf, size, "%.*e", digits - 1, value);
	else
		print_in_c(buf, size, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0,
			   value);
	return buf;
}

/* --- human printers -------------------------------------------------------------------------- */

/* Three significant digits, the unit chosen so that they are before or just behind the point. Whole
 * numbers of the first unit stay whole: "5", "64 B". */
static char *print_human(char *buf, size_t size, const char *const *units, double step,
			 double value)
{
	double magnitude = fabs(value);
	bool is_whole = value == rint(value) && magnitude < 1000;
	int decimals;

	if (!isfinite(value)) {
		print_in_c(buf, size, "%f", value);
		return buf;
	}
	for (; magnitude >= 999.5 && units[1]; units++, is_whole = false) {
		magnitude /= step;
		value /= step;
	}
	decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
	if (is_whole)
		decimals = 0;
	if (!is_whole && magnitude < 0.9995)
		print_in_c(buf, size, "%.3g%s%s", value, **units ? " " : "", *units);
	else
		print_in_c(buf, size, "%.*f%s%s", decimals, value, **units ? " " : "", *units);
	return buf;
}

char *zm_units_human_bytes(char *buf, size_t size, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL };

	return print_human(buf, size, units, 1024, bytes);
}

char *zm_units_human_count(char *buf, size_t size, double count)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E", NULL };

	return print_human(buf, size, units, 1000, count);
}

char *zm_units_human_ns(char *buf, size_t size, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	return print_human(buf, size, units, 1000, ns);
}
