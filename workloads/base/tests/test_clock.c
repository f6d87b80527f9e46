/* clock: it goes forward, agrees with the kernel's, and a sleep never ends early. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "workloads/base/clock.h"

static void now_never_goes_back(void **state)
{
	uint64_t last_ns = zm_clock_now_ns();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t now_ns = zm_clock_now_ns();

		assert_true(now_ns >= last_ns);
		last_ns = now_ns;
	}
}

static void the_wall_is_the_epochs(void **state)
{
	time_t before = time(NULL);
	uint64_t wall_ns = zm_clock_wall_ns();
	time_t after = time(NULL);

	/* time() may read a coarser clock, which is late by a tick. */
	(void)state;
	assert_in_range(wall_ns / ZM_NS_PER_S, (uint64_t)before, (uint64_t)after + 1);
}

static void a_sleep_never_ends_early(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		uint64_t when_ns = zm_clock_now_ns() + ZM_NS_PER_MS;

		assert_int_equal(zm_clock_sleep_until(when_ns), 0);
		assert_true(zm_clock_now_ns() >= when_ns);
	}
}

static void a_moment_gone_by_is_no_sleep(void **state)
{
	(void)state;
	assert_int_equal(zm_clock_sleep_until(0), 0);
	assert_int_equal(zm_clock_sleep_until(zm_clock_now_ns()), 0);
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* The timer repeats: one that fires before the sleep has begun is followed by one that doesn't. */
static void a_signal_ends_the_sleep(void **state)
{
	const struct itimerval often = { .it_interval = { .tv_usec = 5000 },
					 .it_value = { .tv_usec = 5000 } };
	const struct itimerval never = { .it_value = { 0, 0 } };
	const struct sigaction action = { .sa_handler = do_nothing };
	uint64_t when_ns = zm_clock_now_ns() + 3600 * ZM_NS_PER_S;

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	assert_int_equal(zm_clock_sleep_until(when_ns), -EINTR);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(now_never_goes_back),
		cmocka_unit_test(the_wall_is_the_epochs),
		cmocka_unit_test(a_sleep_never_ends_early),
		cmocka_unit_test(a_moment_gone_by_is_no_sleep),
		cmocka_unit_test(a_signal_ends_the_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
