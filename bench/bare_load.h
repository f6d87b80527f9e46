/*
 * bare_load: what the page-fault workloads are without any harness: rounds of system calls and loops, in one
 * process, with nobody looking on.
 */
#ifndef ZM_BENCH_BARE_LOAD_H
#define ZM_BENCH_BARE_LOAD_H

#include <stdint.h>

struct zm_bare_load {
	const char *name; /* the workload's */
	const char *
		options; /* with which the workload does the same; may hold one %s for a directory */
	const char *metric;                 /* that is compared */
	double ops;                         /* of a round, in what the metric counts */
	uint64_t paged_bytes;               /* else: the base pages of so many bytes; 0: ops */
	int (*open)(const char *directory); /* may be NULL; -errno */
	int (*round)(void);                 /* -errno */
	double (*figure)(void);             /* instead of operations per second; may be NULL */
	double harness_ops;                 /* of the workload's in one of the metric's; 0: 1 */
	/* Where not all of a round is what the metric is about: the ns of that in all rounds so far, and
	 * the workload's counters of the same, as bits. Else NULL. */
	double (*spent_ns)(void);
	unsigned int spent_counters;
	int needs_root;
	int has_region; /* goes over a file, which may be another's */
	int is_copier;  /* goes over a copy of an area, which may be another's */
};

/* A NULL name ends them. */
extern const struct zm_bare_load zm_bare_loads[];

double zm_bare_load_ops(const struct zm_bare_load *load);

/* The same in the workload's own operations. */
double zm_bare_load_harness_ops(const struct zm_bare_load *load);

/* A copier's area from now on: the one that it is compared with. Where memory lies is worth percents. Its own is
 * given back. */
void zm_bare_load_lend(void *area);

/* The same of a file: what its cache is made of (large folios or pages) is worth percents too. */
void zm_bare_load_lend_file(int fd);

/* NULL: there is none of that name. */
const struct zm_bare_load *zm_bare_load_find(const char *name);

#endif
