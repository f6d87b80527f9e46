/* units: what each form means, what is refused, and that printing and reading are inverse. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/random.h"
#include "workloads/base/tests/comma_locale.h"
#include "workloads/base/units.h"

#define UNTOUCHED UINT64_C(0x5555555555555555)
#define KI        UINT64_C(1024)
#define S         UINT64_C(1000000000)

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

struct u64_case {
	const char *text;
	int error;
	uint64_t value;
};

static void check_u64_case(const struct u64_case *c, int (*parse)(const char *, uint64_t *))
{
	uint64_t value = UNTOUCHED;
	int error = parse(c->text, &value);

	if (error != c->error || value != (c->error ? UNTOUCHED : c->value))
		fail_msg("\"%s\": error %d, value %llu", c->text, error, (unsigned long long)value);
}

static void u64_forms(void **state)
{
	static const struct u64_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "0x1000", 0, 4096 },
		{ "0XfF", 0, 255 },
		{ "0010", 0, 10 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "0xffffffffffffffff", 0, UINT64_MAX },
		{ "00000000000000000000000000007", 0, 7 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "0x10000000000000000", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "99999999999999999999999999x", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "0x", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1\n", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "12K", -EINVAL, 0 },
		{ "0x1g", -EINVAL, 0 },
		{ "ff", -EINVAL, 0 },
		{ "\xd9\xa1", -EINVAL, 0 }, /* a digit, but not of ASCII */
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		check_u64_case(&cases[i], zm_units_parse_u64);
}

