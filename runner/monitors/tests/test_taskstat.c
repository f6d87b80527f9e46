/* taskstat: fields count from the end of the name, whatever the name is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "runner/monitors/taskstat.h"

#define FIELDS " S 1 42 42 0 -1 4194560 101 102 103 104 105 106 107 108 20 0 1 0 122 5000 6"

static const char *const names[] = { "cat", "a b", ") S 1 2 3", "((", "", "x) (y", "\n" };

static void test_names(void **state)
{
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct zm_taskstat stat;

		(void)snprintf(text, sizeof(text), "42 (%s)" FIELDS "\n", names[i]);
		assert_true(zm_taskstat_parse(text, &stat));
		assert_int_equal(stat.minor_faults, 101);
		assert_int_equal(stat.child_minor_faults, 102);
		assert_int_equal(stat.major_faults, 103);
		assert_int_equal(stat.child_major_faults, 104);
		assert_int_equal(stat.user_ticks, 105);
		assert_int_equal(stat.system_ticks, 106);
		assert_int_equal(stat.child_user_ticks, 107);
		assert_int_equal(stat.child_system_ticks, 108);
		assert_int_equal(stat.start_ticks, 122);
	}
}

static void test_cut(void **state)
{
	static const char text[] = "42 (cat)" FIELDS;
	size_t whole = strlen(text) - strlen(" 5000 6");
	char cut[sizeof(text)];
	struct zm_taskstat stat;

	(void)state;
	for (size_t length = 0; length <= strlen(text); length++) {
		memcpy(cut, text, length);
		cut[length] = '\0';
		if (zm_taskstat_parse(cut, &stat))
			assert_true(length >= whole - 2);
		else
			assert_true(length < whole);
	}
}

static void test_switches(void **state)
{
	struct zm_taskswitches switches = { 7, 7 };

	(void)state;
	assert_true(zm_taskswitches_parse("Name:\tx\nVmRSS:\t 5 kB\nvoluntary_ctxt_switches:\t150\n"
					  "nonvoluntary_ctxt_switches:\t3\n",
					  &switches));
	assert_int_equal(switches.voluntary, 150);
	assert_int_equal(switches.involuntary, 3);
	assert_false(zm_taskswitches_parse("voluntary_ctxt_switches:\t151\n", &switches));
	assert_int_equal(switches.voluntary, 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
