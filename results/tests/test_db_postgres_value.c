/* db_postgres_value: the bytes that a server sends are the number that was meant. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "results/db_postgres_value.h"

#define VALUE(id, bytes)                                                                           \
	{                                                                                          \
		.type = (id), .data = (const unsigned char *)(bytes), .size = sizeof(bytes) - 1,   \
	}

static const struct {
	struct zm_postgres_value value;
	int64_t integer;
	double real;
} cases[] = {
	{ VALUE(ZM_POSTGRES_BOOL, "\1"), 1, 1 },
	{ VALUE(ZM_POSTGRES_BOOL, "\0"), 0, 0 },
	{ VALUE(ZM_POSTGRES_INT2, "\xff\xfe"), -2, -2 },
	{ VALUE(ZM_POSTGRES_INT4, "\x80\0\0\0"), INT32_MIN, INT32_MIN },
	{ VALUE(ZM_POSTGRES_INT8, "\0\0\0\1\0\0\0\0"), INT64_C(1) << 32, 0x1p32 },
	{ VALUE(ZM_POSTGRES_INT8, "\x80\0\0\0\0\0\0\0"), INT64_MIN, -0x1p63 },
	{ VALUE(ZM_POSTGRES_FLOAT8, "\x3f\xf8\0\0\0\0\0\0"), 1, 1.5 },
	{ VALUE(ZM_POSTGRES_FLOAT8, "\xff\xf0\0\0\0\0\0\0"), INT64_MIN, -INFINITY },
	{ VALUE(ZM_POSTGRES_FLOAT8, "\x7e\x37\xe4\x3c\x88\0\x75\x9c"), INT64_MAX, 1e300 },
	{ VALUE(ZM_POSTGRES_FLOAT4, "\xbf\xc0\0\0"), -1, -1.5 },
	{ VALUE(ZM_POSTGRES_NUMERIC, "\0\0\0\0\0\0\0\0"), 0, 0 },
	{ VALUE(ZM_POSTGRES_NUMERIC, "\0\2\0\1\0\0\0\0\0\x0c\x0d\x80"), 123456, 123456 },
	{ VALUE(ZM_POSTGRES_NUMERIC, "\0\2\0\0\x40\0\0\2\0\1\x13\x88"), -1, -1.5 },
	{ VALUE(ZM_POSTGRES_NUMERIC, "\0\1\0\2\0\0\0\0\0\1"), 100000000, 1e8 },
	/* What is cut short, or no number. */
	{ VALUE(ZM_POSTGRES_NUMERIC, "\0\2\0\1\0\0\0\0\0\x0c"), 0, 0 },
	{ VALUE(ZM_POSTGRES_INT4, "\1"), 0, 0 },
	{ VALUE(25, "12"), 0, 0 },
	{ VALUE(ZM_POSTGRES_INT8, ""), 0, 0 },
};

static void bytes_are_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (zm_postgres_int(&cases[i].value) != cases[i].integer)
			fail_msg("case %zu: %lld", i, (long long)zm_postgres_int(&cases[i].value));
		if (zm_postgres_real(&cases[i].value) != cases[i].real)
			fail_msg("case %zu: %g", i, zm_postgres_real(&cases[i].value));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
