/*
 * noise: how far a kernel was from itself, per machine, cell and metric (an A/A comparison).
 *
 * The floor is the largest of the last ZM_NOISE_KEPT such comparisons: a change that one kernel shows
 * against itself says nothing about another.
 */
#ifndef ZM_RESULTS_NOISE_H
#define ZM_RESULTS_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/store.h"

#define ZM_NOISE_KEPT 10

struct zm_noise {
	const char *machine;         /* its key */
	const char *workload, *cell; /* as the runs have them */
	const char *metric;
	double change; /* without its sign: a share, or points of a percentage */
	bool is_points;
	size_t nr_base, nr_again; /* values a side */
	const char *kernel;
	uint64_t wall_ns;
};

/* All of them or none. -ENOENT: the store has no run of that machine and cell. */
int zm_noise_add(struct zm_store *store, const struct zm_noise *list, size_t nr,
		 struct zm_why *why);

/* A floor. */
struct zm_noise_floor {
	struct zm_noise largest; /* with the newest's kernel and time */
	size_t nr;               /* comparisons that it is the largest of */
};

/* By workload, cell, metric and machine. `each` may end it early by returning other than 0, which is then
 * returned. Texts live until it returns. */
int zm_noise_floors(struct zm_store *store,
		    int (*each)(void *context, const struct zm_noise_floor *floor), void *context,
		    struct zm_why *why);

#endif
