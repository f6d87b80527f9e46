/* clock: two clocks, one sleep. */
#include "workloads/base/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * ZM_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t zm_clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t zm_clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

int zm_clock_sleep_until(uint64_t when_ns)
{
	struct timespec when = {
		.tv_sec = (time_t)(when_ns / ZM_NS_PER_S),
		.tv_nsec = (long)(when_ns % ZM_NS_PER_S),
	};

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}
