/* units: whatever a parser takes, its printer writes so that it reads back as the same. */
#include "workloads/base/units.h"
#include "workloads/fuzz/fuzz.h"

#include <math.h>

static void check_u64(const char *text)
{
	uint64_t value, back;
	char buf[64];

	if (zm_units_parse_u64(text, &value) == 0) {
		(void)snprintf(buf, sizeof(buf), "%llu", (unsigned long long)value);
		fuzz_check(zm_units_parse_u64(buf, &back) == 0 && back == value);
	}
}

static void check_size(const char *text)
{
	uint64_t value, back;
	char buf[64];

	if (zm_units_parse_size(text, &value) == 0) {
		zm_units_print_size(buf, sizeof(buf), value);
		fuzz_check(zm_units_parse_size(buf, &back) == 0 && back == value);
		zm_units_human_bytes(buf, sizeof(buf), (double)value);
		fuzz_check(strlen(buf) < 12);
	}
}

static void check_duration(const char *text)
{
	uint64_t value, back;
	char buf[64];

	if (zm_units_parse_duration(text, &value) == 0) {
		zm_units_print_duration(buf, sizeof(buf), value);
		fuzz_check(zm_units_parse_duration(buf, &back) == 0 && back == value);
		zm_units_human_ns(buf, sizeof(buf), (double)value);
		fuzz_check(strlen(buf) < 16);
	}
}

static void check_double(const char *text)
{
	double value, back;
	char buf[64];

	if (zm_units_parse_double(text, &value) == 0) {
		zm_units_print_double(buf, sizeof(buf), value);
		fuzz_check(isfinite(value) && strlen(buf) <= 25);
		fuzz_check(zm_units_parse_double(buf, &back) == 0);
		fuzz_check(memcmp(&back, &value, sizeof(value)) == 0);
		zm_units_human_count(buf, sizeof(buf), value);
	}
}

static void check_amount(const char *text)
{
	struct zm_amount value, back;
	char buf[64];

	if (zm_units_parse_amount(text, &value) == 0) {
		zm_units_print_amount(buf, sizeof(buf), &value);
		fuzz_check(zm_units_parse_amount(buf, &back) == 0);
		fuzz_check(back.value == value.value && back.is_percent == value.is_percent);
		fuzz_check(value.value >= 0);
		fuzz_check((zm_amount_of(&value, 224) > 0) == (value.value > 0));
		fuzz_check(zm_amount_of(&value, 0) <= zm_amount_of(&value, UINT64_MAX));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	check_u64(text);
	check_size(text);
	check_duration(text);
	check_double(text);
	check_amount(text);
	free(text);
	return 0;
}
