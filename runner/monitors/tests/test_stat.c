/* stat: the CPU lines among all the others, of kernels with few and with many columns. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runner/monitors/stat.h"
#include "workloads/base/clock.h"

static void test_lines(void **state)
{
	static const char text[] = "cpu  1 2 3 4 5 6 7 8 9 10 11\n"
				   "cpu0 1 2 3 4\n"
				   "cpu 1 2 3\n"
				   "cpufreq 1 2 3 4\n"
				   "cpu-1 1 2 3 4\n"
				   "cpu99999999999 1 2 3 4\n"
				   "intr 5 1 2 3 4 5\n"
				   "cpu4095 10 20 30 x\n"
				   "cpu7 10 20 30 40 50 x 60";
	static const struct {
		int cpu;
		unsigned int nr_times;
		uint64_t user, idle;
	} expected[] = { { -1, 10, 1, 4 }, { 0, 4, 1, 4 }, { 7, 5, 10, 40 } };
	const char *at = text;
	struct zm_stat_cpu cpu;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(zm_stat_next_cpu(&at, &cpu));
		assert_int_equal(cpu.cpu, expected[i].cpu);
		assert_int_equal(cpu.nr_times, expected[i].nr_times);
		assert_int_equal(cpu.ticks[ZM_STAT_USER], expected[i].user);
		assert_int_equal(cpu.ticks[ZM_STAT_IDLE], expected[i].idle);
	}
	assert_false(zm_stat_next_cpu(&at, &cpu));
}

static void test_ticks(void **state)
{
	uint64_t tick_ns = zm_stat_tick_ns();

	(void)state;
	assert_in_range(tick_ns, 1, ZM_NS_PER_S);
	assert_int_equal(zm_stat_ns(3, 10), 30);
	assert_int_equal(zm_stat_ns(UINT64_MAX, 10), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