static void size_forms(void **state)
{
	static const struct u64_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "4096B", 0, 4096 },
		{ "0x1000", 0, 4096 },
		{ "4K", 0, 4096 },
		{ "4k", 0, 4096 },
		{ "4Ki", 0, 4096 },
		{ "4KiB", 0, 4096 },
		{ "128M", 0, 128 * KI * KI },
		{ "128MiB", 0, 128 * KI * KI },
		{ "1.5G", 0, 3 * KI * KI * KI / 2 },
		{ ".5K", 0, 512 },
		{ "5.K", 0, 5 * KI },
		{ "2T", 0, 2 * KI * KI * KI * KI },
		{ "1P", 0, KI * KI * KI * KI * KI },
		{ "15E", 0, 15 * KI * KI * KI * KI * KI * KI },
		{ "15.9999E", 0, UINT64_C(18446628781559090931) },
		{ "10kB", 0, 10000 },
		{ "10KB", 0, 10000 },
		{ "10MB", 0, 10000000 },
		{ "0.1MB", 0, 100000 },
		{ "1.5B", 0, 2 },
		{ "0.0001K", 0, 0 },
		{ "0.333333333333333333333333333333K", 0, 341 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "16E", -ERANGE, 0 },
		{ "18446744073709551615.9", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999E", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ ".K", -EINVAL, 0 },
		{ "4KK", -EINVAL, 0 },
		{ "4 K", -EINVAL, 0 },
		{ " 4K", -EINVAL, 0 },
		{ "4K ", -EINVAL, 0 },
		{ "-4K", -EINVAL, 0 },
		{ "+4K", -EINVAL, 0 },
		{ "4b", -EINVAL, 0 },
		{ "4kib", -EINVAL, 0 },
		{ "4,5K", -EINVAL, 0 },
		{ "1e3K", -EINVAL, 0 },
		{ "1.2.3K", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
		{ "12Q", -EINVAL, 0 },
		{ "0x10K", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		check_u64_case(&cases[i], zm_units_parse_size);
}

static void duration_forms(void **state)
{
	static const struct u64_case cases[] = {
		{ "300", 0, 300 * S },
		{ "300s", 0, 300 * S },
		{ "300sec", 0, 300 * S },
		{ "1.5s", 0, 3 * S / 2 },
		{ "250ms", 0, S / 4 },
		{ "10us", 0, 10000 },
		{ "10\xc2\xb5s", 0, 10000 },
		{ "5ns", 0, 5 },
		{ "2m", 0, 120 * S },
		{ "2min", 0, 120 * S },
		{ "1h", 0, 3600 * S },
		{ "1d", 0, 86400 * S },
		{ "0", 0, 0 },
		{ "0.000000001", 0, 1 },
		{ "0.0000000004", 0, 0 },
		{ "18446744073s", 0, UINT64_C(18446744073) * S },
		{ "18446744074s", -ERANGE, 0 },
		{ "9999999h", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1M", -EINVAL, 0 },
		{ "1,5s", -EINVAL, 0 },
		{ "1m30s", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		check_u64_case(&cases[i], zm_units_parse_duration);
}

static void double_forms(void **state)
{
	static const struct {
		const char *text;
		int error;
		double value;
	} cases[] = {
		{ "0", 0, 0 },
		{ "2", 0, 2 },
		{ "0.5", 0, 0.5 },
		{ ".5", 0, 0.5 },
		{ "-0.5", 0, -0.5 },
		{ "+3", 0, 3 },
		{ "1e3", 0, 1000 },
		{ "1E-3", 0, 0.001 },
		{ "1.7976931348623157e308", 0, DBL_MAX },
		{ "5e-324", 0, 0x1p-1074 },
		{ "1e-400", 0, 0 },
		{ "1e309", -ERANGE, 0 },
		{ "-1e999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ "e3", -EINVAL, 0 },
		{ "1e", -EINVAL, 0 },
		{ "1e+", -EINVAL, 0 },
		{ "--1", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
		{ "infinity", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1f", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		double value = -77;
		int error = zm_units_parse_double(cases[i].text, &value);

		if (error != cases[i].error || value != (error ? -77 : cases[i].value))
			fail_msg("\"%s\": error %d, value %g", cases[i].text, error, value);
	}
}

static void amount_forms(void **state)
{
	static const struct {
		const char *text;
		int error;
		double value;
		bool is_percent;
	} cases[] = {
		{ "16", 0, 16, false },
		{ "0", 0, 0, false },
		{ "50%", 0, 50, true },
		{ "12.5%", 0, 12.5, true },
		{ "200%", 0, 200, true },
		{ "0%", 0, 0, true },
		{ "1e2%", 0, 100, true },
		{ "9007199254740992", 0, 0x1p53, false },
		{ "9007199254740993", -ERANGE, 0, false },
		{ "1e999%", -ERANGE, 0, false },
		{ "12.5", -EINVAL, 0, false },
		{ "1e2", -EINVAL, 0, false },
		{ "-1", -EINVAL, 0, false },
		{ "-1%", -EINVAL, 0, false },
		{ "50%%", -EINVAL, 0, false },
		{ "50 %", -EINVAL, 0, false },
		{ "%", -EINVAL, 0, false },
		{ "", -EINVAL, 0, false },
		{ "0x10", -EINVAL, 0, false },
		{ "12,5%", -EINVAL, 0, false },
		{ "nan%", -EINVAL, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_amount amount = { -77, false };
		int error = zm_units_parse_amount(cases[i].text, &amount);

		if (error != cases[i].error || amount.value != (error ? -77 : cases[i].value) ||
		    amount.is_percent != (!error && cases[i].is_percent))
			fail_msg("\"%s\": error %d, value %g", cases[i].text, error, amount.value);
	}
}

static void amounts_of_a_total(void **state)
{
	static const struct {
		const char *text;
		uint64_t total, count;
	} cases[] = {
		{ "16", 2, 16 },        { "0", 2, 0 },          { "0%", 2, 0 },
		{ "100%", 2, 2 },       { "50%", 224, 112 },    { "200%", 224, 448 },
		{ "12.5%", 2, 1 },      { "12.5%", 224, 28 },   { "1%", 2, 1 },
		{ "99%", 2, 1 },        { "0.001%", 1, 1 },     { "50%", 0, 0 },
		{ "33.3%", 1000, 333 }, { "66.7%", 1000, 667 }, { "0.7%", 1000, 7 },
		{ "29%", 100, 29 },     { "33%", 10, 3 },       { "1e300%", 10, UINT64_MAX },
	};
	const struct zm_amount odd[] = { { NAN, false }, { -5, false }, { NAN, true } };

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_amount amount;

		assert_int_equal(zm_units_parse_amount(cases[i].text, &amount), 0);
		assert_int_equal(zm_amount_of(&amount, cases[i].total), cases[i].count);
	}
	for (size_t i = 0; i < nr_of(odd); i++)
		assert_int_equal(zm_amount_of(&odd[i], 100), 0);
}

/* Every whole percentage, and every tenth of one, of totals for which the share is whole. */
static void whole_shares_are_exact(void **state)
{
	(void)state;
	for (unsigned int tenths = 1; tenths <= 3000; tenths++) {
		struct zm_amount amount;
		char text[32];

		(void)snprintf(text, sizeof(text), "%u.%u%%", tenths / 10, tenths % 10);
		assert_int_equal(zm_units_parse_amount(text, &amount), 0);
		for (uint64_t thousands = 1; thousands <= 1000000; thousands *= 10)
			assert_int_equal(zm_amount_of(&amount, thousands * 1000),
					 thousands * tenths);
	}
}

static void exact_prints(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(zm_units_print_size(buf, sizeof(buf), 128 * KI * KI), "128M");
	assert_string_equal(zm_units_print_size(buf, sizeof(buf), 4097), "4097");
	assert_string_equal(zm_units_print_size(buf, sizeof(buf), 0), "0");
	assert_string_equal(zm_units_print_size(buf, sizeof(buf), UINT64_MAX),
			    "18446744073709551615");
	assert_string_equal(zm_units_print_duration(buf, sizeof(buf), 5 * S), "5s");
	assert_string_equal(zm_units_print_duration(buf, sizeof(buf), 300 * S), "300s");
	assert_string_equal(zm_units_print_duration(buf, sizeof(buf), S / 4), "250ms");
	assert_string_equal(zm_units_print_duration(buf, sizeof(buf), 1001), "1001ns");
	assert_string_equal(zm_units_print_duration(buf, sizeof(buf), 0), "0s");
	assert_string_equal(
		zm_units_print_amount(buf, sizeof(buf), &(struct zm_amount){ 12.5, true }),
		"12.5%");
	assert_string_equal(
		zm_units_print_amount(buf, sizeof(buf), &(struct zm_amount){ 0x1p53, false }),
		"9007199254740992");
}

static void human_prints(void **state)
{
	static const struct {
		char *(*print)(char *, size_t, double);
		double value;
		const char *text;
	} cases[] = {
		{ zm_units_human_bytes, 0, "0 B" },
		{ zm_units_human_bytes, 64, "64 B" },
		{ zm_units_human_bytes, 999, "999 B" },
		{ zm_units_human_bytes, 1000, "0.977 KiB" },
		{ zm_units_human_bytes, 1024, "1.00 KiB" },
		{ zm_units_human_bytes, 1.46 * 1073741824, "1.46 GiB" },
		{ zm_units_human_bytes, 1023.9 * 1024, "1.00 MiB" },
		{ zm_units_human_bytes, 0.5, "0.5 B" },
		{ zm_units_human_bytes, 1e30, "867361737988 EiB" },
		{ zm_units_human_count, 5, "5" },
		{ zm_units_human_count, 301000, "301 k" },
		{ zm_units_human_count, 1910000, "1.91 M" },
		{ zm_units_human_count, 999499, "999 k" },
		{ zm_units_human_count, 999500, "1.00 M" },
		{ zm_units_human_count, 12345, "12.3 k" },
		{ zm_units_human_count, 9.9949, "9.99" },
		{ zm_units_human_count, 9.996, "10.0" },
		{ zm_units_human_count, 99.96, "100" },
		{ zm_units_human_count, -1910000, "-1.91 M" },
		{ zm_units_human_count, 0.0123, "0.0123" },
		{ zm_units_human_ns, 3360, "3.36 us" },
		{ zm_units_human_ns, 12, "12 ns" },
		{ zm_units_human_ns, 2.5e9, "2.50 s" },
		{ zm_units_human_ns, 3.6e12, "3600 s" },
		{ zm_units_human_ns, INFINITY, "inf" },
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		assert_string_equal(cases[i].print(buf, sizeof(buf), cases[i].value),
				    cases[i].text);
}

static void double_prints(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ 1000000, "1000000" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 301234.5, "301234.5" },
		{ 1e-5, "0.00001" },
		{ 1.5e-6, "1.5e-06" },
		{ 1e22, "1e+22" },
		{ 123456789012345680.0, "1.2345678901234568e+17" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ 0x1p-1074, "5e-324" },
		{ 0x1p53, "9007199254740992" },
		{ INFINITY, "inf" },
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		assert_string_equal(zm_units_print_double(buf, sizeof(buf), cases[i].value),
				    cases[i].text);
}

/* Reads back, and no form with fewer digits does. */
static void check_shortest(double value)
{
	char buf[64], shorter[64];
	size_t digits = 0;
	double back = 0;

	zm_units_print_double(buf, sizeof(buf), value);
	assert_int_equal(zm_units_parse_double(buf, &back), 0);
	assert_memory_equal(&back, &value, sizeof(value));
	if (strlen(buf) > 3 && strchr(buf, '.')) {
		for (const char *at = buf; *at && *at != 'e'; at++)
			digits += *at >= '0' && *at <= '9' && (digits > 0 || *at != '0');
		if (digits < 2)
			return;
		(void)snprintf(shorter, sizeof(shorter), "%.*e", (int)digits - 2, value);
		assert_true(strtod(shorter, NULL) != value);
	}
}

static void doubles_read_back_and_are_shortest(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 11, 0);
	for (int i = 0; i < 30000; i++) {
		uint64_t bits = zm_random_next(&random);
		double value;

		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			check_shortest(value);
		check_shortest((double)zm_random_below(&random, 1000000) / 1000);
		check_shortest(zm_random_unit(&random));
	}
}

static void sizes_and_durations_read_back(void **state)
{
	struct zm_random random;
	char buf[64];

	(void)state;
	zm_random_init(&random, 12, 0);
	for (int i = 0; i < 100000; i++) {
		unsigned int shift = (unsigned int)zm_random_below(&random, 64);
		uint64_t value = zm_random_next(&random) >> shift << zm_random_below(&random, 32);
		uint64_t back = UNTOUCHED;

		zm_units_print_size(buf, sizeof(buf), value);
		assert_int_equal(zm_units_parse_size(buf, &back), 0);
		assert_int_equal(back, value);
		zm_units_print_duration(buf, sizeof(buf), value);
		assert_int_equal(zm_units_parse_duration(buf, &back), 0);
		assert_int_equal(back, value);
	}
}

static void amounts_read_back(void **state)
{
	struct zm_random random;
	char buf[64];

	(void)state;
	zm_random_init(&random, 13, 0);
	for (int i = 0; i < 20000; i++) {
		struct zm_amount amount = { .is_percent = i % 2 }, back;

		amount.value = amount.is_percent
				       ? zm_random_unit(&random) * 1000
				       : (double)zm_random_below(&random, UINT64_C(1) << 53);
		zm_units_print_amount(buf, sizeof(buf), &amount);
		assert_int_equal(zm_units_parse_amount(buf, &back), 0);
		assert_true(back.value == amount.value && back.is_percent == amount.is_percent);
	}
}

/* No byte behind the given size is written, at any size; size 0 writes nothing. */
static void printers_keep_to_the_size(void **state)
{
	char buf[40];

	(void)state;
	for (size_t size = 0; size < 30; size++) {
		memset(buf, '#', sizeof(buf));
		zm_units_print_double(buf, size, 0.30000000000000004);
		zm_units_print_size(buf, size, UINT64_MAX);
		zm_units_print_duration(buf, size, UINT64_MAX);
		zm_units_print_amount(buf, size, &(struct zm_amount){ 1.0 / 3, true });
		zm_units_human_bytes(buf, size, 1e30);
		zm_units_human_ns(buf, size, -1e30);
		assert_true(size == 0 || memchr(buf, '\0', size));
		for (size_t i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '#');
	}
}

/* All of the above once more, where the user's decimal point is a comma. */
static void in_a_comma_locale(void **state)
{
	char buf[64];

	if (!comma_locale_use())
		skip();
	(void)snprintf(buf, sizeof(buf), "%.1f", 1.5);
	assert_string_equal(buf, "1,5");
	size_forms(state);
	duration_forms(state);
	double_forms(state);
	amount_forms(state);
	exact_prints(state);
	human_prints(state);
	double_prints(state);
	amounts_read_back(state);
	(void)snprintf(buf, sizeof(buf), "%.1f", 1.5);
	assert_string_equal(buf, "1,5");
	(void)setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64_forms),
		cmocka_unit_test(size_forms),
		cmocka_unit_test(duration_forms),
		cmocka_unit_test(double_forms),
		cmocka_unit_test(amount_forms),
		cmocka_unit_test(amounts_of_a_total),
		cmocka_unit_test(whole_shares_are_exact),
		cmocka_unit_test(exact_prints),
		cmocka_unit_test(human_prints),
		cmocka_unit_test(double_prints),
		cmocka_unit_test(doubles_read_back_and_are_shortest),
		cmocka_unit_test(sizes_and_durations_read_back),
		cmocka_unit_test(amounts_read_back),
		cmocka_unit_test(printers_keep_to_the_size),
		cmocka_unit_test(in_a_comma_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
