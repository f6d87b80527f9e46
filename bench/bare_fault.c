/*
 * bare_fault: what page_fault1, 2 and 3 are without any harness: the bare loop, in one process, with
 * nobody looking on. Prints its pages per second.
 *
 *     bare_fault 1|2|3 [WARM-SECONDS [WINDOW-SECONDS [DIRECTORY]]]
 *
 * It maps 128 MiB, touches and unmaps, and looks at the clock only between rounds: the window begins
 * with the first round after the warm-up and ends with the first round's end after its length, so its
 * interval and its count of pages belong to each other exactly.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/bare.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define SIZE (UINT64_C(128) << 20)

static int fail(const char *what)
{
	(void)fprintf(stderr, "bare_fault: %s: %s\n", what, strerror(errno));
	return 2;
}

static int open_file(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 && ftruncate(fd, (off_t)SIZE) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Rounds until `length_ns` have passed; their pages per second. */
static double measure(const struct zm_bare *bare, uint64_t length_ns)
{
	uint64_t start_ns = zm_clock_now_ns();
	uint64_t nr_rounds = 0;
	uint64_t now_ns;

	do {
		if (zm_bare_rounds(bare, 1) < 0)
			return -1;
		nr_rounds++;
		now_ns = zm_clock_now_ns();
	} while (now_ns - start_ns < length_ns);
	return (double)(nr_rounds * (bare->size / bare->page_bytes)) * 1e9 /
	       (double)(now_ns - start_ns);
}

int main(int argc, char **argv)
{
	struct zm_bare bare = { .size = SIZE,
				.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
				.flags = MAP_PRIVATE,
				.fd = -1 };
	uint64_t warm_ns = ZM_NS_PER_S, window_ns = 2 * ZM_NS_PER_S;
	char which = argc > 1 ? argv[1][0] : '1';
	double rate;

	if (which < '1' || which > '3' || argc > 5 ||
	    (argc > 2 && zm_units_parse_duration(argv[2], &warm_ns) < 0) ||
	    (argc > 3 && zm_units_parse_duration(argv[3], &window_ns) < 0)) {
		(void)fprintf(stderr, "usage: bare_fault 1|2|3 [WARM [WINDOW [DIRECTORY]]]\n");
		return 2;
	}
	if (which == '1')
		bare.flags |= MAP_ANONYMOUS;
	if (which == '3')
		bare.flags = MAP_SHARED;
	if (which != '1') {
		bare.fd = open_file(argc > 4 ? argv[4] : "/tmp");
		if (bare.fd < 0)
			return fail("a file");
	}
	if (measure(&bare, warm_ns) < 0)
		return fail("the loop");
	rate = measure(&bare, window_ns);
	if (rate < 0)
		return fail("the loop");
	(void)printf("%.1f\n", rate);
	return 0;
}
