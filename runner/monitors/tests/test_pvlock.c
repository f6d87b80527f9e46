/*
 * pvlock: the decision by its table.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runner/monitors/pvlock.h"

static void test_judge(void **state)
{
	static const struct {
		unsigned int features, hints;
		const char *line;
		unsigned int nr_cpus;
		bool is_on;
	} rows[] = {
		{ 0x80, 0, "quiet", 2, true },
		{ 0xff, 0, "", 224, true },
		{ 0x80, 1, "quiet", 2, false },
		{ 0x7f, 0, "quiet", 2, false },
		{ 0x80, 0, "quiet", 1, false },
		{ 0x80, 0, "nopvspin", 2, false },
		{ 0x80, 0, "a nopvspin\n", 2, false },
		{ 0x80, 0, "nopvspin=1 b", 2, false },
		{ 0x80, 0, "xnopvspin nopvspinx", 2, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(zm_pvlock_judge(rows[i].features, rows[i].hints, rows[i].line,
						 rows[i].nr_cpus),
				 rows[i].is_on);
}

/* Nothing is known of a recorded machine. */
static void test_recorded(void **state)
{
	struct zm_sysroot root;

	(void)state;
	assert_int_equal(zm_sysroot_open(&root, "/tmp"), 0);
	assert_false(zm_pvlock_is_on(&root));
	zm_sysroot_release(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
