/* timed: a program run once, without its output: what it took. */
#include "bench/timed.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/clock.h"

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

int zm_timed_run(char *const *argv, struct zm_timed *ret_timed)
{
	uint64_t from_ns = zm_clock_now_ns();
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	int status, error;
	pid_t pid;

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (error)
		return -error;
	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	*ret_timed = (struct zm_timed){
		.cpu_s = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime),
		.elapsed_s = (double)(zm_clock_now_ns() - from_ns) / 1e9,
		.kib = usage.ru_maxrss,
		.status = status,
	};
	return 0;
}
