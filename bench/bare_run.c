/*
 * bare_run: a workload without any harness: its loop, in one process; prints what it comes to.
 *
 *     bare_run --list                                  name, metric and options of each, by tabs
 *     bare_run NAME [WARM [WINDOW [DIRECTORY]]]        operations per second (or the metric's own figure)
 *     bare_run NAME --rounds N [DIRECTORY]             N rounds, for a profiler; prints their operations
 *
 * The clock is looked at between rounds only, so interval and count belong to each other exactly.
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench/bare_load.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

static int fail(const char *name, int error)
{
	(void)fprintf(stderr, "bare_run: %s: %s\n", name, strerror(-error));
	return 2;
}

static int list_all(void)
{
	for (const struct zm_bare_load *load = zm_bare_loads; load->name; load++)
		(void)printf("%s\t%s\t%s\t%s\n", load->name, load->metric,
			     load->needs_root ? "root" : "any", load->options);
	return 0;
}

/* Never inlined, so that a profiler can tell it. */
__attribute__((noinline)) static int run_rounds(const struct zm_bare_load *load, uint64_t nr)
{
	int r = 0;

	for (uint64_t i = 0; r == 0 && i < nr; i++)
		r = load->round();
	return r;
}

/* Rounds until `length_ns` have passed; their operations per second, or -errno. */
static double measure(const struct zm_bare_load *load, uint64_t length_ns)
{
	uint64_t start_ns = zm_clock_now_ns();
	uint64_t nr_rounds = 0;
	uint64_t now_ns;

	do {
		int r = run_rounds(load, 1);

		if (r < 0)
			return r;
		nr_rounds++;
		now_ns = zm_clock_now_ns();
	} while (now_ns - start_ns < length_ns);
	return (double)nr_rounds * zm_bare_load_ops(load) * 1e9 / (double)(now_ns - start_ns);
}

static int print_figure(const struct zm_bare_load *load, uint64_t warm_ns, uint64_t window_ns)
{
	double rate = measure(load, warm_ns);

	if (rate >= 0)
		rate = measure(load, window_ns);
	if (rate < 0)
		return fail(load->name, (int)rate);
	(void)printf("%.6g\n", load->figure ? load->figure() : rate);
	return 0;
}

static int run_count(const struct zm_bare_load *load, uint64_t nr_rounds)
{
	int r = run_rounds(load, nr_rounds);

	if (r < 0)
		return fail(load->name, r);
	(void)printf("%.0f\n", (double)nr_rounds * zm_bare_load_ops(load));
	return 0;
}

int main(int argc, char **argv)
{
	bool is_list = argc == 2 && strcmp(argv[1], "--list") == 0;
	const struct zm_bare_load *load = argc > 1 ? zm_bare_load_find(argv[1]) : NULL;
	bool is_count = argc > 3 && strcmp(argv[2], "--rounds") == 0;
	uint64_t first = ZM_NS_PER_S, second = 2 * ZM_NS_PER_S;
	int r;

	if (is_list)
		return list_all();
	if (!load || argc > 5 ||
	    (!is_count && argc > 2 && zm_units_parse_duration(argv[2], &first) < 0) ||
	    (argc > 3 && (is_count ? zm_units_parse_u64(argv[3], &second)
				   : zm_units_parse_duration(argv[3], &second)) < 0)) {
		(void)fprintf(stderr, "usage: bare_run --list | NAME [WARM [WINDOW [DIRECTORY]]] | "
				      "NAME --rounds N [DIRECTORY]\n");
		return 2;
	}
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* the options say thp=never */
	r = load->open(argc > 4 ? argv[4] : "/tmp");
	if (r < 0)
		return fail(load->name, r);
	return is_count ? run_count(load, second) : print_figure(load, first, second);
}
