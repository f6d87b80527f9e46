/* touch: which bytes it writes, for strides that divide a page and not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "workloads/base/touch.h"

#define AREA 4096

static void test_each_stride_once(void **state)
{
	static const uint64_t strides[] = { 1, 3, 64, 1000, 2048, 4000 };
	char area[AREA];

	(void)state;
	for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++)
		for (uint64_t n = 0; n * strides[i] <= AREA; n++) {
			memset(area, 'x', sizeof(area));
			zm_touch_write(area, area + n * strides[i], strides[i]);
			for (uint64_t at = 0; at < AREA; at++)
				assert_int_equal(area[at],
						 at % strides[i] == 0 && at < n * strides[i] ? 0
											     : 'x');
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_stride_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
