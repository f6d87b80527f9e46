/* tasktime: stat lines, with names that try to be fields. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "runner/tasktime.h"

#define TAIL                                                                                       \
	" S 1 77 77 0 -1 4194560 100 5000 20 900 30 40 7 8 20 0 1 0 1234 4096 1 "                  \
	"18446744073709551615"

static const struct {
	const char *text;
	int result;
} cases[] = {
	{ "77 (zm-task-0)" TAIL, 0 }, { "77 (a) b (c 1 2 3)" TAIL, 0 },
	{ "77 ()" TAIL, 0 },          { "77 (x) S 1 77", -EINVAL },
	{ "77 (x", -EINVAL },         { "", -EINVAL },
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_tasktime time = { 1, 2, 3, 4, 5, 0 };

		assert_int_equal(zm_tasktime_parse(cases[i].text, 10000000, &time),
				 cases[i].result);
		assert_int_equal(time.faults, cases[i].result ? 1 : 120);
		assert_int_equal(time.user_ns, cases[i].result ? 2 : 300000000);
		assert_int_equal(time.system_ns, cases[i].result ? 3 : 400000000);
		assert_int_equal(time.cpu_ns, cases[i].result ? 4 : 700000000);
		assert_int_equal(time.waited_ns, cases[i].result ? 5 : 150000000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_parse) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
