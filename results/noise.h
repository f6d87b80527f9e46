/*
 * noise: how far a kernel was from itself, per machine, cell and metric (an A/A comparison).
 *
 * The floor is the largest of the newest ZM_NOISE_KEPT such comparisons: a change that one kernel shows
 * against itself says nothing about another. What was compared within one boot is kept apart: less differs
 * there than between two boots.
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
	bool is_one_boot; /* both sides are of the same boots: what differs between boots is not in it */
	size_t nr_base, nr_again; /* values a side */
	const char *kernel;
	uint64_t wall_ns;
};

/* All of them or none; what is there already stays once. -ENOENT: the store has no run of that machine and
 * cell. */
int zm_noise_add(struct zm_store *store, const struct zm_noise *list, size_t nr,
		 struct zm_why *why);

/* Takes over what another store knows of machines and cells that have runs here, too. *ret_nr: how many
 * comparisons were not here yet. */
int zm_noise_import(struct zm_store *into, struct zm_store *from, uint64_t *ret_nr,
		    struct zm_why *why);

/* A floor. */
struct zm_noise_floor {
	struct zm_noise largest; /* with the newest's kernel and time */
	size_t nr;               /* comparisons that it is the largest of */
};

/* By workload, cell, metric, machine and whether it is of one boot. `each` may end it early by returning other than 0, which is then
 * returned. Texts live until it returns. */
int zm_noise_floors(struct zm_store *store,
		    int (*each)(void *context, const struct zm_noise_floor *floor), void *context,
		    struct zm_why *why);

#endif
